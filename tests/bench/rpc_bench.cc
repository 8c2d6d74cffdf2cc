// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a plan costs its client, over a running server: from the call until "my stream waits for the
// plan", then until that stream passes its wait; or how many plans a second several sessions get.
// One line a case; --json for machines.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gdnplan/client/client.h"
#include "gdnplan/plan/status.h"
#include "tests/bench/measure.h"
#include "tests/bench/shapes.h"
#include "tests/bench/worker.h"

namespace gdnplan::bench {
namespace {

struct Options {
  std::string server;
  bool unary = false;
  bool poll = false;
  std::string shape;  // only those that contain it
  std::string label;
  std::vector<std::string> devices;
  std::vector<int> groups;  // instead of the shapes' own
  int steps = 2000;
  int warm_up = 300;
  int pause_us = 0;
  bool busy = false;
  std::vector<int> sessions;  // of a throughput measurement
  int in_flight = 8;
  double seconds = 2;
  bool json = false;
};

// A connection with a session and, unless unary, its stream.
struct Lane {
  client::Client client;
  client::Session session;
  std::optional<client::PlanStream> stream;
  std::vector<ShapedBatch> batches;

  static absl::StatusOr<Lane> Open(const Shape& shape, const Options& options, int num_slots) {
    GDNPLAN_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect(options.server));
    GDNPLAN_ASSIGN_OR_RETURN(
        client::Session session,
        client.OpenSession(ShapedBatch::Config(shape),
                           {.devices = options.devices, .num_slots = num_slots, .name = "bench"}));
    Lane lane{std::move(client), std::move(session), std::nullopt, {}};
    if (!options.unary) {
      GDNPLAN_ASSIGN_OR_RETURN(lane.stream, lane.session.OpenStream({.poll = options.poll}));
    }
    for (uint32_t seed = 1; seed <= 8; ++seed) lane.batches.emplace_back(shape, seed);
    return lane;
  }
  absl::StatusOr<client::PlanView> Plan(int step) {
    const plan::BatchView batch = batches[static_cast<size_t>(step) % batches.size()].view();
    return stream.has_value() ? stream->Plan(batch) : session.Plan(batch);
  }
};

void Print(const Options& options, nlohmann::json row, const std::string& text) {
  if (options.json) {
    row["label"] = options.label;
    row["transport"] = options.unary ? "unary" : "stream";
    row["client_polls"] = options.poll;
    std::printf("%s\n", row.dump().c_str());
  } else {
    std::printf("%s\n", text.c_str());
  }
  std::fflush(stdout);
}

absl::Status MeasureLatency(const Shape& shape, const Options& options) {
  GDNPLAN_ASSIGN_OR_RETURN(Lane lane, Lane::Open(shape, options, 1));
  GDNPLAN_ASSIGN_OR_RETURN(const std::unique_ptr<Worker> worker, MakeWorker(lane.session));
  std::unique_ptr<Load> load;
  if (options.busy) {
    GDNPLAN_ASSIGN_OR_RETURN(load, MakeLoad(lane.session));
  }
  std::vector<double> answered;
  std::vector<double> waits;
  std::vector<double> passed;
  std::vector<double> server;
  for (int step = 0; step < options.warm_up + options.steps; ++step) {
    const Clock::time_point start = Clock::now();
    GDNPLAN_ASSIGN_OR_RETURN(const client::PlanView plan, lane.Plan(step));
    const Clock::time_point got = Clock::now();
    GDNPLAN_RETURN_IF_ERROR(worker->WaitFor(lane.session, plan));
    const Clock::time_point waiting = Clock::now();
    GDNPLAN_RETURN_IF_ERROR(worker->Mark());
    while (!worker->Passed()) {
    }
    const Clock::time_point end = Clock::now();
    if (step >= options.warm_up) {
      answered.push_back(Microseconds(got - start));
      waits.push_back(Microseconds(waiting - start));
      passed.push_back(Microseconds(end - waiting));
      server.push_back(Microseconds(plan.record().server_time));
    }
    if (options.pause_us > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(options.pause_us));
    }
  }
  const Percentiles a = Summarize(answered);
  const Percentiles w = Summarize(waits);
  const Percentiles p = Summarize(passed);
  const Percentiles s = Summarize(server);
  char text[256];
  std::snprintf(
      text, sizeof(text),
      "%-28s answer %6.1f (p99 %7.1f)  stream waits %6.1f (p99 %7.1f)  passes after %6.1f "
      "(p99 %7.1f)  server %5.1f (p99 %6.1f) us",
      shape.name.c_str(), a.median_us, a.p99_us, w.median_us, w.p99_us, p.median_us, p.p99_us,
      s.median_us, s.p99_us);
  Print(options,
        {{"shape", shape.name},
         {"groups", shape.groups},
         {"devices", lane.session.info().arenas.size()},
         {"device", lane.session.info().arenas.front().device.name},
         {"steps", options.steps},
         {"pause_us", options.pause_us},
         {"busy", options.busy},
         {"answer_us", {a.median_us, a.p99_us}},
         {"stream_waits_us", {w.median_us, w.p99_us}},
         {"passes_after_us", {p.median_us, p.p99_us}},
         {"server_us", {s.median_us, s.p99_us}}},
        text);
  return lane.session.Close();
}

// Plans until `end`, with up to in_flight requests under way.
absl::Status Saturate(Lane& lane, const Options& options, const std::atomic<bool>& end,
                      std::atomic<int64_t>& count) {
  for (int step = 0; !end; ++step) {
    if (!lane.stream.has_value()) {
      GDNPLAN_RETURN_IF_ERROR(lane.Plan(step).status());
    } else {
      while (lane.stream->in_flight() < options.in_flight) {
        const size_t index = static_cast<size_t>(step++) % lane.batches.size();
        GDNPLAN_RETURN_IF_ERROR(lane.stream->Submit(lane.batches[index].view()));
      }
      GDNPLAN_RETURN_IF_ERROR(lane.stream->Next().status());
    }
    count.fetch_add(1, std::memory_order_relaxed);
  }
  return absl::OkStatus();
}

absl::Status MeasureThroughput(const Shape& shape, const Options& options, int sessions) {
  std::vector<Lane> lanes;
  for (int i = 0; i < sessions; ++i) {
    GDNPLAN_ASSIGN_OR_RETURN(Lane lane, Lane::Open(shape, options, 4));
    lanes.push_back(std::move(lane));
  }
  std::atomic<bool> end = false;
  std::atomic<int64_t> count = 0;
  std::vector<absl::Status> statuses(lanes.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < lanes.size(); ++i) {
    threads.emplace_back([&, i] { statuses[i] = Saturate(lanes[i], options, end, count); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const int64_t before = count;
  const Clock::time_point start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  const double seconds = Microseconds(Clock::now() - start) / 1e6;
  const int64_t plans = count - before;
  end = true;
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) GDNPLAN_RETURN_IF_ERROR(status);
  const double rate = static_cast<double>(plans) / seconds;
  char text[160];
  std::snprintf(text, sizeof(text), "%-28s %2d sessions, %2d in flight each: %9.0f plans/s",
                shape.name.c_str(), sessions, options.unary ? 1 : options.in_flight, rate);
  Print(options,
        {{"shape", shape.name},
         {"sessions", sessions},
         {"in_flight", options.unary ? 1 : options.in_flight},
         {"plans_per_s", rate}},
        text);
  return absl::OkStatus();
}

absl::Status Run(const Options& options) {
  for (Shape shape : StandardShapes()) {
    if (shape.name.find(options.shape) == std::string::npos) continue;
    std::vector<int> groups = options.groups;
    if (groups.empty()) groups.push_back(shape.groups);
    for (const int count : groups) {
      shape.groups = count;
      if (options.sessions.empty()) {
        GDNPLAN_RETURN_IF_ERROR(MeasureLatency(shape, options));
      }
      for (const int sessions : options.sessions) {
        GDNPLAN_RETURN_IF_ERROR(MeasureThroughput(shape, options, sessions));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace gdnplan::bench

int main(int argc, char** argv) {
  // As gdnplan-server does: otherwise distributions' Abseil does it at every lock in gRPC.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  CLI::App app("Times plans of a running server, as its client sees them");
  gdnplan::bench::Options options;
  app.option_defaults()->always_capture_default();
  app.add_option("--server", options.server, "Its address")->envname("GDNPLAN_SERVER");
  app.add_flag("--unary", options.unary, "Plan calls instead of one PlanStream");
  app.add_flag("--poll", options.poll, "The client polls for its answers");
  app.add_option("--shape", options.shape, "Only steps whose name contains this");
  app.add_option("--label", options.label, "For the JSON's reader");
  app.add_option("--device", options.devices, "Devices of the session (default: the first)");
  app.add_option("--groups", options.groups, "KV-cache groups instead of the steps' own");
  app.add_option("--steps", options.steps, "Measured steps a case")
      ->check(CLI::Range(1, 1000000))
      ->take_last();
  app.add_option("--pause-us", options.pause_us, "Sleep between steps");
  app.add_flag("--busy", options.busy,
               "This process keeps the GPU full meanwhile, as an engine does whose stream waits");
  app.add_option("--sessions", options.sessions,
                 "Throughput instead of latency, with as many sessions, each with a connection");
  app.add_option("--in-flight", options.in_flight, "Requests under way on each stream")
      ->check(CLI::Range(1, 16));
  app.add_option("--seconds", options.seconds, "Of a throughput measurement");
  app.add_flag("--json", options.json, "One JSON object a case");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = gdnplan::bench::Run(options);
  if (!status.ok()) std::fprintf(stderr, "gdnplan-rpc-bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
