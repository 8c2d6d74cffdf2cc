// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/client/fake_session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "wire/convert.h"

namespace gdnplan::client {
namespace {

constexpr uint64_t kGeneration = 7;
constexpr char kBootId[] = "000102030405060708090a0b0c0d0e0f";

plan::PlanConfig Config() {
  plan::PlanConfig config;
  config.max_num_seqs = 8;
  config.max_num_batched_tokens = 64;
  config.num_speculative_tokens = 1;
  config.groups.resize(2);
  return config;
}

// A test cannot go on without it.
void Require(bool condition) {
  if (!condition) std::abort();
}

uint32_t Id(plan::TensorId id) { return static_cast<uint32_t>(id); }

}  // namespace

FakeSession::FakeSession()
    : config_(Config()), layout_(plan::ArenaLayout::Create(config_, 2).value()) {
  static int number = 0;
  // Not as the server's, which removes those that no server holds.
  name_ = "/test-gdnplan-" + std::to_string(getpid()) + "-" + std::to_string(++number);
  fd_ = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  Require(fd_ >= 0);
  Truncate(layout_.arena_bytes);
  void* address = mmap(nullptr, static_cast<size_t>(layout_.arena_bytes), PROT_READ | PROT_WRITE,
                       MAP_SHARED, fd_, 0);
  Require(address != MAP_FAILED);
  data_ = static_cast<std::byte*>(address);
  plan::ArenaHeader header{};
  header.magic = plan::kArenaMagic;
  header.layout_version = 1;
  header.num_slots = 2;
  for (uint8_t i = 0; i < 16; ++i) header.boot_id[i] = i;
  header.generation = kGeneration;
  header.arena_bytes = static_cast<uint64_t>(layout_.arena_bytes);
  std::memcpy(data_, &header, sizeof(header));
  auto* elements = reinterpret_cast<int32_t*>(data_ + layout_.slot_offset(1));
  for (int32_t i = 0; i < 64; ++i) elements[i] = i;
  data_[MaskOffset() + 1] = std::byte{1};
}

FakeSession::~FakeSession() {
  munmap(data_, static_cast<size_t>(layout_.arena_bytes));
  close(fd_);
  Unlink();
}

void FakeSession::Truncate(int64_t bytes) { Require(ftruncate(fd_, bytes) == 0); }
void FakeSession::Unlink() { shm_unlink(name_.c_str()); }

uint64_t FakeSession::MaskOffset() const {
  return static_cast<uint64_t>(layout_.slot_offset(1)) + 512;
}

v1::SessionDescription FakeSession::Description() const {
  v1::SessionDescription description;
  description.set_session_id("secret");
  description.set_boot_id(kBootId);
  *description.mutable_config() = wire::ToProto(config_, 2);
  description.set_capture_limit(config_.capture_limit());
  v1::Arena& arena = *description.add_arenas();
  arena.mutable_device()->set_kind(v1::DEVICE_KIND_HOST);
  arena.mutable_device()->set_id("host");
  arena.mutable_memory()->mutable_posix_shared_memory()->set_name(name_);
  arena.mutable_memory()->set_size(static_cast<uint64_t>(layout_.arena_bytes));
  arena.set_generation(kGeneration);
  wire::DescribeTensors(config_, *description.mutable_tensors());
  wire::DescribeTimeline(layout_, *description.mutable_timeline());
  description.set_arena_bytes(static_cast<uint64_t>(layout_.arena_bytes));
  description.set_num_groups(2);
  return description;
}

v1::Plan FakeSession::Plan() const {
  const auto slot = static_cast<uint64_t>(layout_.slot_offset(1));
  v1::Plan plan;
  plan.set_plan_id(5);
  plan.set_slot(1);
  plan.set_timeline_value(5);
  plan.set_staging(v1::STAGING_SPEC_DECODE);
  plan.mutable_counts()->set_num_spec_decodes(2);
  v1::PlacedTensor& shared = *plan.add_tensors();
  shared.set_tensor(Id(plan::TensorId::kSpecQueryStartLoc));
  shared.set_offset(slot);
  shared.add_shape(3);
  v1::PlacedTensor& states = *plan.add_tensors();
  states.set_tensor(Id(plan::TensorId::kSpecStateIndices));
  states.set_offset(slot + 64);
  states.set_group_stride(32);
  states.add_shape(2);
  states.add_shape(2);
  v1::PlacedTensor& mask = *plan.add_tensors();
  mask.set_tensor(Id(plan::TensorId::kSpecSequenceMasks));
  mask.set_offset(MaskOffset());
  mask.add_shape(2);
  return plan;
}

}  // namespace gdnplan::client
