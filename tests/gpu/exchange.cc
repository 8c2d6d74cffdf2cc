// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Whether plans arrive whole and in order: a scheduler asks a server for plan after plan, and a
// worker, another process, compares every byte of each on its GPU, twice, before it hands the slot
// back, all in the order of one stream and with no wait of a CPU. Exit status 1: a byte was wrong,
// or plans are missing.
#include "tests/gpu/exchange.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "gdnplan/plan/constants.h"

namespace gdnplan::test {
namespace {

const std::map<std::string, client::TimelinePlace> kPlaces = {
    {"arena", client::TimelinePlace::kArena}, {"page", client::TimelinePlace::kHostPage}};

void Describe(CLI::App& app, ExchangeOptions& options) {
  app.option_defaults()->always_capture_default();
  app.add_option("--server", options.server, "Its address")->required()->envname("GDNPLAN_SERVER");
  app.add_option("--device", options.device, "The GPU's id (default: the server's first)");
  app.add_option("--plans", options.plans, "Plans to make");
  app.add_option("--slots", options.slots, "Slots of the session")
      ->check(CLI::Range(1, plan::kMaxSlots));
  app.add_option("--timeline", options.timeline, "arena or page: where the timeline values are")
      ->transform(CLI::CheckedTransformer(kPlaces).description(""))
      ->default_str("arena");
  app.add_flag("--guard,!--no-guard", options.guard,
               "A slot is written again only once consumed. Without it wrong plans are expected");
  app.add_flag("--pause", options.pause, "Random pauses on both sides");
  app.add_option("--kill-every", options.kill_every,
                 "Kill the worker about every so many plans and start another; 0: never")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", options.seed, "Of batches and pauses");
  app.add_option("--worker-of", options.worker_of, "")->group("");
}

int Main(int argc, char** argv) {
  CLI::App app("Checks the order of plans between two processes and a server.");
  ExchangeOptions options;
  Describe(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.worker_of != 0) return RunWorker(options);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  arguments.push_back("--worker-of=" + std::to_string(getpid()));
  return RunScheduler(options, arguments);
}

}  // namespace
}  // namespace gdnplan::test

int main(int argc, char** argv) { return gdnplan::test::Main(argc, argv); }
