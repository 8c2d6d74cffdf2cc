// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The blocks of a simulated engine's cache: who holds which, and what free ones still remember.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gdnplan/plan/constants.h"

namespace gdnplan::load {

// Ids 1..num_blocks; 0 is the null block. A block is free while nobody refers to it. A free block
// keeps its contents, and can be found by their hash, until it is allocated again, the one released
// the longest ago first; blocks without contents worth keeping go before those. Does not allocate
// once the hash table has grown. Not thread safe.
class BlockPool {
 public:
  static constexpr int32_t kNobody = -1;

  explicit BlockPool(int32_t num_blocks);

  int32_t num_blocks() const { return static_cast<int32_t>(blocks_.size()) - 1; }
  int32_t num_free() const { return num_free_; }
  // Blocks that can be found by a hash, free or not.
  size_t num_cached() const { return cached_.size(); }

  // Needs num_free() > 0. The block is the owner's (0 or above), with one reference.
  int32_t Allocate(int32_t owner);
  // Gives back a reference. The owner's own ends its ownership, though others may still share.
  void Release(int32_t block, int32_t owner);

  // Names the contents of a block that somebody refers to. Of equal contents the first block stays
  // the one that is found. `hash` is not 0.
  void Cache(int32_t block, uint64_t hash);
  // The block with these contents, or kNullBlockId.
  int32_t Find(uint64_t hash) const;
  // One more reference to a block that was found, free or not.
  void Share(int32_t block);

  int32_t owner(int32_t block) const { return At(block).owner; }
  int32_t references(int32_t block) const { return At(block).references; }

 private:
  struct Block {
    int32_t references = 0;
    int32_t owner = kNobody;
    // Neighbours in the list of free blocks. The null block is the list's end.
    int32_t previous = plan::kNullBlockId;
    int32_t next = plan::kNullBlockId;
    uint64_t hash = 0;  // 0: cannot be found
  };

  const Block& At(int32_t block) const { return blocks_[static_cast<size_t>(block)]; }
  Block& At(int32_t block) { return blocks_[static_cast<size_t>(block)]; }
  void Unlink(int32_t block);
  void LinkBetween(int32_t previous, int32_t block, int32_t next);

  std::vector<Block> blocks_;
  absl::flat_hash_map<uint64_t, int32_t> cached_;
  int32_t num_free_ = 0;
};

}  // namespace gdnplan::load
