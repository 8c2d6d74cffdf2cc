// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "tests/faults/board.h"
#include "tests/faults/gpu_memory.h"
#include "tests/faults/options.h"
#include "tests/faults/server_under_test.h"
#include "tests/testing/process.h"
#include "tests/testing/random_batch.h"

namespace gdnplan::test {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// A program that is started again whenever it ended or was killed.
struct Actor {
  std::vector<std::string> command;
  std::unique_ptr<Process> process;

  void Start() { process = std::make_unique<Process>(command); }
};

// Somebody that was stopped and goes on later.
struct Stopped {
  Clock::time_point until;
  Actor* actor = nullptr;  // nullptr: the server
};

class Controller {
 public:
  Controller(const FaultOptions& options, const Board& board)
      : options_(options), board_(board), random_(options.seed), server_(options) {
    AddActors();
  }

  absl::Status Run() {
    const Clock::time_point end = Clock::now() + std::chrono::seconds(options_.seconds);
    GDNPLAN_RETURN_IF_ERROR(server_.Start());
    GDNPLAN_RETURN_IF_ERROR(TakeBaseline());
    first_ = *server_.baseline;
    // In a soak the first round only warms up.
    const Milliseconds length(1000 * int64_t{options_.seconds} / (options_.soak ? 5 : 6));
    for (int round = 0; round == 0 || Clock::now() < end; ++round) {
      const Clock::time_point until = options_.soak && round > 0 ? end : Clock::now() + length;
      // A server survives two rounds of three, so that it can be compared with before.
      GDNPLAN_RETURN_IF_ERROR(Trouble(until, /*server_dies=*/round % 3 == 0));
      GDNPLAN_RETURN_IF_ERROR(Calm());
    }
    GDNPLAN_ASSIGN_OR_RETURN(last_, server_.Measure());
    return server_.End();
  }

  void Report() const {
    std::printf("server at first: %s\nserver at last:  %s\n", first_.Text().c_str(),
                last_.Text().c_str());
    std::printf(
        "%s of %d s: %llu kills of clients and workers, %llu of the server, %llu stops; %llu "
        "sessions, %llu attachments, %llu calls that failed; %llu times calm\n",
        options_.soak ? "soak" : "faults", options_.seconds, Number(kills_), Number(server_kills_),
        Number(stops_), Number(board_.sessions), Number(board_.attachments), Number(board_.errors),
        Number(calms_));
    std::printf("%llu plans checked by owners, %llu by workers, %llu wrong\n",
                Number(board_.checked_by_owners), Number(board_.checked_by_workers),
                Number(board_.wrong));
  }

 private:
  // As printf takes it.
  static unsigned long long Number(uint64_t value) { return value; }

  void AddActors() {
    const auto add = [this](const char* role, int number) {
      actors_.push_back(
          {{"/proc/self/exe", absl::StrCat("--role=", role), absl::StrCat("--number=", number),
            absl::StrCat("--directory=", options_.directory),
            absl::StrCat("--device=", options_.device), absl::StrCat("--seed=", options_.seed),
            options_.soak ? "--soak" : "--no-soak"},
           nullptr});
    };
    for (int i = 0; i < options_.owners; ++i) {
      add("owner", i);
      add("worker", i);
    }
    // The tool opens and closes sessions of its own all the time.
    actors_.push_back(
        {{options_.tool_program, absl::StrCat("--server=", options_.address()), "load",
          "--shape=decode=32,prefill=2x256", "--shape=spec=16,k=3,groups=2", "--sessions=2",
          "--concurrency=4", "--warmup=0", "--duration=1", "--verify=all",
          absl::StrCat("--mismatch-dir=", options_.directory, "/mismatches")},
         nullptr});
  }

  // A server that nobody uses, and that has done everything once.
  absl::Status TakeBaseline() {
    GDNPLAN_RETURN_IF_ERROR(server_.VerifyGolden());
    GDNPLAN_RETURN_IF_ERROR(server_.AwaitNoSessions());
    GDNPLAN_ASSIGN_OR_RETURN(server_.baseline, server_.Measure());
    return absl::OkStatus();
  }

  absl::Status Trouble(Clock::time_point until, bool server_dies) {
    for (Actor& actor : actors_) actor.Start();
    while (Clock::now() < until) {
      GDNPLAN_RETURN_IF_ERROR(server_.CheckAlive());
      for (Actor& actor : actors_) {
        if (actor.process->Wait(Milliseconds(0)) >= 0) actor.Start();
      }
      WakeStopped(Clock::now());
      if (!options_.soak) GDNPLAN_RETURN_IF_ERROR(Strike(server_dies));
      std::this_thread::sleep_for(Milliseconds(random_.Between(10, 120)));
    }
    WakeStopped(Clock::time_point::max());
    return absl::OkStatus();
  }

  absl::Status Strike(bool server_dies) {
    const int32_t what = random_.Between(1, 100);
    const int32_t which = random_.Between(0, static_cast<int32_t>(actors_.size()) - 1);
    Actor& actor = actors_[static_cast<size_t>(which)];
    if (what <= 40) {
      ++kills_;
      actor.process->Signal(SIGKILL);
      actor.Start();
    } else if (what <= 60) {
      Stop(&actor, random_.Between(20, 400));
    } else if (what <= 65) {
      Stop(nullptr, random_.Between(20, 800));
    } else if (what <= 70 && server_dies) {
      ++server_kills_;
      server_.Signal(SIGKILL);
      GDNPLAN_RETURN_IF_ERROR(server_.Start());
    }
    return absl::OkStatus();
  }

  void Stop(Actor* actor, int32_t milliseconds) {
    ++stops_;
    SignalTo(actor, SIGSTOP);
    stopped_.push_back({Clock::now() + Milliseconds(milliseconds), actor});
  }

  void WakeStopped(Clock::time_point now) {
    std::erase_if(stopped_, [&](const Stopped& stopped) {
      if (stopped.until > now) return false;
      SignalTo(stopped.actor, SIGCONT);
      return true;
    });
  }

  void SignalTo(Actor* actor, int signal) const {
    actor == nullptr ? server_.Signal(signal) : actor->process->Signal(signal);
  }

  // Everybody dies at once, and the server must be as if nobody had been there.
  absl::Status Calm() {
    for (Actor& actor : actors_) actor.process.reset();
    if (!options_.soak) kills_ += actors_.size();
    ++calms_;
    GDNPLAN_RETURN_IF_ERROR(server_.CheckAlive());
    GDNPLAN_RETURN_IF_ERROR(server_.AwaitNoSessions());
    if (!server_.baseline.has_value() || (options_.soak && calms_ == 1)) {
      GDNPLAN_RETURN_IF_ERROR(TakeBaseline());
      first_ = *server_.baseline;
    } else {
      GDNPLAN_RETURN_IF_ERROR(server_.VerifyGolden());
      GDNPLAN_RETURN_IF_ERROR(server_.AwaitNoSessions());
    }
    return server_.AwaitNothingLeft(*server_.baseline);
  }

  const FaultOptions& options_;
  const Board& board_;
  Random random_;
  ServerUnderTest server_;
  std::vector<Actor> actors_;
  std::vector<Stopped> stopped_;
  ServerUnderTest::Held first_;  // of the server that lives at the end
  ServerUnderTest::Held last_;
  uint64_t kills_ = 0;
  uint64_t server_kills_ = 0;
  uint64_t stops_ = 0;
  uint64_t calms_ = 0;
};

absl::Status CheckPlans(const FaultOptions& options, const Board& board) {
  std::string text = WrongPlans(options.directory);
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(options.directory + "/mismatches", none)) {
    absl::StrAppend(&text, "load: ", entry.path().filename().string(), "\n");
  }
  if (board.wrong > 0 || !text.empty()) {
    return absl::InternalError(absl::StrCat("wrong plans:\n", text));
  }
  if (board.checked_by_owners > 0 && board.checked_by_workers > 0) return absl::OkStatus();
  return absl::InternalError("no plan was checked");
}

absl::Status RunOnce(const FaultOptions& options, const Board& board) {
  const std::optional<uint64_t> gpu_before = UsedGpuMemory();
  absl::Status status;
  {
    Controller controller(options, board);
    status = controller.Run();
    controller.Report();
  }
  status.Update(CheckPlans(options, board));
  if (!gpu_before.has_value()) return status;
  const uint64_t gpu_after = AwaitUsedGpuMemory(*gpu_before);
  std::printf("MiB used of the GPUs: %llu before, %llu after\n",
              static_cast<unsigned long long>(*gpu_before),
              static_cast<unsigned long long>(gpu_after));
  if (gpu_after > *gpu_before) status.Update(absl::InternalError("GPU memory is left behind"));
  return status;
}

}  // namespace

int RunController(const FaultOptions& options) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  std::filesystem::create_directory(options.directory + "/mismatches");
  const absl::StatusOr<Board*> board = MapBoard(options.directory);
  const absl::Status status = board.ok() ? RunOnce(options, **board) : board.status();
  if (status.ok()) return 0;
  std::fflush(stdout);
  std::fprintf(stderr, "gdnplan-faults: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace gdnplan::test
