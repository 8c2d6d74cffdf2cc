// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/plan_view.h"

namespace gdnplan::tool {

struct TensorValues {
  client::RawTensor tensor;
  std::vector<int32_t> values;  // masks widened
};

// From any device. NotFound: the plan does not have the tensor.
absl::StatusOr<TensorValues> ReadValues(const client::PlanView& plan, std::string_view name,
                                        int32_t group);

}  // namespace gdnplan::tool
