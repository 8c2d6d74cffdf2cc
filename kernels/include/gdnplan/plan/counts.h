// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a step turned out to be: the scalars that travel beside the tensors.
#pragma once

#include <cstdint>

namespace gdnplan::plan {

// Which persistent buffers were refreshed for a full CUDA graph of the batch's row count.
enum class Staging : uint8_t { kNone, kDecode, kSpecDecode };

struct PlanCounts {
  int32_t num_prefills = 0;
  int32_t num_prefill_tokens = 0;
  int32_t num_decodes = 0;
  int32_t num_decode_tokens = 0;
  int32_t num_spec_decodes = 0;
  int32_t num_spec_decode_tokens = 0;
  int32_t num_actual_tokens = 0;
  int32_t uniform_spec_sequence_length = 0;  // 0: absent
  int32_t num_conv_programs = 0;             // nums_dict[8]["tot"]; 0 without prefills
  Staging staging = Staging::kNone;

  friend bool operator==(const PlanCounts&, const PlanCounts&) = default;
};

}  // namespace gdnplan::plan
