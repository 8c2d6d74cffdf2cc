// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/memory.h"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "tests/testing/gpu_test.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::cuda {
namespace {

using test::GpuTest;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr size_t kBytes = 2 << 20;
constexpr size_t kAbsurd = size_t{1} << 50;

class MemoryTest : public GpuTest {};

TEST_F(MemoryTest, DeviceMemoryHoldsWhatIsCopiedThere) {
  auto memory = DeviceMemory::Create(kBytes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->size(), kBytes);
  std::byte* const data = memory->data();
  const DeviceMemory moved = *std::move(memory);
  EXPECT_EQ(moved.data(), data);
  const std::array<int, 4> in = {1, 2, 3, 4};
  std::array<int, 4> out = {};
  ASSERT_EQ(cudaMemcpy(moved.data(), in.data(), sizeof(in), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(out.data(), moved.data(), sizeof(out), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out, in);
}

TEST_F(MemoryTest, DeviceMemoryNamesTheBytesThatItLacks) {
  EXPECT_THAT(DeviceMemory::Create(kAbsurd),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       MatchesRegex("needs 1125899906842624 bytes of GPU memory, of which "
                                    "[1-9][0-9]* are free")));
  // The error does not stay behind.
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_TRUE(DeviceMemory::Create(kBytes).ok());
}

TEST_F(MemoryTest, PinnedMemoryHasOneAddressEverywhere) {
  auto memory = PinnedMemory::Create(kBytes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  std::memset(memory->data(), 7, memory->size());
  void* device = nullptr;
  ASSERT_EQ(cudaHostGetDevicePointer(&device, memory->data(), 0), cudaSuccess);
  EXPECT_EQ(device, memory->data());
}

TEST_F(MemoryTest, PinnedMemoryNamesTheBytesThatItLacks) {
  EXPECT_THAT(PinnedMemory::Create(kAbsurd),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("needs 1125899906842624 bytes of pinned host memory")));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(MemoryTest, HandlesDifferForEachAllocation) {
  const auto one = DeviceMemory::Create(kBytes);
  const auto two = DeviceMemory::Create(kBytes);
  ASSERT_TRUE(one.ok() && two.ok());
  const auto handle = one->ExportIpcHandle();
  ASSERT_TRUE(handle.ok()) << handle.status();
  EXPECT_EQ(handle->size(), size_t{CUDA_IPC_HANDLE_SIZE});
  EXPECT_NE(*handle, *two->ExportIpcHandle());
}

TEST_F(MemoryTest, AHandleOfThisProcessCannotBeOpenedHere) {
  const auto memory = DeviceMemory::Create(kBytes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  const auto handle = memory->ExportIpcHandle();
  ASSERT_TRUE(handle.ok()) << handle.status();
  EXPECT_THAT(ImportedMemory::Open(*handle),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("one of this process's own"), HasSubstr("PID 1"))));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(MemoryTest, AHandleHasItsSize) {
  EXPECT_THAT(
      ImportedMemory::Open("short"),
      StatusIs(absl::StatusCode::kInvalidArgument, "cuda_ipc.handle: must have 64 bytes (got 5)"));
}

}  // namespace
}  // namespace gdnplan::cuda
