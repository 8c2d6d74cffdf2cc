// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/report_json.h"

#include <gmock/gmock.h>

#include "tests/client/load/some_result.h"

namespace gdnplan::load {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ReportJsonTest, Everything) {
  const Result result = SomeResult();
  const Json json = Json::parse(ToJsonText(result));
  EXPECT_EQ(json["format"], "gdnplan-load-1");
  EXPECT_EQ(json["parameters"], result.parameters);
  EXPECT_EQ(json["seconds"], 60);
  EXPECT_EQ(json["plans"], result.plans);
  EXPECT_DOUBLE_EQ(json["plans_per_s"].get<double>(), result.rate());
  EXPECT_EQ(json["num_errors"], 60);
  EXPECT_EQ(json["errors"]["RESOURCE_EXHAUSTED"], 60);
  EXPECT_EQ(json["skipped"], 12);
  EXPECT_EQ(json["delayed"], 345);
  EXPECT_EQ(json["verified"], 370);
  EXPECT_EQ(json["mismatches"], 0);
  EXPECT_EQ(json["plans_by_kind"]["mixed"], 1'000);
  EXPECT_EQ(json["request_bytes"], result.request_bytes);
  EXPECT_EQ(json["plan_bytes"], result.plan_bytes);
  for (const auto& [name, latency] :
       {std::pair("latency", &result.latency), std::pair("service", &result.service),
        std::pair("server", &result.server)}) {
    const Json& figures = json[name];
    EXPECT_EQ(figures["count"], result.plans);
    EXPECT_EQ(figures["ns"]["p99.99"], latency->Percentile(99.99));
    EXPECT_EQ(figures["ns"]["max"], latency->max_ns());
    EXPECT_DOUBLE_EQ(figures["us"]["p50"].get<double>(),
                     static_cast<double>(latency->Percentile(50)) / 1e3);
    uint64_t sum = 0;
    for (const Json& bucket : figures["buckets"]) sum += bucket["count"].get<uint64_t>();
    EXPECT_EQ(sum, result.plans);
  }
  ASSERT_EQ(json["timeline"].size(), 60u);
  EXPECT_EQ(json["timeline"][46]["start_s"], 46);
  EXPECT_EQ(json["timeline"][46]["errors"], 20);
  EXPECT_EQ(json["timeline"][46]["plans"], result.timeline[46].latency.count());
  EXPECT_EQ(json["timeline"][30]["plans"], 0);
  EXPECT_TRUE(json["timeline"][30]["latency"]["ns"].is_null()) << "none is not zero";
}

TEST(ReportJsonTest, GoodputIsThereIfItWasAskedFor) {
  Result result = SomeResult();
  EXPECT_FALSE(ToJson(result).contains("goodput_per_s"));
  result.objective_ns = 10'000'000'000;
  EXPECT_EQ(ToJson(result)["goodput_per_s"], result.rate());
}

TEST(ReportJsonTest, WhatIsNoUtf8IsReplaced) {
  Result result;
  result.parameters["device"] =
      "H\xff"
      "200";
  EXPECT_EQ(Json::parse(ToJsonText(result))["parameters"]["device"],
            "H\xef\xbf\xbd"
            "200");
}

TEST(ReportJsonTest, Nothing) {
  const Json json = ToJson(Result());
  EXPECT_EQ(json["plans_per_s"], 0);
  EXPECT_TRUE(json["latency"]["us"].is_null());
  EXPECT_TRUE(json["timeline"].empty());
}

TEST(ReportCsvTest, ALineForEachBucket) {
  Histogram latency;
  for (const int64_t ns : {10, 10, 10, 1'000'000}) latency.Record(ns);
  const std::string csv = ToCsv(latency);
  EXPECT_THAT(csv, HasSubstr("low_us,high_us,count,cumulative_percent\n"
                             "0.010,0.011,3,75.000000\n"));
  EXPECT_THAT(csv, EndsWith(",1,100.000000\n"));
  EXPECT_EQ(ToCsv(Histogram()), "low_us,high_us,count,cumulative_percent\n");
}

}  // namespace
}  // namespace gdnplan::load
