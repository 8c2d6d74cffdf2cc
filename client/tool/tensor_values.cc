// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/tensor_values.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {

absl::StatusOr<std::vector<int32_t>> ReadValues(const client::RawTensor& tensor) {
  if (tensor.device != client::DeviceKind::kHost) {
    return absl::UnimplementedError(absl::StrCat("tensors on a ",
                                                 plan::ToAbsl(client::Name(tensor.device)),
                                                 " device cannot be read by this tool"));
  }
  if (tensor.dtype == plan::DType::kInt32) {
    const auto span = client::TensorView<const int32_t>(tensor).span();
    return std::vector<int32_t>(span.begin(), span.end());
  }
  const auto span = client::TensorView<const uint8_t>(tensor).span();
  return std::vector<int32_t>(span.begin(), span.end());
}

}  // namespace gdnplan::tool
