// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/fill_launch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gdnplan/cuda/memory.h"
#include "gdnplan/cuda/stream.h"
#include "gdnplan/plan/pack_step.h"
#include "gdnplan/plan/status.h"
#include "tests/testing/gpu_test.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::cuda {
namespace {

using test::GpuTest;
using test::IsOk;
using test::PlannedSlot;
using test::Random;

constexpr std::byte kPoison{0xA5};

// A slot on the device beside one on the host. What either fill leaves out keeps the poison, so
// that slots are alike as a whole or not at all.
class SlotPair {
 public:
  static absl::StatusOr<std::unique_ptr<SlotPair>> Create(const plan::PlanConfig& config) {
    const auto slot_bytes = static_cast<size_t>(plan::SlotLayout(config).slot_bytes);
    GDNPLAN_ASSIGN_OR_RETURN(DeviceMemory device, DeviceMemory::Create(slot_bytes));
    GDNPLAN_ASSIGN_OR_RETURN(PinnedMemory step,
                             PinnedMemory::Create(plan::PackedStepBytes(config)));
    GDNPLAN_ASSIGN_OR_RETURN(Stream stream, Stream::Create());
    std::unique_ptr<SlotPair> pair(
        new SlotPair(config, std::move(device), std::move(step), std::move(stream)));
    const std::span<const std::byte> fresh = pair->host_.slot();
    GDNPLAN_CUDA_RETURN_IF_ERROR(
        cudaMemcpy(pair->device_.data(), fresh.data(), fresh.size(), cudaMemcpyHostToDevice));
    // The copy may still be on its way, and the stream does not wait for it.
    GDNPLAN_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
    return pair;
  }

  // Both fills, from the same batch.
  absl::Status Plan(const plan::BatchView& batch) {
    GDNPLAN_RETURN_IF_ERROR(host_.Plan(batch, kPoison));
    const auto packed = static_cast<size_t>(host_.planner().slot_layout().packed_capacity);
    GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(device_.data(), std::to_integer<int>(kPoison),
                                                 packed, stream_.view().get()));
    GDNPLAN_RETURN_IF_ERROR(Launch(-1));
    if (host_.layout()[plan::TensorId::kBatchPtr].present) {
      reach_ = host_.counts().num_conv_programs;
    }
    return absl::OkStatus();
  }

  absl::Status Regather(int32_t group, const plan::BlockTableView& table) {
    GDNPLAN_RETURN_IF_ERROR(host_.Regather(group, table));
    return Launch(group);
  }

  // Empty when the slots are alike; otherwise where they begin to differ.
  std::string Difference() {
    const std::span<const std::byte> want = host_.slot();
    std::vector<std::byte> got(want.size());
    const cudaError_t error =
        cudaMemcpy(got.data(), device_.data(), got.size(), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return cudaGetErrorName(error);
    const auto [at, other] = std::mismatch(got.begin(), got.end(), want.begin());
    if (at == got.end()) return {};
    return "byte " + std::to_string(at - got.begin()) + ", in " + Where(at - got.begin()) +
           ": got " + std::to_string(std::to_integer<int>(*at)) + ", want " +
           std::to_string(std::to_integer<int>(*other));
  }

  const PlannedSlot& host() const { return host_; }

 private:
  SlotPair(const plan::PlanConfig& config, DeviceMemory device, PinnedMemory step, Stream stream)
      : host_(config),
        device_(std::move(device)),
        step_(std::move(step)),
        stream_(std::move(stream)) {}

  absl::Status Launch(int32_t group) {
    const FillParams params = {
        .input = plan::PackStep(host_.planner().input(), group, step_.data()),
        .layout = host_.layout(),
        .slot = device_.data(),
        .conv_reach = reach_,
        .group = group};
    GDNPLAN_CUDA_RETURN_IF_ERROR(LaunchFill(params, stream_.view().get()));
    GDNPLAN_RETURN_IF_ERROR(stream_.view().Synchronize());
    // Whatever the kernel still read would be wrong from here on.
    std::memset(step_.data(), 0xEE, step_.size());
    return absl::OkStatus();
  }

  std::string Where(int64_t byte) const {
    for (const plan::TensorSpec& spec : plan::TensorTable()) {
      const plan::TensorExtent& extent = host_.layout()[spec.id];
      if (!extent.present) continue;
      const int32_t groups = spec.per_group ? host_.planner().config().num_groups() : 1;
      for (int32_t group = 0; group < groups; ++group) {
        const int64_t begin = extent.offset + extent.group_stride * group;
        const int64_t bytes = plan::NumElements(spec, extent) * plan::SizeOf(spec.dtype);
        if (byte < begin || byte >= begin + bytes) continue;
        return std::string(spec.name) + " of group " + std::to_string(group);
      }
    }
    return "no tensor";
  }

  PlannedSlot host_;
  DeviceMemory device_;
  PinnedMemory step_;
  Stream stream_;
  int32_t reach_ = 0;
};

plan::PlanConfig BigConfig(int32_t max_num_seqs, int32_t num_groups) {
  plan::PlanConfig config;
  config.max_num_seqs = max_num_seqs;
  config.max_num_batched_tokens = 262'144;
  config.num_speculative_tokens = 3;
  config.use_full_cuda_graph = true;
  for (int32_t g = 0; g < num_groups; ++g) {
    config.groups.push_back(
        {std::to_string(g), static_cast<plan::MambaCacheMode>(g % 3), g % 3 == 2 ? 1024 : 0});
  }
  return config;
}

// Rows of these query lengths. `speculative`: rows of up to 1 + K tokens have drafts.
json::OwnedBatch BatchOfLengths(const plan::PlanConfig& config, const std::vector<int32_t>& lengths,
                                bool speculative, Random& random) {
  json::OwnedBatch batch;
  batch.query_start_loc.push_back(0);
  for (const int32_t length : lengths) {
    batch.query_start_loc.push_back(batch.query_start_loc.back() + length);
    batch.seq_lens.push_back(length + (random.Chance(50) ? random.Between(1, 3000) : 0));
    if (!speculative) continue;
    const bool drafts = length > 0 && length <= config.state_columns() && random.Chance(70);
    batch.num_decode_draft_tokens.push_back(drafts ? length - 1 : -1);
    batch.num_accepted_tokens.push_back(random.Between(1, config.state_columns()));
  }
  for (int32_t g = 0; g < config.num_groups(); ++g) {
    batch.block_tables.push_back(test::RandomBlockTable(config, g, batch, random));
  }
  return batch;
}

class FillLaunchTest : public GpuTest {
 protected:
  // Plans random batches one over the other, with re-gathers between.
  static void ExpectAlike(const plan::PlanConfig& config, int batches, Random& random) {
    const auto pair = SlotPair::Create(config);
    ASSERT_THAT(pair, IsOk());
    for (int b = 0; b < batches; ++b) {
      SCOPED_TRACE("batch " + std::to_string(b));
      const json::OwnedBatch batch = test::RandomBatch(config, random);
      ASSERT_THAT((*pair)->Plan(batch.view()), IsOk());
      ASSERT_EQ((*pair)->Difference(), "");
      if (!random.Chance(30)) continue;
      const int32_t group = random.Between(0, config.num_groups() - 1);
      const json::OwnedBlockTable table = test::RandomBlockTable(config, group, batch, random);
      ASSERT_THAT((*pair)->Regather(group, table.view()), IsOk());
      ASSERT_EQ((*pair)->Difference(), "") << "after a re-gather of group " << group;
    }
  }

  static void ExpectAlike(const plan::PlanConfig& config,
                          const std::vector<json::OwnedBatch>& batches) {
    const auto pair = SlotPair::Create(config);
    ASSERT_THAT(pair, IsOk());
    for (const json::OwnedBatch& batch : batches) {
      ASSERT_THAT((*pair)->Plan(batch.view()), IsOk());
      ASSERT_EQ((*pair)->Difference(), "") << "with " << batch.seq_lens.size() << " rows";
    }
  }
};

// Of 12 batches each. More, or under a sanitizer fewer: GDNPLAN_RANDOM_CONFIGS.
uint64_t NumConfigs() {
  const char* text = std::getenv("GDNPLAN_RANDOM_CONFIGS");
  return text == nullptr ? 400 : std::strtoull(text, nullptr, 10);
}

TEST_F(FillLaunchTest, RandomBatches) {
  ASSERT_GT(NumConfigs(), 0u);
  for (uint64_t seed = 0; seed < NumConfigs(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    ExpectAlike(test::RandomConfig(random), 12, random);
    if (HasFailure()) return;
  }
}

TEST_F(FillLaunchTest, EveryNumberOfRows) {
  Random random(7);
  const plan::PlanConfig config = BigConfig(600, 2);
  std::vector<json::OwnedBatch> batches;
  for (int32_t rows = 1; rows <= config.max_num_seqs; ++rows) {
    std::vector<int32_t> lengths;
    for (int32_t i = 0; i < rows; ++i) lengths.push_back(random.Between(0, 6));
    lengths[0] = std::max(lengths[0], 1);
    batches.push_back(BatchOfLengths(config, lengths, random.Chance(70), random));
  }
  ExpectAlike(config, batches);
}

TEST_F(FillLaunchTest, ManyGroups) {
  Random random(8);
  plan::PlanConfig config = BigConfig(300, 36);
  config.max_num_batched_tokens = 4096;
  ExpectAlike(config, 40, random);
}

// A long prefill, and then a short one: its tail must be padding again.
TEST_F(FillLaunchTest, ManyTokens) {
  Random random(9);
  const plan::PlanConfig config = BigConfig(512, 1);
  std::vector<int32_t> many(75, 2000);
  for (int i = 0; i < 200; ++i) many.push_back(random.Between(1, 4));
  std::vector<json::OwnedBatch> batches;
  for (const bool speculative : {false, true}) {
    for (const std::vector<int32_t>& lengths :
         {{150'000}, {1, 1, 9}, many, {1, 1, 1}, std::vector<int32_t>{2, 70}}) {
      batches.push_back(BatchOfLengths(config, lengths, speculative, random));
    }
  }
  ExpectAlike(config, batches);
}

TEST_F(FillLaunchTest, MoreRowsThanSharedMemoryHas) {
  Random random(10);
  const plan::PlanConfig config = BigConfig(12'000, 1);
  std::vector<json::OwnedBatch> batches;
  for (const size_t rows : {8191U, 8192U, 8193U, 12'000U}) {
    std::vector<int32_t> lengths;
    for (size_t i = 0; i < rows; ++i) lengths.push_back(random.Between(0, 20));
    batches.push_back(BatchOfLengths(config, lengths, false, random));
    batches.push_back(BatchOfLengths(config, lengths, true, random));
  }
  ExpectAlike(config, batches);
}

}  // namespace
}  // namespace gdnplan::cuda
