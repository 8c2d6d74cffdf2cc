// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Whether a worker that stops harms the sessions of others: many sessions on one server, of which
// some stop to consume. Exit status 1: one of the others did not get all its plans, or a plan was
// wrong, or no session can be opened and closed meanwhile.
#include "tests/gpu/crowd.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>

#include "gdnplan/plan/status.h"
#include "tests/gpu/workload.h"

namespace gdnplan::test {

absl::StatusOr<std::vector<std::unique_ptr<CrowdSession>>> OpenSessions(
    const client::Client& client, const CrowdOptions& options, int count, uint64_t first) {
  std::vector<std::unique_ptr<CrowdSession>> sessions;
  for (int i = 0; i < count; ++i) {
    CrowdSessionOptions own = options.session;
    own.seed = first + static_cast<uint64_t>(i);
    GDNPLAN_ASSIGN_OR_RETURN(auto session, CrowdSession::Open(client, own));
    sessions.push_back(std::move(session));
  }
  return sessions;
}

std::string DescribeTimes(std::vector<std::unique_ptr<CrowdSession>>& sessions) {
  std::vector<double> times;
  for (const auto& session : sessions) {
    const std::vector<double> own = session->TakeTimes();
    times.insert(times.end(), own.begin(), own.end());
  }
  if (times.empty()) return "no plans";
  std::sort(times.begin(), times.end());
  char text[96];
  std::snprintf(text, sizeof(text), "%zu plans: median %.3f ms, max %.3f ms", times.size(),
                times[times.size() / 2], times.back());
  return text;
}

namespace {

using Clock = std::chrono::steady_clock;

const std::map<std::string, client::TimelinePlace> kPlaces = {
    {"arena", client::TimelinePlace::kArena}, {"page", client::TimelinePlace::kHostPage}};
const std::map<std::string, Stop> kStops = {{"silent", Stop::kSilent}, {"stuck", Stop::kStuck}};

void Describe(CLI::App& app, CrowdOptions& options) {
  app.option_defaults()->always_capture_default();
  app.add_option("--server", options.server, "Its address")->required()->envname("GDNPLAN_SERVER");
  app.add_option("--device", options.session.device, "The GPU's id (default: the first)");
  app.add_option("--plans", options.plans, "Plans of each session that goes on");
  app.add_option("--sessions", options.sessions, "Sessions in all");
  app.add_option("--stopped", options.stopped, "How many of them stop");
  app.add_option("--how", options.how,
                 "silent: they promise nothing any more; stuck: they promise, but their streams "
                 "never get there")
      ->transform(CLI::CheckedTransformer(kStops).description(""))
      ->default_str("silent");
  app.add_option("--timeline", options.session.timeline, "arena or page")
      ->transform(CLI::CheckedTransformer(kPlaces).description(""))
      ->default_str("arena");
  app.add_option("--timeout", options.timeout_s, "Seconds that the others have");
  app.add_option("--stopped-of", options.stopped_of, "")->group("");
}

// The process of the sessions that stop.
struct StoppedProcess {
  ChildProcess process;
  UniqueFd command;
  UniqueFd done;

  static absl::StatusOr<StoppedProcess> Start(const std::vector<std::string>& arguments) {
    GDNPLAN_ASSIGN_OR_RETURN(Pipe command, Pipe::Create());
    GDNPLAN_ASSIGN_OR_RETURN(Pipe done, Pipe::Create());
    const int fds[] = {command.read.get(), done.write.get()};
    GDNPLAN_ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Spawn(arguments, fds));
    return StoppedProcess{std::move(process), std::move(command.write), std::move(done.read)};
  }
  absl::Status Tell() const {
    const char byte = 0;
    return write(command.get(), &byte, 1) == 1 ? absl::OkStatus() : ErrnoStatus("write");
  }
  absl::Status AwaitDone() const {
    char byte = 0;
    if (read(done.get(), &byte, 1) == 1) return absl::OkStatus();
    return absl::AbortedError("the process of the stopped sessions ended");
  }
};

absl::Status PlanAll(CrowdSession& session, int plans) {
  GDNPLAN_RETURN_IF_ERROR(session.UseGpu());
  for (int i = 0; i < plans; ++i) GDNPLAN_RETURN_IF_ERROR(session.Step());
  return session.Finish();
}

// How many got all their plans, right ones, within the time. Threads that do not end are left
// behind: the caller must end the process then.
size_t RunOthers(std::vector<std::unique_ptr<CrowdSession>>& sessions,
                 const CrowdOptions& options) {
  static std::atomic<size_t> ended;
  static std::atomic<size_t> finished;
  for (const auto& session : sessions) {
    std::thread([session = session.get(), plans = options.plans] {
      const absl::Status status = PlanAll(*session, plans);
      if (status.ok()) ++finished;
      if (!status.ok()) {
        std::fprintf(stderr, "gdnplan-crowd: a session that goes on: %s\n",
                     status.ToString().c_str());
      }
      ++ended;
    }).detach();
  }
  const Clock::time_point end = Clock::now() + std::chrono::seconds(options.timeout_s);
  while (ended < sessions.size() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Times are read only of threads that are gone.
  if (ended == sessions.size()) {
    std::printf("others: %zu sessions, %s\n", sessions.size(), DescribeTimes(sessions).c_str());
  }
  return finished;
}

// Nothing that the server does for this may wait for the stopped ones.
absl::Status OpenAndClose(const client::Client& client, const CrowdOptions& options) {
  client::SessionOptions session_options;
  if (!options.session.device.empty()) session_options.devices = {options.session.device};
  session_options.timeline = options.session.timeline;
  session_options.map_now = false;
  const Clock::time_point start = Clock::now();
  GDNPLAN_ASSIGN_OR_RETURN(client::Session session,
                           client.OpenSession(MixedConfig(), session_options));
  const Clock::time_point opened = Clock::now();
  GDNPLAN_RETURN_IF_ERROR(session.Close());
  const Clock::time_point closed = Clock::now();
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::printf("one more session meanwhile: opened in %.1f ms, closed in %.1f ms\n",
              Milliseconds(opened - start).count(), Milliseconds(closed - opened).count());
  return absl::OkStatus();
}

absl::StatusOr<bool> Run(const CrowdOptions& options, const std::vector<std::string>& arguments) {
  const int num_others = options.sessions - options.stopped;
  GDNPLAN_ASSIGN_OR_RETURN(
      const client::Client client,
      client::Client::Connect(options.server, {.open_deadline = std::chrono::seconds(20)}));
  GDNPLAN_ASSIGN_OR_RETURN(StoppedProcess stopped, StoppedProcess::Start(arguments));
  GDNPLAN_ASSIGN_OR_RETURN(auto others, OpenSessions(client, options, num_others, /*first=*/1));
  GDNPLAN_RETURN_IF_ERROR(stopped.AwaitDone());
  GDNPLAN_RETURN_IF_ERROR(stopped.Tell());
  GDNPLAN_RETURN_IF_ERROR(stopped.AwaitDone());

  const size_t finished = RunOthers(others, options);
  const absl::Status reopened = OpenAndClose(client, options);
  if (!reopened.ok()) {
    std::printf("one more session meanwhile: %s\n", reopened.ToString().c_str());
  }
  std::printf("others finished %zu of %d\n", finished, num_others);
  std::fflush(stdout);
  if (finished != others.size()) _exit(1);
  GDNPLAN_RETURN_IF_ERROR(stopped.Tell());
  GDNPLAN_RETURN_IF_ERROR(stopped.process.Wait(std::chrono::seconds(60)));
  return reopened.ok();
}

int Main(int argc, char** argv) {
  // Before any use of CUDA: streams shall share hardware queues as little as can be.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/1);
  signal(SIGPIPE, SIG_IGN);
  CLI::App app("Checks that workers that stop harm no other session of a server.");
  CrowdOptions options;
  Describe(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.stopped_of != 0) return RunStopped(options);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  arguments.push_back("--stopped-of=" + std::to_string(getpid()));
  const absl::StatusOr<bool> passed = Run(options, arguments);
  if (passed.ok()) return *passed ? 0 : 1;
  std::fprintf(stderr, "gdnplan-crowd: %s\n", passed.status().ToString().c_str());
  std::fflush(stdout);
  _exit(1);
}

}  // namespace
}  // namespace gdnplan::test

int main(int argc, char** argv) { return gdnplan::test::Main(argc, argv); }
