// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/golden.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/json/json_reader.h"
#include "client/json/text_file.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::json {
namespace {

using nlohmann::json;
using plan::PlanConfig;
using plan::PlanCounts;
using plan::TensorId;

// Golden names are the tensors' own but for these two.
std::string GoldenName(const plan::TensorSpec& spec) {
  const bool state_indices =
      spec.id == TensorId::kSpecStateIndices || spec.id == TensorId::kNonSpecStateIndices;
  return absl::StrCat(plan::ToAbsl(spec.name), state_indices ? "_tensor" : "");
}

absl::StatusOr<std::vector<int32_t>> ReadMemberList(const json& object, std::string_view name,
                                                    std::string_view path) {
  GDNPLAN_ASSIGN_OR_RETURN(const json* member, GetMember(object, name, path));
  return ReadInt32List(*member, MemberPath(path, name));
}

absl::StatusOr<int32_t> ReadMemberInt32(const json& object, std::string_view name,
                                        std::string_view path) {
  GDNPLAN_ASSIGN_OR_RETURN(const json* member, GetMember(object, name, path));
  return ReadInt32(*member, MemberPath(path, name));
}

absl::StatusOr<ExpectedTensor> ReadTensor(const json& value, std::string_view path) {
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(value, path));
  ExpectedTensor tensor;
  GDNPLAN_ASSIGN_OR_RETURN(tensor.dims, ReadMemberList(value, "shape", path));
  GDNPLAN_ASSIGN_OR_RETURN(tensor.data, ReadMemberList(value, "data", path));
  if (FindMember(value, "fill") != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(tensor.fill, ReadMemberInt32(value, "fill", path));
  }
  const bool shaped = (tensor.dims.size() == 1 || tensor.dims.size() == 2) &&
                      *std::min_element(tensor.dims.begin(), tensor.dims.end()) >= 0;
  if (!shaped) {
    return UnexpectedJson(MemberPath(path, "shape"), "must be one or two sizes", value["shape"]);
  }
  int64_t elements = 1;
  for (int32_t dim : tensor.dims) elements *= dim;
  const auto given = static_cast<int64_t>(tensor.data.size());
  if (tensor.fill.has_value() ? given > elements : given != elements) {
    return UnexpectedJson(MemberPath(path, "data"),
                          absl::StrCat("must fit the shape's ", elements, " elements"),
                          value["data"]);
  }
  return tensor;
}

absl::StatusOr<ExpectedConv> ReadConv(const json& nums_dict, std::string_view path) {
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(nums_dict, path));
  // One entry, for the number of rows a program handles.
  GDNPLAN_ASSIGN_OR_RETURN(const json* entry, GetMember(nums_dict, "8", path));
  const std::string entry_path = MemberPath(path, "8");
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(*entry, entry_path));
  ExpectedConv conv;
  GDNPLAN_ASSIGN_OR_RETURN(conv.nums, ReadMemberList(*entry, "nums", entry_path));
  GDNPLAN_ASSIGN_OR_RETURN(conv.mlist, ReadMemberList(*entry, "mlist", entry_path));
  GDNPLAN_ASSIGN_OR_RETURN(conv.offsetlist, ReadMemberList(*entry, "offsetlist", entry_path));
  GDNPLAN_ASSIGN_OR_RETURN(conv.tot, ReadMemberInt32(*entry, "tot", entry_path));
  GDNPLAN_ASSIGN_OR_RETURN(conv.mlist_len, ReadMemberInt32(*entry, "mlist_len", entry_path));
  return conv;
}

absl::StatusOr<PlanCounts> ReadCounts(const json& value, std::string_view path) {
  PlanCounts counts;
  const std::pair<std::string_view, int32_t*> members[] = {
      {"num_prefills", &counts.num_prefills},
      {"num_prefill_tokens", &counts.num_prefill_tokens},
      {"num_decodes", &counts.num_decodes},
      {"num_decode_tokens", &counts.num_decode_tokens},
      {"num_spec_decodes", &counts.num_spec_decodes},
      {"num_spec_decode_tokens", &counts.num_spec_decode_tokens},
      {"num_actual_tokens", &counts.num_actual_tokens},
  };
  for (const auto& [name, target] : members) {
    GDNPLAN_ASSIGN_OR_RETURN(*target, ReadMemberInt32(value, name, path));
  }
  if (FindMember(value, "uniform_spec_sequence_length") != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(counts.uniform_spec_sequence_length,
                             ReadMemberInt32(value, "uniform_spec_sequence_length", path));
  }
  return counts;
}

absl::StatusOr<ExpectedGroup> ReadExpectedGroup(const json& value, std::string_view path) {
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(value, path));
  ExpectedGroup group;
  GDNPLAN_ASSIGN_OR_RETURN(group.counts, ReadCounts(value, path));
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    if (spec.id == TensorId::kNums) continue;
    const std::string name = GoldenName(spec);
    const json* member = FindMember(value, name);
    if (member == nullptr) {
      // Absent in the plan is null here; a case that leaves the name out was written wrongly.
      if (!value.contains(name)) return plan::InvalidField(MemberPath(path, name), "is missing");
      continue;
    }
    GDNPLAN_ASSIGN_OR_RETURN(group.tensors[static_cast<size_t>(spec.id)],
                             ReadTensor(*member, MemberPath(path, name)));
  }
  if (const json* nums_dict = FindMember(value, "nums_dict"); nums_dict != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(group.conv, ReadConv(*nums_dict, MemberPath(path, "nums_dict")));
  }
  return group;
}

// Three cases have a padded row more than max_num_seqs: the engine they come from takes the limit
// for its buffers' size only. A batch over its limits is refused here, so the limit is raised to
// the rows, and the capture size pinned, because the capture limit is derived from max_num_seqs.
void RaiseMaxNumSeqs(const OwnedBatch& batch, PlanConfig& config) {
  const auto rows = static_cast<int32_t>(batch.seq_lens.size());
  if (rows <= config.max_num_seqs) return;
  config.max_cudagraph_capture_size = config.capture_limit();
  config.max_num_seqs = rows;
}

absl::StatusOr<ExpectedUpdate> ReadUpdate(const json& value) {
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(value, "update_block_table"));
  ExpectedUpdate update;
  GDNPLAN_ASSIGN_OR_RETURN(const json* table,
                           GetMember(value, "block_table", "update_block_table"));
  GDNPLAN_ASSIGN_OR_RETURN(update.table, ReadBlockTable(*table, "update_block_table.block_table"));
  GDNPLAN_ASSIGN_OR_RETURN(const json* expected,
                           GetMember(value, "expected", "update_block_table"));
  GDNPLAN_ASSIGN_OR_RETURN(update.expected,
                           ReadExpectedGroup(*expected, "update_block_table.expected"));
  return update;
}

absl::StatusOr<GoldenCase> ParseGoldenLine(std::string_view line) {
  GDNPLAN_ASSIGN_OR_RETURN(const json document, ParseJson(line));
  return ReadGoldenCase(document);
}

}  // namespace

absl::StatusOr<GoldenCase> ReadGoldenCase(const json& document) {
  GDNPLAN_ASSIGN_OR_RETURN(BatchDocument input, ReadBatch(document));
  GDNPLAN_RETURN_IF_ERROR(plan::ValidateConfig(input.config));
  GoldenCase golden;
  GDNPLAN_ASSIGN_OR_RETURN(const json* name, GetMember(document, "name", ""));
  GDNPLAN_ASSIGN_OR_RETURN(golden.name, ReadString(*name, "name"));
  golden.config = std::move(input.config);
  golden.batch = std::move(input.batch);
  RaiseMaxNumSeqs(golden.batch, golden.config);
  GDNPLAN_ASSIGN_OR_RETURN(const json* expected, GetMember(document, "expected", ""));
  if (!expected->is_array() || expected->size() != golden.batch.block_tables.size()) {
    return UnexpectedJson("expected", "must be a list with an entry per group", *expected);
  }
  for (size_t g = 0; g < expected->size(); ++g) {
    GDNPLAN_ASSIGN_OR_RETURN(ExpectedGroup group,
                             ReadExpectedGroup((*expected)[g], ElementPath("expected", g)));
    golden.expected.push_back(std::move(group));
  }
  if (const json* update = FindMember(document, "update_block_table"); update != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(golden.update_block_table, ReadUpdate(*update));
  }
  return golden;
}

absl::StatusOr<std::vector<GoldenCase>> ReadGoldenFile(const std::string& path) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<GoldenCase> cases;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    absl::StatusOr<GoldenCase> golden = ParseGoldenLine({line.data(), line.size()});
    if (!golden.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": ", golden.status().message()));
    }
    cases.push_back(*std::move(golden));
  }
  if (cases.empty()) return absl::InvalidArgumentError(absl::StrCat(path, " has no cases"));
  return cases;
}

}  // namespace gdnplan::json
