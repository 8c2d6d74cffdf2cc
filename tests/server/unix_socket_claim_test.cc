// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/unix_socket_claim.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {
namespace {

using server::UnixSocketClaim;
using ::testing::HasSubstr;

class UnixSocketClaimTest : public ::testing::Test {
 protected:
  UnixSocketClaimTest() { path_ = (root_ / "run" / "x.sock").string(); }

  // A bound socket's descriptor.
  int Bind() const {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path root_{directory_.path()};
  std::string path_;
};

TEST_F(UnixSocketClaimTest, MakesTheDirectoryAndCleansUp) {
  {
    const auto claim = UnixSocketClaim::Take(path_);
    ASSERT_THAT(claim, IsOk());
    struct stat info {};
    ASSERT_EQ(stat((root_ / "run").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0750u);
    EXPECT_TRUE(std::filesystem::exists(path_ + ".lock"));
    close(Bind());
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
}

TEST_F(UnixSocketClaimTest, MakesNoMoreThanOneDirectory) {
  EXPECT_THAT(UnixSocketClaim::Take((root_ / "a" / "b" / "x.sock").string()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot make the directory")));
}

TEST_F(UnixSocketClaimTest, TheSecondIsRefusedAndTouchesNothing) {
  auto first = UnixSocketClaim::Take(path_);
  ASSERT_THAT(first, IsOk());
  const int fd = Bind();
  EXPECT_THAT(UnixSocketClaim::Take(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("process " + std::to_string(getpid()))));
  EXPECT_TRUE(std::filesystem::exists(path_));
  close(fd);
  std::optional<UnixSocketClaim> moved(*std::move(first));
  moved.reset();
  EXPECT_THAT(UnixSocketClaim::Take(path_), IsOk());
}

TEST_F(UnixSocketClaimTest, RemovesAStaleSocket) {
  std::filesystem::create_directory(root_ / "run");
  close(Bind());
  ASSERT_TRUE(std::filesystem::exists(path_));
  const auto claim = UnixSocketClaim::Take(path_);
  ASSERT_THAT(claim, IsOk());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketClaimTest, LeavesALiveSocketWithoutALockAlone) {
  std::filesystem::create_directory(root_ / "run");
  const int fd = Bind();
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_THAT(UnixSocketClaim::Take(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("some other program")));
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
  close(fd);
}

TEST_F(UnixSocketClaimTest, LeavesOtherFilesAlone) {
  std::filesystem::create_directory(root_ / "run");
  std::ofstream(path_) << "precious";
  EXPECT_THAT(UnixSocketClaim::Take(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not a socket")));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace gdnplan::test
