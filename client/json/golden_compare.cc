// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/json/golden.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::json {
namespace {

using plan::PlanCounts;
using plan::TensorId;
using plan::TensorSpec;
using plan::ToAbsl;

// In chunk_indices: a row whose value the backend does not read.
constexpr int32_t kUnspecified = -9;

class Comparison {
 public:
  Comparison(const TensorReader& reader, size_t max_mismatches)
      : reader_(reader), max_mismatches_(max_mismatches) {}

  void CompareCounts(const PlanCounts& got, const PlanCounts& want) {
    const std::pair<std::string_view, int32_t PlanCounts::*> members[] = {
        {"num_prefills", &PlanCounts::num_prefills},
        {"num_prefill_tokens", &PlanCounts::num_prefill_tokens},
        {"num_decodes", &PlanCounts::num_decodes},
        {"num_decode_tokens", &PlanCounts::num_decode_tokens},
        {"num_spec_decodes", &PlanCounts::num_spec_decodes},
        {"num_spec_decode_tokens", &PlanCounts::num_spec_decode_tokens},
        {"num_actual_tokens", &PlanCounts::num_actual_tokens},
        {"uniform_spec_sequence_length", &PlanCounts::uniform_spec_sequence_length},
    };
    for (const auto& [name, member] : members) CompareScalar(name, got.*member, want.*member);
  }

  void CompareTensor(const TensorSpec& spec, int32_t group,
                     const std::optional<ExpectedTensor>& want) {
    const std::optional<TensorData> got = reader_(spec.id, group);
    if (got.has_value() != want.has_value()) {
      Add(spec.name, group,
          got.has_value() ? "got a tensor, want none" : "got none, want a tensor");
    }
    if (!got.has_value() || !want.has_value()) return;
    if (got->dims != want->dims) {
      Add(spec.name, group,
          absl::StrCat("got shape [", absl::StrJoin(got->dims, ", "), "], want [",
                       absl::StrJoin(want->dims, ", "), "]"));
      return;
    }
    for (size_t i = 0; i < got->data.size(); ++i) {
      const int32_t value = i < want->data.size() ? want->data[i] : want->fill.value_or(0);
      if (spec.id == TensorId::kChunkIndices && value == kUnspecified) continue;
      CompareElement(spec.name, group, i, got->data[i], value);
    }
  }

  // nums_dict repeats batch_ptr and token_chunk_offset_ptr as lists.
  void CompareConv(int32_t group, int32_t num_conv_programs, const ExpectedGroup& want) {
    const std::optional<TensorData> nums = reader_(TensorId::kNums, group);
    if (!want[TensorId::kBatchPtr].has_value()) {
      CompareScalar("num_conv_programs", num_conv_programs, 0);
      if (nums.has_value()) Add("nums", group, "got a tensor, want none");
      return;
    }
    if (!want.conv.has_value()) return;  // cutedsl: the engine keeps no nums_dict
    CompareScalar("num_conv_programs", num_conv_programs, want.conv->tot);
    CompareScalar("num_conv_programs", num_conv_programs, want.conv->mlist_len);
    CompareHead("nums", group, nums, want.conv->nums);
    if (nums.has_value() && nums->data.size() != want.conv->nums.size()) {
      Add("nums", group,
          absl::StrCat("got ", nums->data.size(), " rows, want ", want.conv->nums.size()));
    }
    CompareHead("batch_ptr", group, reader_(TensorId::kBatchPtr, group), want.conv->mlist);
    CompareHead("token_chunk_offset_ptr", group, reader_(TensorId::kTokenChunkOffsetPtr, group),
                want.conv->offsetlist);
  }

  std::vector<std::string> Take() { return std::move(mismatches_); }

 private:
  void CompareHead(std::string_view name, int32_t group, const std::optional<TensorData>& got,
                   const std::vector<int32_t>& want) {
    if (!got.has_value() || got->data.size() < want.size()) {
      Add(name, group, absl::StrCat("has fewer than ", want.size(), " elements"));
      return;
    }
    for (size_t i = 0; i < want.size(); ++i) CompareElement(name, group, i, got->data[i], want[i]);
  }

  void CompareScalar(std::string_view name, int32_t got, int32_t want) {
    if (got == want || full()) return;
    mismatches_.push_back(absl::StrCat(ToAbsl(name), ": got ", got, ", want ", want));
  }

  void CompareElement(std::string_view name, int32_t group, size_t index, int32_t got,
                      int32_t want) {
    if (got == want || full()) return;
    mismatches_.push_back(absl::StrCat(ToAbsl(name), "[", index, "] of group ", group, ": got ",
                                       got, ", want ", want));
  }

  void Add(std::string_view name, int32_t group, std::string_view what) {
    if (full()) return;
    mismatches_.push_back(absl::StrCat(ToAbsl(name), " of group ", group, ": ", ToAbsl(what)));
  }

  bool full() const { return mismatches_.size() >= max_mismatches_; }

  const TensorReader& reader_;
  size_t max_mismatches_;
  std::vector<std::string> mismatches_;
};

}  // namespace

std::vector<std::string> CompareWithGolden(std::span<const ExpectedGroup> expected,
                                           const PlanCounts& counts, const TensorReader& reader,
                                           size_t max_mismatches) {
  Comparison comparison(reader, max_mismatches);
  for (size_t g = 0; g < expected.size(); ++g) {
    const ExpectedGroup& want = expected[g];
    const auto group = static_cast<int32_t>(g);
    comparison.CompareCounts(counts, want.counts);
    for (const TensorSpec& spec : plan::TensorTable()) {
      if (spec.id == TensorId::kNums) continue;
      comparison.CompareTensor(spec, group, want[spec.id]);
    }
    comparison.CompareConv(group, counts.num_conv_programs, want);
  }
  return comparison.Take();
}

}  // namespace gdnplan::json
