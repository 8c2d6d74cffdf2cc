// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/listening_socket.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::ListeningSocket;
using server::ListenTcp;
using server::TcpSockets;
using ::testing::AllOf;
using ::testing::HasSubstr;

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

void Close(const TcpSockets& sockets) {
  for (const ListeningSocket& socket : sockets.sockets) close(socket.fd);
}

TEST(ListenTcpTest, GivesItsConnectionsWhatTheyNeed) {
  const auto sockets = ListenTcp("127.0.0.1", 0);
  ASSERT_THAT(sockets, IsOk());
  ASSERT_EQ(sockets->sockets.size(), 1u);
  EXPECT_EQ(sockets->sockets[0].kind, ListeningSocket::Kind::kTcp);
  EXPECT_GT(sockets->port, 0);
  const int client = Connect(sockets->port);
  const int fd = accept4(sockets->sockets[0].fd, nullptr, nullptr, SOCK_CLOEXEC);
  ASSERT_GE(fd, 0);
  int value = 0;
  socklen_t size = sizeof(value);
  ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size), 0);
  EXPECT_NE(value, 0);
  ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &size), 0);
  EXPECT_EQ(value, 10'000);
  close(fd);
  close(client);
  Close(*sockets);
}

TEST(ListenTcpTest, AnyNamesMeansIpv4Too) {
  for (const char* host : {"0.0.0.0", "[::]", "localhost"}) {
    const auto sockets = ListenTcp(host, 0);
    // A machine without IPv6.
    if (!sockets.ok() && host == std::string("[::]")) continue;
    ASSERT_THAT(sockets, IsOk()) << host;
    close(Connect(sockets->port));
    Close(*sockets);
  }
}

TEST(ListenTcpTest, SaysWhereItCannotListen) {
  const auto first = ListenTcp("127.0.0.1", 0);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(ListenTcp("127.0.0.1", first->port),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("127.0.0.1:" + std::to_string(first->port)),
                             HasSubstr("Address already in use"))));
  Close(*first);
  // Of documentation: no machine has it.
  EXPECT_THAT(ListenTcp("192.0.2.1", 0),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("192.0.2.1")));
  EXPECT_THAT(ListenTcp("nowhere.invalid", 0),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nowhere.invalid")));
}

TEST(ListenUnixTest, SaysWhereItCannotListen) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "gdnplan-missing" / "x.sock").string();
  EXPECT_THAT(server::ListenUnix(path),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("listen on unix:" + path)));
}

}  // namespace
}  // namespace gdnplan::test
