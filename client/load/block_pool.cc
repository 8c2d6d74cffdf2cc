// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/block_pool.h"

namespace gdnplan::load {

using plan::kNullBlockId;

BlockPool::BlockPool(int32_t num_blocks) : blocks_(static_cast<size_t>(num_blocks) + 1) {
  for (int32_t block = 1; block <= num_blocks; ++block) {
    LinkBetween(At(kNullBlockId).previous, block, kNullBlockId);
  }
}

int32_t BlockPool::Allocate(int32_t owner) {
  const int32_t id = At(kNullBlockId).next;
  Unlink(id);
  Block& block = At(id);
  if (block.hash != 0) cached_.erase(block.hash);
  block.hash = 0;
  block.references = 1;
  block.owner = owner;
  return id;
}

void BlockPool::Release(int32_t id, int32_t owner) {
  Block& block = At(id);
  if (block.owner == owner) block.owner = kNobody;
  if (--block.references > 0) return;
  if (block.hash == 0) {
    LinkBetween(kNullBlockId, id, At(kNullBlockId).next);
  } else {
    LinkBetween(At(kNullBlockId).previous, id, kNullBlockId);
  }
}

void BlockPool::Cache(int32_t id, uint64_t hash) {
  Block& block = At(id);
  if (block.hash != 0 || !cached_.try_emplace(hash, id).second) return;
  block.hash = hash;
}

int32_t BlockPool::Find(uint64_t hash) const {
  const auto found = cached_.find(hash);
  return found == cached_.end() ? kNullBlockId : found->second;
}

void BlockPool::Share(int32_t id) {
  if (At(id).references == 0) Unlink(id);
  ++At(id).references;
}

void BlockPool::Unlink(int32_t id) {
  const Block& block = At(id);
  At(block.previous).next = block.next;
  At(block.next).previous = block.previous;
  --num_free_;
}

void BlockPool::LinkBetween(int32_t previous, int32_t id, int32_t next) {
  At(id).previous = previous;
  At(id).next = next;
  At(previous).next = id;
  At(next).previous = id;
  ++num_free_;
}

}  // namespace gdnplan::load
