// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "server/mutex.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::Mutex;
using server::MutexLock;
using server::Peer;
using server::UnixAcceptor;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;

class UnixAcceptorTest : public ::testing::Test {
 protected:
  UnixAcceptorTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gdnplan-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    path_ = (root_ / "x.sock").string();
  }
  ~UnixAcceptorTest() override {
    acceptor_.reset();
    std::filesystem::remove_all(root_);
  }

  void Start(std::vector<uid_t> allowed) {
    auto acceptor =
        UnixAcceptor::Listen({path_}, std::move(allowed),
                             {.accepted =
                                  [this](const Peer& peer, int fd) {
                                    Keep(accepted_, peer);
                                    close(fd);
                                  },
                              .refused = [this](const Peer& peer) { Keep(refused_, peer); },
                              .held_up = [](const std::string&) {}});
    ASSERT_THAT(acceptor, IsOk());
    acceptor_ = *std::move(acceptor);
    acceptor_->Start();
  }
  // Connects and waits until the acceptor's end is closed. 0: it was.
  static int Visit(const std::string& path) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    int result = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    char byte = 0;
    if (result == 0) result = static_cast<int>(read(fd, &byte, 1));
    close(fd);
    return result;
  }
  // The same by a process of that user.
  int VisitAs(uid_t user) const {
    const pid_t pid = fork();
    if (pid == 0) _exit(setgid(user) != 0 || setuid(user) != 0 || Visit(path_) != 0 ? 1 : 0);
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }
  // Once no more is added.
  std::vector<Peer> Stop(const std::vector<Peer>& peers) {
    acceptor_->Stop();
    MutexLock lock(mutex_);
    return peers;
  }

  std::filesystem::path root_;
  std::string path_;
  Mutex mutex_;
  std::vector<Peer> accepted_;
  std::vector<Peer> refused_;
  std::unique_ptr<UnixAcceptor> acceptor_;

 private:
  void Keep(std::vector<Peer>& peers, const Peer& peer) {
    MutexLock lock(mutex_);
    peers.push_back(peer);
  }
};

TEST_F(UnixAcceptorTest, KnowsWhoConnects) {
  const mode_t before = umask(077);
  Start({});
  umask(before);
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0660u);
  EXPECT_EQ(Visit(path_), 0);
  const std::vector<Peer> peers = Stop(accepted_);
  ASSERT_EQ(peers.size(), 1u);
  EXPECT_EQ(peers[0].pid, getpid());
  EXPECT_EQ(peers[0].uid, geteuid());
  EXPECT_EQ(peers[0].gid, getegid());
}

TEST_F(UnixAcceptorTest, ItsOwnUserNeedsNoPermission) {
  Start({geteuid() + 1});
  EXPECT_EQ(Visit(path_), 0);
  EXPECT_EQ(Stop(accepted_).size(), 1u);
}

TEST_F(UnixAcceptorTest, RefusesOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  Start({kNobody - 1});
  // What the modes alone would let in.
  ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_EQ(VisitAs(kNobody), 0);
  EXPECT_EQ(VisitAs(kNobody - 1), 0);
  const std::vector<Peer> accepted = Stop(accepted_);
  ASSERT_EQ(accepted.size(), 1u);
  EXPECT_EQ(accepted[0].uid, kNobody - 1);
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_EQ(refused_[0].uid, kNobody);
}

TEST_F(UnixAcceptorTest, AfterStopNobodyConnects) {
  Start({});
  acceptor_->Stop();
  EXPECT_EQ(Visit(path_), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST_F(UnixAcceptorTest, SaysWhereItCannotListen) {
  const std::string path = (root_ / "missing" / "x.sock").string();
  EXPECT_THAT(UnixAcceptor::Listen({path}, {}, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("listen on unix:" + path)));
}

}  // namespace
}  // namespace gdnplan::test
