// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The blocks that a running request holds: GDN states of every group, and its attention layers'.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/load/block_pool.h"
#include "client/load/scheduler_options.h"

namespace gdnplan::load {

// The beginning that a prompt has in common with others.
struct SharedPrefix {
  uint64_t text = 0;   // which
  int32_t tokens = 0;  // a multiple of block_size; 0: none
};

// One request's. All empty: it holds nothing.
struct RequestBlocks {
  std::vector<int32_t> attention;  // one for each block_size tokens
  std::vector<int32_t> states;     // [groups, 1 + K], consecutive columns of each group's table
  int32_t first_column = 0;        // of these
  std::vector<int32_t> sources;    // cached states that its first step begins with
  int32_t num_named = 0;           // attention blocks that others can find
};

// Gives out blocks to requests, named by a number (the owner). Not thread safe.
class BlockManager {
 public:
  // `options` must be valid.
  explicit BlockManager(const SchedulerOptions& options);

  const BlockPool& pool() const { return pool_; }

  // How much of the prefix need not be computed: its longest part whose attention blocks and states
  // are all cached.
  int32_t CachedTokens(const SharedPrefix& prefix) const;

  // Blocks for a request whose first step ends at seq_len, `cached` tokens from the cache. False,
  // and nothing is held, when there are not enough.
  bool Admit(int32_t owner, const SharedPrefix& prefix, int32_t cached, int32_t seq_len,
             RequestBlocks& blocks);

  // Blocks for a step that ends at seq_len. False, and nothing changes, when there are not enough.
  bool Grow(int32_t owner, int32_t seq_len, RequestBlocks& blocks);

  // A step that worked on the prompt is over: `computed` tokens are. Keeps what others may share.
  void PrefillDone(int32_t owner, const SharedPrefix& prefix, int32_t computed,
                   RequestBlocks& blocks);

  // Gives back all. The arrays keep their memory.
  void Release(int32_t owner, RequestBlocks& blocks);

 private:
  // Names of contents: of the states after a block's last token, or the attention's of a block.
  uint64_t StateHash(const SharedPrefix& prefix, int32_t block, int32_t group) const;
  uint64_t AttentionHash(const SharedPrefix& prefix, int32_t block) const;

  bool HasStates(const SharedPrefix& prefix, int32_t block) const;
  void AllocateStates(int32_t owner, int32_t first_column, RequestBlocks& blocks);
  void MoveStates(int32_t owner, int32_t columns, RequestBlocks& blocks);
  void KeepStates(int32_t owner, const SharedPrefix& prefix, int32_t block,
                  const RequestBlocks& blocks);
  void ReleaseAll(int32_t owner, std::vector<int32_t>& blocks);

  const int32_t block_size_;
  const int32_t align_block_size_;  // 0: states stay in the table's first columns
  const int32_t groups_;
  const int32_t state_columns_;
  BlockPool pool_;
  std::vector<int32_t> fresh_;  // within MoveStates
};

}  // namespace gdnplan::load
