// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/host_device.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "gdnplan/plan/host_fill.h"
#include "server/shared_memory.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::HostDevice;
using server::SharedMemory;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string TestName(const std::string& what) {
  return "/gdnplantest-" + std::to_string(getpid()) + "-" + what;
}

TEST(SharedMemoryTest, IsZeroedPrivateAndUnlinked) {
  const std::string name = TestName("a");
  const server::MemoryHandle handle = server::PosixSharedMemoryHandle{name};
  {
    auto memory = SharedMemory::Create(name, 8192);
    ASSERT_THAT(memory, IsOk());
    EXPECT_TRUE(std::all_of(memory->data(), memory->data() + 8192,
                            [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_TRUE(Exists(handle));
    EXPECT_THAT(SharedMemory::Create(name, 8192), StatusIs(absl::StatusCode::kAlreadyExists));
    const SharedMemory moved = *std::move(memory);
    EXPECT_EQ(moved.name(), name);
  }
  EXPECT_FALSE(Exists(handle));
}

TEST(SharedMemoryTest, RefusesWhatDoesNotFit) {
  const std::string name = TestName("b");
  const size_t bytes = server::GetSharedMemorySpace().available + (size_t{1} << 30);
  EXPECT_THAT(
      SharedMemory::Create(name, bytes),
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr(std::to_string(bytes) + " bytes asked"), HasSubstr("available"))));
  EXPECT_FALSE(Exists(server::PosixSharedMemoryHandle{name}));
}

TEST(SharedMemoryTest, RemovesOnlyWhatIsAbandoned) {
  const std::string prefix = TestName("c").substr(1);
  const auto owned = SharedMemory::Create("/" + prefix + "-owned", 4096);
  ASSERT_THAT(owned, IsOk());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lost = SharedMemory::Create("/" + prefix + "-lost", 4096);
    _exit(lost.ok() ? 0 : 1);  // no destructor
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(Exists(server::PosixSharedMemoryHandle{"/" + prefix + "-lost"}));
  EXPECT_EQ(server::RemoveAbandonedSharedMemory(prefix), 1);
  EXPECT_FALSE(Exists(server::PosixSharedMemoryHandle{"/" + prefix + "-lost"}));
  EXPECT_TRUE(Exists(server::PosixSharedMemoryHandle{"/" + prefix + "-owned"}));
}

// Of a server that was killed before its object had a size. A young one may be getting its size
// now.
TEST(SharedMemoryTest, RemovesEmptyObjectsOnceTheyAreOld) {
  const std::string prefix = TestName("e").substr(1);
  const std::string young = "/" + prefix + "-young";
  const std::string old = "/" + prefix + "-old";
  for (const std::string& name : {young, old}) {
    const int fd = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    ASSERT_GE(fd, 0);
    const timespec then[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    if (name == old) {
      EXPECT_EQ(futimens(fd, then), 0);
    }
    close(fd);
  }
  EXPECT_EQ(server::RemoveAbandonedSharedMemory(prefix), 1);
  EXPECT_TRUE(Exists(server::PosixSharedMemoryHandle{young}));
  EXPECT_FALSE(Exists(server::PosixSharedMemoryHandle{old}));
  shm_unlink(young.c_str());
}

class HostDeviceTest : public ::testing::Test {
 protected:
  const plan::PlanConfig config_ = SampleConfig();
  const plan::ArenaLayout layout_ = plan::ArenaLayout::Create(config_, 2).value();
  const server::ArenaRequest request_{.config = config_, .layout = layout_};
  std::shared_ptr<server::Boot> boot_ = server::Boot::Create().value();
};

TEST_F(HostDeviceTest, SaysWhatItIs) {
  HostDevice device(boot_);
  EXPECT_EQ(device.info().id, "host");
  EXPECT_EQ(device.info().kind, server::DeviceKind::kHost);
  EXPECT_GT(device.info().memory_bytes, 0u);
  EXPECT_EQ(HostDevice(boot_, {.index = 3}).info().id, "host:3");
}

TEST_F(HostDeviceTest, ArenasAreInitialised) {
  HostDevice device(boot_);
  const auto arena = device.CreateArena(request_);
  ASSERT_THAT(arena, IsOk());
  const std::string name = std::get<server::PosixSharedMemoryHandle>((*arena)->handle()).name;
  EXPECT_EQ(name, "/gdnplan-" + boot_->hex() + "-1");
  const ClientArena mapped((*arena)->handle(), layout_);
  const plan::ArenaHeader header = mapped.header();
  EXPECT_EQ(header.magic, plan::kArenaMagic);
  EXPECT_EQ(header.boot_id, boot_->id());
  EXPECT_EQ(header.generation, (*arena)->generation());
  EXPECT_EQ(header.num_slots, 2u);
  EXPECT_EQ(header.arena_bytes, static_cast<uint64_t>(layout_.arena_bytes));
  EXPECT_EQ(header.slots_offset, static_cast<uint64_t>(layout_.slots_offset));
  EXPECT_EQ(header.slot_stride, static_cast<uint64_t>(layout_.slot_stride));
  std::vector<std::byte> fresh(static_cast<size_t>(layout_.slot.slot_bytes));
  plan::InitializeSlot(layout_.slot, fresh.data());
  for (int32_t slot = 0; slot < 2; ++slot) {
    EXPECT_EQ(mapped.ready(slot), 0u);
    EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), mapped.slot(slot).begin()));
  }
}

TEST_F(HostDeviceTest, GenerationsDifferBetweenDevicesToo) {
  HostDevice first(boot_);
  HostDevice second(boot_, {.index = 1});
  const auto a = first.CreateArena(request_);
  const auto b = second.CreateArena(request_);
  EXPECT_NE((*a)->generation(), (*b)->generation());
}

TEST_F(HostDeviceTest, KeepsToItsLimitAndGivesBack) {
  const auto bytes = static_cast<uint64_t>(layout_.arena_bytes);
  HostDevice device(boot_, {.index = 0, .limit_bytes = bytes});
  EXPECT_EQ(device.info().available_bytes, bytes);
  auto arena = device.CreateArena(request_);
  ASSERT_THAT(arena, IsOk());
  EXPECT_EQ(device.info().available_bytes, 0u);
  EXPECT_THAT(device.CreateArena(request_),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr(std::to_string(bytes) + " bytes asked"),
                             HasSubstr("0 of " + std::to_string(bytes) + " available"))));
  arena->reset();
  EXPECT_THAT(device.CreateArena(request_), IsOk());
}

TEST_F(HostDeviceTest, OnlyComparesWhatClientsWrite) {
  HostDevice device(boot_);
  const auto arena = device.CreateArena(request_);
  ASSERT_THAT(arena, IsOk());
  ClientArena mapped((*arena)->handle(), layout_);
  EXPECT_EQ((*arena)->Consumed(1), 0u);
  mapped.Consume(1, 42);
  EXPECT_EQ((*arena)->Consumed(1), 42u);
  EXPECT_EQ((*arena)->Consumed(0), 0u);
}

}  // namespace
}  // namespace gdnplan::test
