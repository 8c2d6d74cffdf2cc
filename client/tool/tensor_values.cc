// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/tensor_values.h"

#include "gdnplan/plan/status.h"

namespace gdnplan::tool {

absl::StatusOr<TensorValues> ReadValues(const client::PlanView& plan, std::string_view name,
                                        int32_t group) {
  TensorValues read;
  GDNPLAN_ASSIGN_OR_RETURN(read.tensor, plan.Raw(name, group));
  if (read.tensor.dtype == plan::DType::kInt32) {
    GDNPLAN_ASSIGN_OR_RETURN(read.values, plan.Copy<int32_t>(name, group));
  } else {
    GDNPLAN_ASSIGN_OR_RETURN(const std::vector<uint8_t> masks, plan.Copy<uint8_t>(name, group));
    read.values.assign(masks.begin(), masks.end());
  }
  return read;
}

}  // namespace gdnplan::tool
