// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The configurations that batches are fuzzed against: small, and between them every path of the
// planner.
#pragma once

#include <cstddef>
#include <vector>

#include "gdnplan/plan/config.h"

namespace gdnplan::test {

// Corpora name them by index: new ones go to the end. All are valid.
const std::vector<plan::PlanConfig>& FuzzConfigs();

}  // namespace gdnplan::test
