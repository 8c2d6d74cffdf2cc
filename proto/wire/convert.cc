// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/convert.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::wire {
namespace {

constexpr int32_t kDefaultChunkSize = 64;
constexpr int32_t kDefaultSlots = 1;
constexpr size_t kMaxNameBytes = 128;

absl::Status UnknownValue(std::string_view field, int value) {
  return plan::InvalidField(
      field, absl::StrCat("this server does not know the value ", value, "; is it older?"));
}

absl::StatusOr<plan::MambaCacheMode> FromProto(v1::MambaCacheMode mode, std::string_view field) {
  switch (mode) {
    case v1::MAMBA_CACHE_MODE_UNSPECIFIED:
    case v1::MAMBA_CACHE_MODE_NONE:
      return plan::MambaCacheMode::kNone;
    case v1::MAMBA_CACHE_MODE_ALL:
      return plan::MambaCacheMode::kAll;
    case v1::MAMBA_CACHE_MODE_ALIGN:
      return plan::MambaCacheMode::kAlign;
    default:
      return UnknownValue(field, mode);
  }
}

v1::MambaCacheMode ToProto(plan::MambaCacheMode mode) {
  switch (mode) {
    case plan::MambaCacheMode::kNone:
      return v1::MAMBA_CACHE_MODE_NONE;
    case plan::MambaCacheMode::kAll:
      return v1::MAMBA_CACHE_MODE_ALL;
    case plan::MambaCacheMode::kAlign:
      return v1::MAMBA_CACHE_MODE_ALIGN;
  }
  return v1::MAMBA_CACHE_MODE_UNSPECIFIED;
}

absl::StatusOr<plan::PrefillBackend> FromProto(v1::PrefillBackend backend) {
  switch (backend) {
    case v1::PREFILL_BACKEND_UNSPECIFIED:
    case v1::PREFILL_BACKEND_TRITON:
      return plan::PrefillBackend::kTriton;
    case v1::PREFILL_BACKEND_FLASHINFER:
      return plan::PrefillBackend::kFlashinfer;
    case v1::PREFILL_BACKEND_CUTEDSL:
      return plan::PrefillBackend::kCutedsl;
    default:
      return UnknownValue("prefill_backend", backend);
  }
}

v1::PrefillBackend ToProto(plan::PrefillBackend backend) {
  switch (backend) {
    case plan::PrefillBackend::kTriton:
      return v1::PREFILL_BACKEND_TRITON;
    case plan::PrefillBackend::kFlashinfer:
      return v1::PREFILL_BACKEND_FLASHINFER;
    case plan::PrefillBackend::kCutedsl:
      return v1::PREFILL_BACKEND_CUTEDSL;
  }
  return v1::PREFILL_BACKEND_UNSPECIFIED;
}

std::span<const int32_t> Span(const google::protobuf::RepeatedField<int32_t>& field) {
  return {field.data(), static_cast<size_t>(field.size())};
}

void Assign(std::span<const int32_t> from, google::protobuf::RepeatedField<int32_t>& to) {
  to.Clear();
  to.Add(from.begin(), from.end());
}

v1::DType ToProto(plan::DType dtype) {
  return dtype == plan::DType::kInt32 ? v1::DTYPE_INT32 : v1::DTYPE_UINT8;
}

}  // namespace

absl::StatusOr<plan::PlanConfig> FromProto(const v1::SessionConfig& message) {
  plan::PlanConfig config;
  config.max_num_seqs = message.max_num_seqs();
  config.max_num_batched_tokens = message.max_num_batched_tokens();
  config.num_speculative_tokens = message.num_speculative_tokens();
  config.use_full_cuda_graph = message.use_full_cuda_graph();
  if (message.has_max_cudagraph_capture_size()) {
    config.max_cudagraph_capture_size = message.max_cudagraph_capture_size();
  }
  GDNPLAN_ASSIGN_OR_RETURN(config.prefill_backend, FromProto(message.prefill_backend()));
  config.chunk_size = message.chunk_size() == 0 ? kDefaultChunkSize : message.chunk_size();
  config.groups.reserve(static_cast<size_t>(message.groups_size()));
  for (int g = 0; g < message.groups_size(); ++g) {
    const v1::KvCacheGroup& group = message.groups(g);
    const std::string field = absl::StrCat("groups[", g, "]");
    if (group.name().size() > kMaxNameBytes) {
      return plan::InvalidField(field + ".name",
                                absl::StrCat("must have at most ", kMaxNameBytes, " bytes (got ",
                                             group.name().size(), ")"));
    }
    GDNPLAN_ASSIGN_OR_RETURN(const plan::MambaCacheMode mode,
                             FromProto(group.mamba_cache_mode(), field + ".mamba_cache_mode"));
    config.groups.push_back({group.name(), mode, group.block_size()});
  }
  GDNPLAN_RETURN_IF_ERROR(plan::ValidateConfig(config));
  return config;
}

int32_t NumSlots(const v1::SessionConfig& message) {
  return message.num_slots() == 0 ? kDefaultSlots : message.num_slots();
}

v1::SessionConfig ToProto(const plan::PlanConfig& config, int32_t num_slots) {
  v1::SessionConfig message;
  message.set_max_num_seqs(config.max_num_seqs);
  message.set_max_num_batched_tokens(config.max_num_batched_tokens);
  message.set_num_speculative_tokens(config.num_speculative_tokens);
  message.set_use_full_cuda_graph(config.use_full_cuda_graph);
  if (config.max_cudagraph_capture_size.has_value()) {
    message.set_max_cudagraph_capture_size(*config.max_cudagraph_capture_size);
  }
  message.set_prefill_backend(ToProto(config.prefill_backend));
  message.set_chunk_size(config.chunk_size);
  for (const plan::GroupConfig& group : config.groups) {
    v1::KvCacheGroup& added = *message.add_groups();
    added.set_name(group.name);
    added.set_block_size(group.block_size);
    added.set_mamba_cache_mode(ToProto(group.mamba_cache_mode));
  }
  message.set_num_slots(num_slots);
  return message;
}

absl::StatusOr<plan::BatchView> FromProto(const v1::Batch& message,
                                          std::vector<plan::BlockTableView>& tables) {
  plan::BatchView batch;
  switch (message.kind()) {
    case v1::BATCH_KIND_UNSPECIFIED:
    case v1::BATCH_KIND_STEP:
      batch.kind = plan::BatchKind::kStep;
      break;
    case v1::BATCH_KIND_CUDAGRAPH_CAPTURE:
      batch.kind = plan::BatchKind::kCudagraphCapture;
      break;
    default:
      return UnknownValue("kind", message.kind());
  }
  batch.query_start_loc = Span(message.query_start_loc());
  batch.seq_lens = Span(message.seq_lens());
  batch.is_prefilling = {reinterpret_cast<const uint8_t*>(message.is_prefilling().data()),
                         message.is_prefilling().size()};
  batch.num_decode_draft_tokens = Span(message.num_decode_draft_tokens());
  batch.num_accepted_tokens = Span(message.num_accepted_tokens());
  if (message.has_num_actual_tokens()) batch.num_actual_tokens = message.num_actual_tokens();
  tables.clear();
  for (const v1::BlockTable& table : message.block_tables()) tables.push_back(FromProto(table));
  batch.block_tables = tables;
  return batch;
}

plan::BlockTableView FromProto(const v1::BlockTable& message) {
  return {Span(message.block_ids()), message.width()};
}

void ToProto(const plan::BatchView& batch, v1::Batch& message) {
  message.set_kind(batch.kind == plan::BatchKind::kStep ? v1::BATCH_KIND_STEP
                                                        : v1::BATCH_KIND_CUDAGRAPH_CAPTURE);
  Assign(batch.query_start_loc, *message.mutable_query_start_loc());
  Assign(batch.seq_lens, *message.mutable_seq_lens());
  message.mutable_is_prefilling()->assign(reinterpret_cast<const char*>(batch.is_prefilling.data()),
                                          batch.is_prefilling.size());
  if (batch.num_actual_tokens.has_value()) {
    message.set_num_actual_tokens(*batch.num_actual_tokens);
  } else {
    message.clear_num_actual_tokens();
  }
  Assign(batch.num_decode_draft_tokens, *message.mutable_num_decode_draft_tokens());
  Assign(batch.num_accepted_tokens, *message.mutable_num_accepted_tokens());
  // Tables keep their memory from call to call, as the other fields do.
  auto& tables = *message.mutable_block_tables();
  while (tables.size() > static_cast<int>(batch.block_tables.size())) tables.RemoveLast();
  while (tables.size() < static_cast<int>(batch.block_tables.size())) tables.Add();
  for (int g = 0; g < tables.size(); ++g) {
    ToProto(batch.block_tables[static_cast<size_t>(g)], tables[g]);
  }
}

void ToProto(const plan::BlockTableView& table, v1::BlockTable& message) {
  message.set_width(table.width);
  Assign(table.block_ids, *message.mutable_block_ids());
}

v1::Staging ToProto(plan::Staging staging) {
  switch (staging) {
    case plan::Staging::kNone:
      return v1::STAGING_NONE;
    case plan::Staging::kDecode:
      return v1::STAGING_DECODE;
    case plan::Staging::kSpecDecode:
      return v1::STAGING_SPEC_DECODE;
  }
  return v1::STAGING_NONE;
}

plan::Staging FromProto(v1::Staging staging) {
  switch (staging) {
    case v1::STAGING_DECODE:
      return plan::Staging::kDecode;
    case v1::STAGING_SPEC_DECODE:
      return plan::Staging::kSpecDecode;
    default:
      // An unknown staging is one whose graphs this client does not know how to replay.
      return plan::Staging::kNone;
  }
}

void ToProto(const plan::PlanCounts& counts, v1::PlanCounts& message) {
  message.set_num_prefills(counts.num_prefills);
  message.set_num_prefill_tokens(counts.num_prefill_tokens);
  message.set_num_decodes(counts.num_decodes);
  message.set_num_decode_tokens(counts.num_decode_tokens);
  message.set_num_spec_decodes(counts.num_spec_decodes);
  message.set_num_spec_decode_tokens(counts.num_spec_decode_tokens);
  message.set_num_actual_tokens(counts.num_actual_tokens);
  if (counts.uniform_spec_sequence_length > 0) {
    message.set_uniform_spec_sequence_length(counts.uniform_spec_sequence_length);
  } else {
    message.clear_uniform_spec_sequence_length();
  }
  message.set_num_conv_programs(counts.num_conv_programs);
}

plan::PlanCounts FromProto(const v1::PlanCounts& message, v1::Staging staging) {
  plan::PlanCounts counts;
  counts.num_prefills = message.num_prefills();
  counts.num_prefill_tokens = message.num_prefill_tokens();
  counts.num_decodes = message.num_decodes();
  counts.num_decode_tokens = message.num_decode_tokens();
  counts.num_spec_decodes = message.num_spec_decodes();
  counts.num_spec_decode_tokens = message.num_spec_decode_tokens();
  counts.num_actual_tokens = message.num_actual_tokens();
  counts.uniform_spec_sequence_length = message.uniform_spec_sequence_length();
  counts.num_conv_programs = message.num_conv_programs();
  counts.staging = FromProto(staging);
  return counts;
}

void ToProto(const plan::PlanLayout& layout, int64_t slot_offset,
             google::protobuf::RepeatedPtrField<v1::PlacedTensor>& tensors) {
  tensors.Clear();
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    const plan::TensorExtent& extent = layout[spec.id];
    if (!extent.present) continue;
    v1::PlacedTensor& placed = *tensors.Add();
    placed.set_tensor(static_cast<uint32_t>(spec.id));
    placed.set_offset(static_cast<uint64_t>(slot_offset + extent.offset));
    for (int d = 0; d < spec.rank; ++d) {
      placed.add_shape(static_cast<uint32_t>(extent.dims[static_cast<size_t>(d)]));
    }
    placed.set_group_stride(static_cast<uint64_t>(extent.group_stride));
  }
}

void DescribeTensors(const plan::PlanConfig& config,
                     google::protobuf::RepeatedPtrField<v1::TensorDescription>& tensors) {
  tensors.Clear();
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    v1::TensorDescription& described = *tensors.Add();
    described.set_id(static_cast<uint32_t>(spec.id));
    described.set_name(std::string(spec.name));
    described.set_dtype(ToProto(spec.dtype));
    described.set_per_group(spec.per_group);
    described.set_rank(static_cast<uint32_t>(spec.rank));
    described.set_shape(std::string(spec.shape));
    described.set_max_elements(static_cast<uint64_t>(spec.capacity(config)));
  }
}

void DescribeTimeline(const plan::ArenaLayout& layout, v1::Timeline& timeline) {
  timeline.set_ready_offset(static_cast<uint64_t>(layout.ready_offset(0)));
  timeline.set_consumed_offset(static_cast<uint64_t>(layout.consumed_offset(0)));
  timeline.set_promised_offset(static_cast<uint64_t>(layout.promised_offset(0)));
  timeline.set_stride(sizeof(plan::SlotTimeline));
}

}  // namespace gdnplan::wire
