// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How a load is put on a server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/step_source.h"
#include "gdnplan/client/client.h"

namespace gdnplan::load {

// When requests start.
enum class Pace : uint8_t {
  kClosed,    // as soon as there is room: `concurrency` of them are under way
  kConstant,  // `rate` a second
  kPoisson,   // `rate` a second on average, at random
  kTrace,     // when the workload's steps are due
};

// Of open loops. Once in eleven days: slower ones are a slip, and times in nanoseconds still hold
// what is due for a thousand sessions.
constexpr double kMinRate = 1e-6;

enum class Transport : uint8_t { kStream, kUnary };
enum class Verify : uint8_t { kNone, kSample, kAll };

struct LoadOptions {
  std::string address;  // the server's, for what is said of it
  int sessions = 1;
  int connections = 1;  // shared by the sessions
  Transport transport = Transport::kStream;
  bool poll = false;  // see client::StreamOptions
  std::vector<std::string> devices;
  // Requests of one session under way at most, which the server decides; with unary calls 1.
  int max_in_flight = 16;
  std::chrono::milliseconds deadline{30'000};  // of a request

  Pace pace = Pace::kClosed;
  int concurrency = 1;  // of all sessions together
  double rate = 0;      // of all sessions together, a second; at least kMinRate in open loops
  uint64_t seed = 1;

  Verify verify = Verify::kNone;
  int sample_every = 64;  // of a session's plans, one is compared

  SourceMaker source;
  UsualSize usual;  // for it
  // Told of each wrong plan: what is wrong, and with which batch. On several threads at a time.
  std::function<void(const plan::PlanConfig& config, const json::OwnedBatch& batch,
                     const std::vector<std::string>& mismatches)>
      on_mismatch;
};

}  // namespace gdnplan::load
