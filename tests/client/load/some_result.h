// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/load/result.h"

namespace gdnplan::load {

// An open loop of a minute: latencies about 60 us, some slow ones, and a stall of two seconds.
Result SomeResult();

}  // namespace gdnplan::load
