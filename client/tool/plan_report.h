// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A plan read back, for people or as JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"

namespace gdnplan::tool {

struct ReportedTensor {
  std::string name;
  plan::DType dtype = plan::DType::kInt32;
  bool per_group = false;
  uint64_t offset = 0;
  uint64_t group_stride = 0;
  std::vector<int64_t> shape;
  std::vector<std::vector<int32_t>> groups;  // one where all groups share the tensor
};

struct PlanReport {
  client::PlanRecord plan;
  std::vector<std::string> devices;
  std::chrono::nanoseconds client_time{0};
  std::vector<ReportedTensor> tensors;
  std::vector<std::string> absent;
};

struct ReportOptions {
  int group_limit = 4;
  bool all_values = false;
};

// Reads every tensor of a plan that is ready, on its device.
absl::StatusOr<PlanReport> MakeReport(const client::Session& session, const client::PlanView& plan,
                                      std::chrono::nanoseconds client_time);

void PrintReport(const PlanReport& report, const ReportOptions& options);
void PrintReportJson(const PlanReport& report);

}  // namespace gdnplan::tool
