// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gdnplan::test {
namespace {

using server::FormatEvent;
using server::LogFormat;

TEST(LogTest, TextHasTheFieldsAfterTheEvent) {
  EXPECT_EQ(FormatEvent(LogFormat::kText, "session opened", {{"session", 3}, {"name", "a b"}}),
            R"(session opened: session=3 name="a b")");
  EXPECT_EQ(FormatEvent(LogFormat::kText, "shutting down", {}), "shutting down");
}

TEST(LogTest, JsonHasThemAsTheyAre) {
  const std::string text =
      "{" + FormatEvent(LogFormat::kJson, "it said \"no\"", {{"session", 3}, {"name", "a\nb"}}) +
      "}";
  EXPECT_EQ(nlohmann::json::parse(text),
            nlohmann::json({{"event", "it said \"no\""}, {"session", 3}, {"name", "a\nb"}}));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(LogTest, WhatALimitLeftOutComesLast) {
  EXPECT_EQ(FormatEvent(LogFormat::kText, "session closed", {{"session", 3}}, 7),
            "session closed: session=3 left_out=7");
  EXPECT_EQ(FormatEvent(LogFormat::kJson, "gRPC", {}, 7), R"("event":"gRPC","left_out":7)");
  EXPECT_EQ(FormatEvent(LogFormat::kText, "session closed", {{"session", 3}}, 0),
            "session closed: session=3");
}

// Names come from clients.
TEST(LogTest, ALineStaysOneWhateverIsInIt) {
  const std::string bad = "x\r\n\x1b[31m\xff\x00y";
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string line = FormatEvent(format, "event", {{"name", bad}});
    for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
  }
}

}  // namespace
}  // namespace gdnplan::test
