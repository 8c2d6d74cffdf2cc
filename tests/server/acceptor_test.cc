// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
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
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {
namespace {

using server::Acceptor;
using server::ListeningSocket;
using server::Mutex;
using server::MutexLock;
using server::Peer;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;

class AcceptorTest : public ::testing::Test {
 protected:
  AcceptorTest() { path_ = (root_ / "x.sock").string(); }

  void Start(std::vector<uid_t> allowed) {
    const auto socket = server::ListenUnix(path_);
    ASSERT_THAT(socket, IsOk());
    StartOn({*socket}, std::move(allowed));
  }
  void StartOn(std::vector<ListeningSocket> sockets, std::vector<uid_t> allowed) {
    auto acceptor = Acceptor::Create(std::move(sockets), std::move(allowed),
                                     {.accepted =
                                          [this](const Peer& peer, int fd) {
                                            Keep(accepted_, peer);
                                            close(fd);
                                          },
                                      .accepted_tcp =
                                          [this](int fd) {
                                            Keep(accepted_, {});
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

  const TemporaryDirectory directory_;
  const std::filesystem::path root_{directory_.path()};
  std::string path_;
  Mutex mutex_;
  std::vector<Peer> accepted_;
  std::vector<Peer> refused_;
  std::unique_ptr<Acceptor> acceptor_;

 private:
  void Keep(std::vector<Peer>& peers, const Peer& peer) {
    MutexLock lock(mutex_);
    peers.push_back(peer);
  }
};

TEST_F(AcceptorTest, KnowsWhoConnects) {
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

TEST_F(AcceptorTest, ItsOwnUserNeedsNoPermission) {
  Start({geteuid() + 1});
  EXPECT_EQ(Visit(path_), 0);
  EXPECT_EQ(Stop(accepted_).size(), 1u);
}

TEST_F(AcceptorTest, RefusesOtherUsers) {
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

TEST_F(AcceptorTest, AfterStopNobodyConnects) {
  Start({});
  acceptor_->Stop();
  EXPECT_EQ(Visit(path_), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST_F(AcceptorTest, AcceptsOnTcpWhateverTheUser) {
  const auto tcp = server::ListenTcp("127.0.0.1", 0);
  ASSERT_THAT(tcp, IsOk());
  StartOn(tcp->sockets, {geteuid() + 1});
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(tcp->port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  char byte = 0;
  EXPECT_EQ(read(fd, &byte, 1), 0);
  close(fd);
  EXPECT_EQ(Stop(accepted_).size(), 1u);
}

}  // namespace
}  // namespace gdnplan::test
