// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/loopback.h"

#include <gtest/gtest.h>

namespace gdnplan::test {
namespace {

TEST(LoopbackTest, Hosts) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.10", "::1", "[::1]"}) {
    EXPECT_TRUE(wire::IsLoopback(host)) << host;
  }
  for (const char* host : {"", "0.0.0.0", "128.0.0.1", "127.0.0.1.example", "127.1x", "[::]",
                           "::", "localhost.example", "[localhost", "10.0.0.1"}) {
    EXPECT_FALSE(wire::IsLoopback(host)) << host;
  }
}

TEST(LoopbackTest, Addresses) {
  for (const char* address :
       {"unix:/x", "unix:///x", "unix-abstract:x", "localhost:1", "127.0.0.1:1", "[::1]:1",
        "ipv4:127.0.0.1:1", "ipv6:[::1]:1", "dns:///localhost:1", "dns:localhost", "[::1]"}) {
    EXPECT_TRUE(wire::StaysOnThisMachine(address)) << address;
  }
  for (const char* address : {"", "example:1", "192.0.2.1:1", "ipv4:127.0.0.1:1,192.0.2.1:1",
                              "dns://192.0.2.1/localhost:1", "xds:///localhost", "[::]:1"}) {
    EXPECT_FALSE(wire::StaysOnThisMachine(address)) << address;
  }
}

}  // namespace
}  // namespace gdnplan::test
