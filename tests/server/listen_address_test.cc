// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/listen_address.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::ListenAddress;
using ::testing::HasSubstr;

TEST(ListenAddressTest, UnixSockets) {
  for (const char* text : {"unix:/run/x.sock", "unix:///run/x.sock"}) {
    const auto address = ListenAddress::Parse(text);
    ASSERT_THAT(address, IsOk());
    EXPECT_TRUE(address->is_unix());
    EXPECT_EQ(address->socket_path, "/run/x.sock");
    EXPECT_EQ(address->target(), "unix:/run/x.sock");
    EXPECT_EQ(address->ToString(1), "unix:/run/x.sock");
  }
  // Whoever reads the address may stand elsewhere.
  EXPECT_EQ(ListenAddress::Parse("unix:x.sock")->socket_path,
            (std::filesystem::current_path() / "x.sock").string());
}

TEST(ListenAddressTest, Tcp) {
  const struct {
    const char* text;
    const char* target;
    const char* chosen;
  } cases[] = {{"localhost:0", "localhost:0", "localhost:77"},
               {"0.0.0.0:50051", "0.0.0.0:50051", "0.0.0.0:77"},
               {"[::1]:0", "[::1]:0", "[::1]:77"},
               {"ipv4:127.0.0.1:0", "127.0.0.1:0", "ipv4:127.0.0.1:77"},
               {"ipv6:[::]:65535", "[::]:65535", "ipv6:[::]:77"},
               {"dns:localhost:1", "localhost:1", "dns:localhost:77"}};
  for (const auto& c : cases) {
    const auto address = ListenAddress::Parse(c.text);
    ASSERT_THAT(address, IsOk());
    EXPECT_FALSE(address->is_unix());
    EXPECT_EQ(address->target(), c.target);
    EXPECT_EQ(address->ToString(77), c.chosen);
  }
}

TEST(ListenAddressTest, RefusesAllElse) {
  for (const char* text :
       {"", "localhost", ":1", "localhost:", "localhost:x", "localhost:65536", "localhost:-1",
        "::1:80", "[]:80", "unix:", "unix:/run/", "unix://run/x.sock", "unix:/a%20b", "unix:/a?b",
        "unix:/a#b", "unix-abstract:x", "http://localhost:80", "unix:/a\nb"}) {
    EXPECT_THAT(ListenAddress::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("listen: ")))
        << text;
  }
  EXPECT_THAT(ListenAddress::Parse("unix-abstract:x"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("permissions")));
}

TEST(ListenAddressTest, LimitsThePath) {
  const std::string longest = "/" + std::string(106, 'x');
  EXPECT_THAT(ListenAddress::Parse("unix:" + longest), IsOk());
  EXPECT_THAT(
      ListenAddress::Parse("unix:" + longest + "x"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 107 bytes, this has 108")));
}

}  // namespace
}  // namespace gdnplan::test
