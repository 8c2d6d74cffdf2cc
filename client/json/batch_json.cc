// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/batch_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/json/json_reader.h"
#include "gdnplan/plan/names.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::json {
namespace {

using nlohmann::json;
using plan::GroupConfig;
using plan::MambaCacheMode;
using plan::PlanConfig;
using plan::PrefillBackend;

// Sets `target` where the member is given.
absl::Status ReadOptionalInt32(const json& object, std::string_view name, std::string_view path,
                               int32_t& target) {
  const json* member = FindMember(object, name);
  if (member == nullptr) return absl::OkStatus();
  GDNPLAN_ASSIGN_OR_RETURN(target, ReadInt32(*member, MemberPath(path, name)));
  return absl::OkStatus();
}

absl::Status ReadOptionalInt32List(const json& object, std::string_view name,
                                   std::vector<int32_t>& target) {
  const json* member = FindMember(object, name);
  if (member == nullptr) return absl::OkStatus();
  GDNPLAN_ASSIGN_OR_RETURN(target, ReadInt32List(*member, MemberPath("batch", name)));
  return absl::OkStatus();
}

absl::Status ReadPrefillBackend(const json& config, PrefillBackend& target) {
  const json* member = FindMember(config, "prefill_backend");
  if (member == nullptr) return absl::OkStatus();
  const auto backend = member->is_string()
                           ? plan::PrefillBackendOf(member->get_ref<const std::string&>())
                           : std::nullopt;
  if (!backend.has_value()) {
    return UnexpectedJson("config.prefill_backend", "must be triton, flashinfer or cutedsl",
                          *member);
  }
  target = *backend;
  return absl::OkStatus();
}

absl::Status ReadCacheMode(const json& object, std::string_view path, MambaCacheMode& target) {
  const json* member = FindMember(object, "mamba_cache_mode");
  if (member == nullptr) return absl::OkStatus();
  const auto mode = member->is_string()
                        ? plan::MambaCacheModeOf(member->get_ref<const std::string&>())
                        : std::nullopt;
  if (!mode.has_value()) {
    return UnexpectedJson(MemberPath(path, "mamba_cache_mode"), "must be none, all or align",
                          *member);
  }
  target = *mode;
  return absl::OkStatus();
}

// `object` is the configuration itself where one entry serves all groups.
absl::StatusOr<GroupConfig> ReadGroup(const json& object, std::string_view path) {
  GroupConfig group;
  GDNPLAN_RETURN_IF_ERROR(ReadCacheMode(object, path, group.mamba_cache_mode));
  GDNPLAN_RETURN_IF_ERROR(ReadOptionalInt32(object, "block_size", path, group.block_size));
  return group;
}

absl::StatusOr<std::vector<GroupConfig>> ReadGroups(const json& config, size_t num_tables) {
  const json* list = FindMember(config, "groups");
  if (list == nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(GroupConfig group, ReadGroup(config, "config"));
    return std::vector<GroupConfig>(num_tables, group);
  }
  if (!list->is_array()) return UnexpectedJson("config.groups", "must be a list", *list);
  if (list->size() != num_tables) {
    return UnexpectedJson("config.groups",
                          absl::StrCat("must have an entry for each of the ", num_tables,
                                       " tables of batch.block_tables"),
                          *list);
  }
  std::vector<GroupConfig> groups;
  for (size_t g = 0; g < num_tables; ++g) {
    const std::string path = ElementPath("config.groups", g);
    const json& entry = (*list)[g];
    GDNPLAN_RETURN_IF_ERROR(ExpectObject(entry, path));
    GDNPLAN_RETURN_IF_ERROR(ExpectKeys(entry, path, {"name", "mamba_cache_mode", "block_size"}));
    GDNPLAN_ASSIGN_OR_RETURN(GroupConfig group, ReadGroup(entry, path));
    if (const json* name = FindMember(entry, "name"); name != nullptr) {
      GDNPLAN_ASSIGN_OR_RETURN(group.name, ReadString(*name, MemberPath(path, "name")));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

int32_t TokenCount(const OwnedBatch& batch) {
  int32_t tokens = batch.num_actual_tokens.value_or(0);
  if (!batch.query_start_loc.empty()) tokens = std::max(tokens, batch.query_start_loc.back());
  return std::max(tokens, 1);
}

absl::StatusOr<PlanConfig> ReadConfig(const json& object, const OwnedBatch& batch) {
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(object, "config"));
  GDNPLAN_RETURN_IF_ERROR(
      ExpectKeys(object, "config",
                 {"max_num_seqs", "max_num_batched_tokens", "num_speculative_tokens",
                  "use_full_cuda_graph", "max_cudagraph_capture_size", "prefill_backend",
                  "chunk_size", "mamba_cache_mode", "block_size", "groups"}));
  PlanConfig config;
  GDNPLAN_ASSIGN_OR_RETURN(const json* max_num_seqs, GetMember(object, "max_num_seqs", "config"));
  GDNPLAN_ASSIGN_OR_RETURN(config.max_num_seqs, ReadInt32(*max_num_seqs, "config.max_num_seqs"));
  config.max_num_batched_tokens = TokenCount(batch);
  GDNPLAN_RETURN_IF_ERROR(
      ReadOptionalInt32(object, "max_num_batched_tokens", "config", config.max_num_batched_tokens));
  GDNPLAN_RETURN_IF_ERROR(
      ReadOptionalInt32(object, "num_speculative_tokens", "config", config.num_speculative_tokens));
  GDNPLAN_RETURN_IF_ERROR(ReadOptionalInt32(object, "chunk_size", "config", config.chunk_size));
  if (const json* full = FindMember(object, "use_full_cuda_graph"); full != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(config.use_full_cuda_graph,
                             ReadBool(*full, "config.use_full_cuda_graph"));
  }
  if (const json* size = FindMember(object, "max_cudagraph_capture_size"); size != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(config.max_cudagraph_capture_size,
                             ReadInt32(*size, "config.max_cudagraph_capture_size"));
  }
  GDNPLAN_RETURN_IF_ERROR(ReadPrefillBackend(object, config.prefill_backend));
  GDNPLAN_ASSIGN_OR_RETURN(config.groups, ReadGroups(object, batch.block_tables.size()));
  return config;
}

absl::StatusOr<std::vector<uint8_t>> ReadFlags(const json& value, std::string_view path) {
  if (!value.is_array()) return UnexpectedJson(path, "must be a list of true and false", value);
  std::vector<uint8_t> flags;
  flags.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    const json& flag = value[i];
    if (!flag.is_boolean() && flag != 0 && flag != 1) {
      return UnexpectedJson(ElementPath(path, i), "must be true or false", flag);
    }
    flags.push_back(flag == true || flag == 1 ? 1 : 0);
  }
  return flags;
}

absl::StatusOr<OwnedBatch> ReadBatchObject(const json& object) {
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(object, "batch"));
  GDNPLAN_RETURN_IF_ERROR(
      ExpectKeys(object, "batch",
                 {"query_start_loc", "seq_lens", "num_actual_tokens", "is_prefilling",
                  "block_tables", "num_decode_draft_tokens", "num_accepted_tokens"}));
  OwnedBatch batch;
  GDNPLAN_ASSIGN_OR_RETURN(const json* starts, GetMember(object, "query_start_loc", "batch"));
  GDNPLAN_ASSIGN_OR_RETURN(batch.query_start_loc, ReadInt32List(*starts, "batch.query_start_loc"));
  GDNPLAN_ASSIGN_OR_RETURN(const json* seq_lens, GetMember(object, "seq_lens", "batch"));
  GDNPLAN_ASSIGN_OR_RETURN(batch.seq_lens, ReadInt32List(*seq_lens, "batch.seq_lens"));
  if (const json* flags = FindMember(object, "is_prefilling"); flags != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(batch.is_prefilling, ReadFlags(*flags, "batch.is_prefilling"));
  }
  GDNPLAN_RETURN_IF_ERROR(
      ReadOptionalInt32List(object, "num_decode_draft_tokens", batch.num_decode_draft_tokens));
  GDNPLAN_RETURN_IF_ERROR(
      ReadOptionalInt32List(object, "num_accepted_tokens", batch.num_accepted_tokens));
  if (const json* tokens = FindMember(object, "num_actual_tokens"); tokens != nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(batch.num_actual_tokens,
                             ReadInt32(*tokens, "batch.num_actual_tokens"));
  }
  GDNPLAN_ASSIGN_OR_RETURN(const json* tables, GetMember(object, "block_tables", "batch"));
  if (!tables->is_array()) return UnexpectedJson("batch.block_tables", "must be a list", *tables);
  for (size_t g = 0; g < tables->size(); ++g) {
    GDNPLAN_ASSIGN_OR_RETURN(OwnedBlockTable table,
                             ReadBlockTable((*tables)[g], ElementPath("batch.block_tables", g)));
    batch.block_tables.push_back(std::move(table));
  }
  return batch;
}

absl::Status ReadKind(const json& document, plan::BatchKind& target) {
  const json* op = FindMember(document, "op");
  if (op == nullptr || *op == "build") {
    target = plan::BatchKind::kStep;
  } else if (*op == "build_for_cudagraph_capture") {
    target = plan::BatchKind::kCudagraphCapture;
  } else {
    return UnexpectedJson("op", "must be build or build_for_cudagraph_capture", *op);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OwnedBlockTable> ReadBlockTable(const json& value, std::string_view path) {
  if (!value.is_array()) return UnexpectedJson(path, "must be a list of rows", value);
  OwnedBlockTable table;
  for (size_t row = 0; row < value.size(); ++row) {
    const std::string row_path = ElementPath(path, row);
    GDNPLAN_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, ReadInt32List(value[row], row_path));
    if (row == 0) {
      table.width = static_cast<int32_t>(ids.size());
    } else if (ids.size() != static_cast<size_t>(table.width)) {
      return UnexpectedJson(
          row_path, absl::StrCat("must have as many blocks as row 0, ", table.width), value[row]);
    }
    table.block_ids.insert(table.block_ids.end(), ids.begin(), ids.end());
  }
  return table;
}

absl::StatusOr<BatchDocument> ReadBatch(const json& document) {
  GDNPLAN_RETURN_IF_ERROR(ExpectObject(document, ""));
  BatchDocument result;
  GDNPLAN_ASSIGN_OR_RETURN(const json* batch, GetMember(document, "batch", ""));
  GDNPLAN_ASSIGN_OR_RETURN(result.batch, ReadBatchObject(*batch));
  GDNPLAN_RETURN_IF_ERROR(ReadKind(document, result.batch.kind));
  GDNPLAN_ASSIGN_OR_RETURN(const json* config, GetMember(document, "config", ""));
  GDNPLAN_ASSIGN_OR_RETURN(result.config, ReadConfig(*config, result.batch));
  return result;
}

absl::StatusOr<BatchDocument> ParseBatch(std::string_view text) {
  GDNPLAN_ASSIGN_OR_RETURN(const json document, ParseJson(text));
  return ReadBatch(document);
}

}  // namespace gdnplan::json
