// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Half of a batch's mutations are of its numbers: changed bytes alone seldom leave a batch that is
// nearly, or just no longer, a legal one.
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tests/fuzz/configs.h"
#include "tests/testing/random_batch.h"
#include "wire/convert.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace gdnplan::test {
namespace {

using Numbers = google::protobuf::RepeatedField<int32_t>;

int32_t SomeNumber(const plan::PlanConfig& config, int32_t now, Random& random) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const int32_t limits[] = {0,
                            -1,
                            kMost,
                            config.max_num_seqs,
                            config.max_num_batched_tokens,
                            config.num_speculative_tokens,
                            config.capture_limit()};
  if (random.Chance(40) && now > -kMost && now < kMost) return now + (random.Chance(50) ? 1 : -1);
  const int32_t limit = limits[random.Between(0, 6)];
  return limit < kMost && random.Chance(50) ? limit + 1 : limit;
}

void ChangeOne(const plan::PlanConfig& config, Numbers& numbers, Random& random) {
  if (numbers.empty()) return;
  int32_t& number = *numbers.Mutable(random.Between(0, numbers.size() - 1));
  number = SomeNumber(config, number, random);
}

// A row gets longer or shorter, and all else stays as it was.
void ChangeLength(const plan::PlanConfig& config, v1::Batch& batch, Random& random) {
  const int rows = batch.seq_lens_size();
  if (rows == 0 || batch.query_start_loc_size() != rows + 1) return;
  const int row = random.Between(0, rows - 1);
  const int64_t now = int64_t{batch.query_start_loc(row + 1)} - batch.query_start_loc(row);
  const int64_t length = SomeNumber(config, static_cast<int32_t>(now), random);
  const auto moved = [&](int64_t value) { return static_cast<int32_t>(value + length - now); };
  for (int i = row + 1; i <= rows; ++i) {
    batch.set_query_start_loc(i, moved(batch.query_start_loc(i)));
  }
  batch.set_seq_lens(row, moved(batch.seq_lens(row)));
}

void Mutate(const plan::PlanConfig& config, v1::Batch& batch, Random& random) {
  switch (random.Between(0, 7)) {
    case 0:
      return ChangeOne(config, *batch.mutable_query_start_loc(), random);
    case 1:
      return ChangeOne(config, *batch.mutable_seq_lens(), random);
    case 2:
      return ChangeOne(config, *batch.mutable_num_decode_draft_tokens(), random);
    case 3:
      return ChangeOne(config, *batch.mutable_num_accepted_tokens(), random);
    case 4:
      return batch.set_num_actual_tokens(SomeNumber(config, batch.num_actual_tokens(), random));
    case 5: {
      if (batch.block_tables().empty()) return;
      v1::BlockTable& table =
          *batch.mutable_block_tables(random.Between(0, batch.block_tables_size() - 1));
      if (random.Chance(20)) table.set_width(SomeNumber(config, table.width(), random));
      return ChangeOne(config, *table.mutable_block_ids(), random);
    }
    default:
      return ChangeLength(config, batch, random);
  }
}

}  // namespace
}  // namespace gdnplan::test

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  gdnplan::test::Random random(seed);
  gdnplan::v1::Batch batch;
  if (size == 0 || random.Chance(50) ||
      !batch.ParseFromArray(data + 1, static_cast<int>(size - 1))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const auto& configs = gdnplan::test::FuzzConfigs();
  gdnplan::test::Mutate(configs[data[0] % configs.size()], batch, random);
  const size_t bytes = batch.ByteSizeLong();
  if (bytes + 1 > max_size || !batch.SerializeToArray(data + 1, static_cast<int>(bytes))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  return bytes + 1;
}
