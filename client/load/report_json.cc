// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/report_json.h"

#include <array>
#include <utility>

#include "absl/strings/str_format.h"

namespace gdnplan::load {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<const char*, double>, 5> kPercentiles = {
    {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99}}};

// Of none there are no figures: null.
Json Figures(const Histogram& latency) {
  if (latency.count() == 0) return {{"count", 0}, {"ns", nullptr}, {"us", nullptr}};
  Json ns = {{"min", latency.min_ns()}, {"mean", latency.mean_ns()}};
  for (const auto& [name, percentile] : kPercentiles) ns[name] = latency.Percentile(percentile);
  ns["max"] = latency.max_ns();
  Json us = Json::object();
  for (const auto& [name, value] : ns.items()) us[name] = value.get<double>() / 1e3;
  return {{"count", latency.count()}, {"ns", std::move(ns)}, {"us", std::move(us)}};
}

Json WithBuckets(const Histogram& latency) {
  Json json = Figures(latency);
  Json& buckets = json["buckets"] = Json::array();
  for (const Histogram::Bucket& bucket : latency.NonEmpty()) {
    buckets.push_back(
        {{"low_ns", bucket.low_ns}, {"high_ns", bucket.high_ns}, {"count", bucket.count}});
  }
  return json;
}

double PerSecond(uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

Json ToJson(const Interval& interval) {
  return {{"start_s", interval.start_s},
          {"seconds", interval.seconds},
          {"plans", interval.latency.count()},
          {"plans_per_s", PerSecond(interval.latency.count(), interval.seconds)},
          {"errors", interval.errors},
          {"latency", Figures(interval.latency)}};
}

}  // namespace

Json ToJson(const Result& result) {
  Json json = {{"format", kResultFormat},
               {"parameters", result.parameters},
               {"seconds", result.seconds},
               {"plans", result.plans},
               {"plans_per_s", result.rate()},
               {"num_errors", result.num_errors()},
               {"errors", Json::object()},
               {"failures", Json::array()},
               {"skipped", result.skipped},
               {"delayed", result.delayed},
               {"verified", result.verified},
               {"mismatches", result.mismatches},
               {"plans_by_kind", Json::object()},
               {"request_bytes", result.request_bytes},
               {"request_bytes_per_s", result.PerSecond(static_cast<double>(result.request_bytes))},
               {"plan_bytes", result.plan_bytes},
               {"plan_bytes_per_s", result.PerSecond(static_cast<double>(result.plan_bytes))},
               {"latency", WithBuckets(result.latency)},
               {"service", WithBuckets(result.service)},
               {"server", WithBuckets(result.server)},
               {"timeline", Json::array()}};
  for (const auto& [code, count] : result.errors) json["errors"][code] = count;
  for (const auto& [kind, count] : result.plans_by_kind) json["plans_by_kind"][kind] = count;
  if (result.lost_after_s.has_value()) json["lost_after_s"] = *result.lost_after_s;
  for (const Failure& failure : result.failures) {
    json["failures"].push_back({{"session", failure.session},
                                {"plans", failure.plans},
                                {"after_s", failure.after_s},
                                {"call", failure.call},
                                {"code", failure.code},
                                {"reason", failure.reason}});
  }
  if (result.objective_ns > 0) {
    json["objective_ns"] = result.objective_ns;
    json["goodput_per_s"] = result.goodput();
  }
  for (const Interval& interval : result.timeline) json["timeline"].push_back(ToJson(interval));
  return json;
}

std::string ToText(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ToJsonText(const Result& result) { return ToText(ToJson(result)); }

std::string ToCsv(const Histogram& latency) {
  std::string csv = "low_us,high_us,count,cumulative_percent\n";
  uint64_t seen = 0;
  for (const Histogram::Bucket& bucket : latency.NonEmpty()) {
    seen += bucket.count;
    absl::StrAppendFormat(&csv, "%.3f,%.3f,%d,%.6f\n", static_cast<double>(bucket.low_ns) / 1e3,
                          static_cast<double>(bucket.high_ns) / 1e3, bucket.count,
                          100 * static_cast<double>(seen) / static_cast<double>(latency.count()));
  }
  return csv;
}

}  // namespace gdnplan::load
