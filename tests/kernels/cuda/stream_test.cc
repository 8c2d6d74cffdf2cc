// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/stream.h"

#include <cstddef>
#include <type_traits>

#include "tests/testing/gpu_test.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::cuda {
namespace {

using test::GpuTest;
using test::IsOk;

static_assert(!std::is_constructible_v<StreamView, int>);
static_assert(!std::is_constructible_v<StreamView, std::nullptr_t>);
static_assert(!std::is_copy_constructible_v<Stream> && std::is_move_constructible_v<Stream>);
static_assert(sizeof(Stream) == sizeof(void*));

class StreamTest : public GpuTest {};

TEST_F(StreamTest, HasTheDefaultPriority) {
  const auto stream = Stream::Create();
  ASSERT_THAT(stream, IsOk());
  int priority = 1;
  ASSERT_EQ(cudaStreamGetPriority(stream->view().get(), &priority), cudaSuccess);
  EXPECT_EQ(priority, 0);
}

TEST_F(StreamTest, DoesNotWaitForTheDefaultStream) {
  const auto stream = Stream::Create();
  ASSERT_TRUE(stream.ok()) << stream.status();
  unsigned flags = 0;
  ASSERT_EQ(cudaStreamGetFlags(stream->view().get(), &flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_THAT(stream->view().Synchronize(), IsOk());
}

}  // namespace
}  // namespace gdnplan::cuda
