// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/tensor_view.h"

namespace gdnplan::tool {

// The elements, masks widened. Unimplemented: they are not in host memory.
absl::StatusOr<std::vector<int32_t>> ReadValues(const client::RawTensor& tensor);

}  // namespace gdnplan::tool
