// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The options of `gdnplan load` that say what is planned.
#pragma once

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "client/load/workload.h"

namespace gdnplan::tool {

void AddWorkloadFlags(CLI::App& command, load::WorkloadOptions& options);
// After parsing: flags that nothing would read. WrongUsage.
absl::Status CheckTogether(const CLI::App& command, const load::WorkloadOptions& options);
// Every one that plays a part, with its value.
nlohmann::ordered_json ParametersOf(const load::WorkloadOptions& options);

}  // namespace gdnplan::tool
