// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/request_blocks.h"

#include <algorithm>
#include <cstddef>

#include "client/load/random.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/plan_math.h"

namespace gdnplan::load {

using plan::kNullBlockId;

BlockManager::BlockManager(const SchedulerOptions& options)
    : block_size_(options.block_size),
      align_block_size_(
          options.mamba_cache_mode == plan::MambaCacheMode::kAlign ? options.block_size : 0),
      groups_(options.groups),
      state_columns_(options.num_speculative_tokens + 1),
      pool_(options.num_blocks) {
  fresh_.reserve(static_cast<size_t>(state_columns_));
}

int32_t BlockManager::CachedTokens(const SharedPrefix& prefix) const {
  int32_t num_blocks = 0;
  while (num_blocks < prefix.tokens / block_size_ &&
         pool_.Find(AttentionHash(prefix, num_blocks)) != kNullBlockId) {
    ++num_blocks;
  }
  while (num_blocks > 0 && !HasStates(prefix, num_blocks - 1)) --num_blocks;
  return num_blocks * block_size_;
}

bool BlockManager::Admit(int32_t owner, const SharedPrefix& prefix, int32_t cached, int32_t seq_len,
                         RequestBlocks& blocks) {
  const int32_t cached_blocks = cached / block_size_;
  for (int32_t b = 0; b < cached_blocks; ++b) {
    blocks.attention.push_back(pool_.Find(AttentionHash(prefix, b)));
    pool_.Share(blocks.attention.back());
  }
  for (int32_t g = 0; cached_blocks > 0 && g < groups_; ++g) {
    blocks.sources.push_back(pool_.Find(StateHash(prefix, cached_blocks - 1, g)));
    pool_.Share(blocks.sources.back());
  }
  blocks.num_named = cached_blocks;
  if (Grow(owner, seq_len, blocks)) return true;
  Release(owner, blocks);
  return false;
}

bool BlockManager::Grow(int32_t owner, int32_t seq_len, RequestBlocks& blocks) {
  // Nearly every step ends in the block that the one before ended in: lengths never shrink.
  const auto held = static_cast<int32_t>(blocks.attention.size());
  if (!blocks.states.empty() && seq_len <= int64_t{held} * block_size_) return true;
  const int32_t attention = plan::CeilDiv(seq_len, block_size_);
  const int32_t first_column = plan::FirstStateColumn(seq_len, align_block_size_);
  const bool begins = blocks.states.empty();
  const int32_t more = attention - held;
  const int32_t columns =
      begins ? state_columns_ : std::min(first_column - blocks.first_column, state_columns_);
  if (pool_.num_free() < int64_t{more} + int64_t{columns} * groups_) return false;

  for (int32_t i = 0; i < more; ++i) blocks.attention.push_back(pool_.Allocate(owner));
  if (begins) {
    AllocateStates(owner, first_column, blocks);
  } else if (columns > 0) {
    MoveStates(owner, columns, blocks);
    blocks.first_column = first_column;
  }
  return true;
}

void BlockManager::PrefillDone(int32_t owner, const SharedPrefix& prefix, int32_t computed,
                               RequestBlocks& blocks) {
  ReleaseAll(owner, blocks.sources);
  const int32_t complete = std::min(computed, prefix.tokens) / block_size_;
  for (; blocks.num_named < complete; ++blocks.num_named) {
    pool_.Cache(blocks.attention[static_cast<size_t>(blocks.num_named)],
                AttentionHash(prefix, blocks.num_named));
  }
  // Of states there is only the last.
  if (computed <= prefix.tokens && computed % block_size_ == 0) {
    KeepStates(owner, prefix, complete - 1, blocks);
  }
}

void BlockManager::Release(int32_t owner, RequestBlocks& blocks) {
  // The prompt's end first, so that the beginning, which more requests share, stays the longest.
  std::reverse(blocks.attention.begin(), blocks.attention.end());
  ReleaseAll(owner, blocks.attention);
  ReleaseAll(owner, blocks.states);
  ReleaseAll(owner, blocks.sources);
  blocks.first_column = 0;
  blocks.num_named = 0;
}

uint64_t BlockManager::StateHash(const SharedPrefix& prefix, int32_t block, int32_t group) const {
  const auto place = static_cast<uint64_t>(int64_t{block} * (groups_ + 1) + group);
  // 0 stands for no hash.
  return MixBits(prefix.text, place) | 1;
}

uint64_t BlockManager::AttentionHash(const SharedPrefix& prefix, int32_t block) const {
  // One group more.
  return StateHash(prefix, block, groups_);
}

bool BlockManager::HasStates(const SharedPrefix& prefix, int32_t block) const {
  for (int32_t g = 0; g < groups_; ++g) {
    if (pool_.Find(StateHash(prefix, block, g)) == kNullBlockId) return false;
  }
  return true;
}

void BlockManager::AllocateStates(int32_t owner, int32_t first_column, RequestBlocks& blocks) {
  for (int32_t i = 0; i < groups_ * state_columns_; ++i) {
    blocks.states.push_back(pool_.Allocate(owner));
  }
  blocks.first_column = first_column;
}

// The new blocks first: an engine copies states from the old ones to them.
void BlockManager::MoveStates(int32_t owner, int32_t columns, RequestBlocks& blocks) {
  for (int32_t g = 0; g < groups_; ++g) {
    fresh_.clear();
    for (int32_t i = 0; i < columns; ++i) fresh_.push_back(pool_.Allocate(owner));
    const auto begin = blocks.states.begin() + g * state_columns_;
    for (auto old = begin; old != begin + columns; ++old) pool_.Release(*old, owner);
    std::copy(begin + columns, begin + state_columns_, begin);
    std::copy(fresh_.begin(), fresh_.end(), begin + (state_columns_ - columns));
  }
}

void BlockManager::KeepStates(int32_t owner, const SharedPrefix& prefix, int32_t block,
                              const RequestBlocks& blocks) {
  for (int32_t g = 0; g < groups_; ++g) {
    const uint64_t hash = StateHash(prefix, block, g);
    if (align_block_size_ > 0) {
      // The next step's states lie in the next columns, so this one stays as it is.
      pool_.Cache(blocks.states[static_cast<size_t>(g * state_columns_)], hash);
    } else if (pool_.Find(hash) == kNullBlockId && pool_.num_free() > 0) {
      // The next step overwrites the state: a copy is kept, in a block that nobody needs.
      const int32_t copy = pool_.Allocate(owner);
      pool_.Cache(copy, hash);
      pool_.Release(copy, owner);
    }
  }
}

void BlockManager::ReleaseAll(int32_t owner, std::vector<int32_t>& blocks) {
  for (const int32_t block : blocks) pool_.Release(block, owner);
  blocks.clear();
}

}  // namespace gdnplan::load
