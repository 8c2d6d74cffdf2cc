// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/report_html.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "client/load/plots.h"
#include "tests/client/load/some_result.h"
#include "tests/client/load/xml_checker.h"

namespace gdnplan::load {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Of all attributes of that name.
std::vector<std::string> Values(const std::string& html, const std::string& attribute) {
  const std::string start = " " + attribute + "=\"";
  std::vector<std::string> values;
  for (size_t at = html.find(start); at != std::string::npos; at = html.find(start, at + 1)) {
    const size_t begin = at + start.size();
    values.push_back(html.substr(begin, html.find('"', begin) - begin));
  }
  return values;
}

TEST(XmlCheckerTest, FindsWhatIsWrong) {
  EXPECT_THAT(CheckXml("<a b=\"1\"><c/>&amp; text</a>"), IsEmpty());
  for (const char* text :
       {"<a>", "<a></b>", "</a>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a>&</a>", "<a>&what;</a>",
        "<a b=\"&\"/>", "<a>&#;</a>", "<a>&#39</a>", "<a b=\"1\"c=\"2\"/>", "<a"}) {
    EXPECT_THAT(CheckXml(text), Not(IsEmpty())) << text;
  }
}

TEST(ReportHtmlTest, HasTheFiguresAndThePlots) {
  const std::string html = ToHtml(SomeResult());
  EXPECT_THAT(CheckXml(html), IsEmpty());
  EXPECT_EQ(Count(html, "<svg "), 3u);
  EXPECT_THAT(html, HasSubstr("shape <b>spec=256,k=3,groups=4</b>"));
  EXPECT_THAT(html, HasSubstr("device_names <b>NVIDIA H200, NVIDIA H200</b>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">stable.percent</th><td>5</td>"));
  EXPECT_THAT(html, HasSubstr("error: RESOURCE_EXHAUSTED"));
  EXPECT_THAT(html, HasSubstr("from intended start"));
  EXPECT_THAT(html, HasSubstr("p99.99"));
  EXPECT_THAT(html, HasSubstr("no answer")) << "the stall";
}

TEST(ReportHtmlTest, NeedsNothingElse) {
  const std::string html = ToHtml(SomeResult());
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_EQ(Count(html, "http://"), 3u) << "the name space of SVG alone";
}

TEST(ReportHtmlTest, WhatPlotsAreLabelledByIsThereOnce) {
  const std::string html = ToHtml(SomeResult());
  std::set<std::string> ids;
  for (const std::string& id : Values(html, "id")) EXPECT_TRUE(ids.insert(id).second) << id;
  const std::vector<std::string> labels = Values(html, "aria-labelledby");
  EXPECT_EQ(labels.size(), 3u);
  for (const std::string& label : labels) {
    const size_t space = label.find(' ');
    EXPECT_TRUE(ids.contains(label.substr(0, space))) << label;
    EXPECT_TRUE(ids.contains(label.substr(space + 1))) << label;
  }
}

TEST(ReportHtmlTest, EscapesWhatComesFromElsewhere) {
  const std::string evil = "<script>alert('1')</script>\"&\x01\xff";
  Result result = SomeResult();
  result.parameters["shape"] = evil;
  result.parameters[evil] = {{evil, evil}};
  result.errors[evil] = 1;
  result.plans_by_kind[evil] = 1;
  const std::string html = ToHtml(result);
  EXPECT_THAT(CheckXml(html), IsEmpty());
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("\x01")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;"));
}

TEST(ReportHtmlTest, Nothing) {
  const std::string html = ToHtml(Result());
  EXPECT_THAT(CheckXml(html), IsEmpty());
  EXPECT_THAT(html, HasSubstr("No plan was answered"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(ReportHtmlTest, OnlyErrors) {
  Result result;
  result.seconds = 1;
  result.errors["UNAVAILABLE"] = 5;
  result.timeline.push_back({0, 1, {}, 5});
  const std::string html = ToHtml(result);
  EXPECT_THAT(CheckXml(html), IsEmpty());
  EXPECT_THAT(html, HasSubstr("<title>0 s to 1 s: 0.00 plans/s, 5 errors</title>"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(ReportHtmlTest, OneIntervalShowsItsPoints) {
  Result result;
  result.timeline.push_back({0, 1, {}, 0});
  result.timeline[0].latency.Record(61'000);
  result.latency = result.service = result.timeline[0].latency;
  result.plans = 1;
  result.seconds = 1;
  const std::string html = ToHtml(result);
  EXPECT_THAT(CheckXml(html), IsEmpty());
  EXPECT_EQ(Count(html, "<circle"), 3u);
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(ReportHtmlTest, HugeAndTinyValues) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  Result result;
  result.seconds = 1e-9;
  result.plans = kMost;
  result.skipped = result.request_bytes = result.plan_bytes = kMost;
  result.timeline.push_back({0, 1e-9, {}, kMost});
  result.timeline.push_back({1e9, 0, {}, 0});
  for (const int64_t ns : {int64_t{0}, int64_t{1}, std::numeric_limits<int64_t>::max()}) {
    result.timeline[0].latency.Record(ns);
  }
  result.latency = result.timeline[0].latency;
  const std::string html = ToHtml(result);
  EXPECT_THAT(CheckXml(html), IsEmpty());
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf\"")));
}

TEST(ReportHtmlTest, LongRunsStaySmall) {
  Result result = SomeResult();
  const std::vector<Interval> minute = result.timeline;
  result.timeline.clear();
  for (int i = 0; i < 20 * 60; ++i) {
    result.timeline.push_back(minute[static_cast<size_t>(i % 60)]);
    result.timeline.back().start_s = i;
  }
  EXPECT_LT(ToHtml(result).size(), 200'000u);
}

TEST(ShortenTest, KeepsCountsAndTime) {
  std::vector<Interval> timeline;
  for (int i = 0; i < 10; ++i) {
    timeline.push_back({static_cast<double>(i), 1, {}, 1});
    timeline.back().latency.Record(i + 1);
  }
  const std::vector<Interval> shorter = Shorten(timeline, 4);
  ASSERT_EQ(shorter.size(), 4u);
  EXPECT_EQ(shorter[1].start_s, 3);
  EXPECT_EQ(shorter[1].seconds, 3);
  EXPECT_EQ(shorter[1].errors, 3u);
  EXPECT_EQ(shorter[1].latency.count(), 3u);
  EXPECT_EQ(shorter[3].seconds, 1);
  EXPECT_EQ(Shorten(timeline, 10).size(), 10u);
  EXPECT_TRUE(Shorten({}, 10).empty());
}

}  // namespace
}  // namespace gdnplan::load
