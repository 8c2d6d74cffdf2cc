// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/cuda_arena.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/cuda/device_guard.h"
#include "gdnplan/cuda/fill_launch.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/cuda/timeline.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/pack_step.h"
#include "gdnplan/plan/status.h"
#include "server/nvtx.h"

namespace gdnplan::server {
namespace {

// Plans whose bytes the GPU has not fetched yet, at most. The consumer's promises let the CPU run
// ahead of the GPU by as many steps.
constexpr int32_t kStagingBlocks = 8;

constexpr std::array kStateTensors = {plan::TensorId::kNonSpecStateIndices,
                                      plan::TensorId::kSpecStateIndices,
                                      plan::TensorId::kPrefillStateIndices};

}  // namespace

absl::StatusOr<std::unique_ptr<CudaArena>> CudaArena::Create(const cuda::GpuInfo& gpu,
                                                             const ArenaRequest& request,
                                                             FillMode mode, Boot& boot) {
  GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard, cuda::DeviceGuard::Create(gpu.ordinal));
  absl::StatusOr<cuda::DeviceMemory> memory =
      cuda::DeviceMemory::Create(static_cast<size_t>(request.layout.arena_bytes));
  if (!memory.ok() && !absl::IsResourceExhausted(memory.status())) return memory.status();
  if (!memory.ok()) {
    return absl::Status(memory.status().code(),
                        absl::StrCat("device ", gpu.uuid, ": ", memory.status().message(),
                                     "; close sessions or ask for smaller limits"));
  }
  const plan::ArenaHeader header = boot.Header(request.layout, boot.NextGeneration());
  GDNPLAN_ASSIGN_OR_RETURN(
      CudaTimeline timeline,
      request.timeline == TimelinePlace::kHostPage
          ? CudaTimeline::CreatePage(request.layout, header,
                                     absl::StrCat("/gdnplan-", boot.hex(), "-", header.generation))
          : CudaTimeline::CreateInArena(request.layout, memory->data()));
  GDNPLAN_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create());
  const auto* first = dynamic_cast<const CudaArena*>(request.first);
  GDNPLAN_ASSIGN_OR_RETURN(
      StagingRing staging,
      first != nullptr ? StagingRing::Share(first->staging_)
                       : StagingRing::Create(request.config, request.layout.slot, kStagingBlocks));
  std::unique_ptr<CudaArena> arena(new CudaArena(
      gpu, request, mode,
      Parts{std::move(*memory), std::move(timeline), std::move(stream), std::move(staging)}));
  GDNPLAN_RETURN_IF_ERROR(arena->Initialize(header));
  return arena;
}

CudaArena::CudaArena(const cuda::GpuInfo& gpu, const ArenaRequest& request, FillMode mode,
                     Parts parts)
    : gpu_(gpu),
      layout_(request.layout),
      mode_(mode),
      memory_(std::move(parts.memory)),
      timeline_(std::move(parts.timeline)),
      stream_(std::move(parts.stream)),
      staging_(std::move(parts.staging)),
      slots_(static_cast<size_t>(request.layout.num_slots)) {}

absl::Status CudaArena::Initialize(const plan::ArenaHeader& header) {
  generation_ = header.generation;
  const cudaStream_t stream = stream_.view().get();
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(memory_.data(), 0, memory_.size(), stream));
  GDNPLAN_CUDA_RETURN_IF_ERROR(
      cudaMemcpyAsync(memory_.data(), &header, sizeof(header), cudaMemcpyHostToDevice, stream));
  static_assert(plan::kPadSlotId == -1, "which has all bits set");
  const auto conv_bytes =
      static_cast<size_t>(layout_.slot.slot_bytes - layout_.slot.batch_ptr_offset);
  for (int32_t slot = 0; slot < layout_.num_slots; ++slot) {
    GDNPLAN_CUDA_RETURN_IF_ERROR(
        cudaMemsetAsync(Slot(slot) + layout_.slot.batch_ptr_offset, 0xFF, conv_bytes, stream));
  }
  GDNPLAN_RETURN_IF_ERROR(stream_.view().Synchronize());
  GDNPLAN_ASSIGN_OR_RETURN(ipc_handle_, memory_.ExportIpcHandle());
  return absl::OkStatus();
}

CudaArena::~CudaArena() {
  const absl::StatusOr<cuda::DeviceGuard> guard = cuda::DeviceGuard::Create(gpu_.ordinal);
  // Consumers' streams may wait for plans that were announced.
  ReleaseConsumer();
  if (guard.ok() && Advance().ok()) {
    static_cast<void>(stream_.view().Synchronize());
  }
}

MemoryHandle CudaArena::handle() const {
  return CudaIpcHandle{.handle = ipc_handle_,
                       .device_uuid = gpu_.uuid,
                       .exporter_pid = static_cast<uint32_t>(getpid())};
}

std::optional<MemoryHandle> CudaArena::timeline_handle() const {
  if (!timeline_.on_page()) return std::nullopt;
  return PosixSharedMemoryHandle{timeline_.page_name()};
}

absl::StatusOr<WriteResult> CudaArena::Write(const SlotWrite& write) {
  StagingBlock& block = staging_.Take(write.timeline_value);
  StagedWrite& staged = block.write;
  staged.slot = write.slot;
  staged.timeline_value = write.timeline_value;
  staged.after_consumed = write.after_consumed;
  staged.use_kernel = UseKernelFill(mode_, gpu_.mps, ExpandedBytes(write.input, write.layout));
  staged.num_transfers = 0;
  if (staged.use_kernel) {
    StageKernel(write, block);
  } else if (write.group >= 0) {
    StageGroup(write, block);
  } else {
    StagePlan(write, block);
  }
  slots_[static_cast<size_t>(write.slot)].last_value = write.timeline_value;
  const FillKind fill = staged.use_kernel ? FillKind::kKernel : FillKind::kCopy;
  GDNPLAN_RETURN_IF_ERROR(Advance().status());
  return WriteResult{.fill = fill, .complete = false};
}

void CudaArena::StagePlan(const SlotWrite& write, StagingBlock& block) {
  StagedBytes& bytes = *block.bytes;
  if (std::exchange(bytes.image_value, write.timeline_value) != write.timeline_value) {
    plan::FillSlot(write.input, write.layout, bytes.image, bytes.reach);
  }
  const int64_t packed = std::max(write.layout.packed_bytes, plan::kMinPackedBytes);
  const auto width = static_cast<size_t>(packed);
  block.write.Add({.offset = 0, .width = width, .pitch = width, .rows = 1});
  if (!write.layout[plan::TensorId::kBatchPtr].present) return;

  // Both conv tensors in one transfer of two rows, as far as this plan or the slot's last one
  // reaches.
  int32_t& reach = slots_[static_cast<size_t>(write.slot)].conv_reach;
  const int32_t elements = std::max(reach, write.input.counts.num_conv_programs);
  reach = write.input.counts.num_conv_programs;
  block.write.Add({.offset = layout_.slot.batch_ptr_offset,
                   .width = static_cast<size_t>(elements) * sizeof(int32_t),
                   .pitch = static_cast<size_t>(layout_.slot.token_chunk_offset_ptr_offset -
                                                layout_.slot.batch_ptr_offset),
                   .rows = 2});
}

void CudaArena::StageGroup(const SlotWrite& write, StagingBlock& block) {
  StagedBytes& staged = *block.bytes;
  if (std::exchange(staged.image_value, write.timeline_value) != write.timeline_value) {
    plan::FillGroupStates(write.input, write.layout, write.group, staged.image);
  }
  for (const plan::TensorId id : kStateTensors) {
    const plan::TensorExtent& extent = write.layout[id];
    const int64_t bytes = plan::NumElements(plan::Spec(id), extent) * int64_t{sizeof(int32_t)};
    if (!extent.present || bytes == 0) continue;
    // Two rows: transfers of one dimension do not use a copy engine below kMinPackedBytes, those of
    // two do. State indices are int32, so that the bytes can be halved.
    const auto half = static_cast<size_t>(bytes / 2);
    block.write.Add({.offset = extent.offset + extent.group_stride * write.group,
                     .width = half,
                     .pitch = half,
                     .rows = 2});
  }
}

void CudaArena::StageKernel(const SlotWrite& write, StagingBlock& block) {
  int32_t& reach = slots_[static_cast<size_t>(write.slot)].conv_reach;
  StagedBytes& bytes = *block.bytes;
  if (std::exchange(bytes.step_value, write.timeline_value) != write.timeline_value) {
    bytes.packed = plan::PackStep(write.input, write.group, bytes.step);
  }
  block.write.kernel = {.input = bytes.packed,
                        .layout = write.layout,
                        .slot = Slot(write.slot),
                        .conv_reach = reach,
                        .group = write.group};
  if (write.group < 0 && write.layout[plan::TensorId::kBatchPtr].present) {
    reach = write.input.counts.num_conv_programs;
  }
}

bool CudaArena::CanEnqueue(const StagedWrite& write) const {
  return timeline_.Consumed(write.slot) >= write.after_consumed;
}

absl::StatusOr<bool> CudaArena::Advance() {
  if (!staging_.has_pending()) return false;
  const bool can_enqueue = CanEnqueue(staging_.first_pending().write);
  if (!can_enqueue && timeline_.on_page()) return false;
  GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard, cuda::DeviceGuard::Create(gpu_.ordinal));
  // In order: a re-gather follows its plan.
  while (staging_.has_pending() && CanEnqueue(staging_.first_pending().write)) {
    GDNPLAN_RETURN_IF_ERROR(Enqueue(staging_.first_pending()));
    staging_.PopPending();
  }
  if (staging_.has_pending()) GDNPLAN_RETURN_IF_ERROR(timeline_.Fetch(stream_));
  return can_enqueue;
}

absl::Status CudaArena::Enqueue(const StagingBlock& block) {
  const NvtxRange range("fill");
  const StagedWrite& write = block.write;
  const cudaStream_t stream = stream_.view().get();
  if (write.use_kernel) {
    GDNPLAN_CUDA_RETURN_IF_ERROR(cuda::LaunchFill(write.kernel, stream));
  }
  for (size_t i = 0; i < write.num_transfers; ++i) {
    const StagedTransfer& transfer = write.transfers[i];
    std::byte* to = Slot(write.slot) + transfer.offset;
    const std::byte* from = block.bytes->image + transfer.offset;
    if (transfer.rows == 1) {
      GDNPLAN_CUDA_RETURN_IF_ERROR(
          cudaMemcpyAsync(to, from, transfer.width, cudaMemcpyHostToDevice, stream));
    } else {
      GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemcpy2DAsync(to, transfer.pitch, from, transfer.pitch,
                                                     transfer.width, transfer.rows,
                                                     cudaMemcpyHostToDevice, stream));
    }
  }
  return cuda::WriteValues(stream_, timeline_.ready(write.slot), staging_.progress_address(),
                           write.timeline_value);
}

void CudaArena::ReleaseConsumer() {
  for (int32_t i = 0; i < layout_.num_slots; ++i) {
    timeline_.Release(i, slots_[static_cast<size_t>(i)].last_value);
  }
}

absl::StatusOr<bool> CudaArena::IsReady(int32_t /*slot*/, uint64_t timeline_value) {
  if (staging_.progress() >= timeline_value) return true;
  GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard, cuda::DeviceGuard::Create(gpu_.ordinal));
  const cudaError_t state = cudaStreamQuery(stream_.view().get());
  if (state != cudaErrorNotReady) GDNPLAN_CUDA_RETURN_IF_ERROR(state);
  return false;
}

}  // namespace gdnplan::server
