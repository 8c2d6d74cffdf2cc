// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "client/stub.h"

namespace gdnplan::client {

// Passes calls on in the process that made it, and refuses them with FailedPrecondition in a forked
// child: a connection has threads that the child lacks, so a call there would hang.
std::shared_ptr<Stub> MakeForkGuardStub(std::shared_ptr<Stub> stub);

}  // namespace gdnplan::client
