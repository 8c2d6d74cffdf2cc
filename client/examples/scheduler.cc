// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A scheduler whose worker is another process, perhaps in another container. It opens a session,
// prints its id, reads a line, which says that the worker follows, plans STEPS steps of two
// decodes, and closes the session:
//   scheduler ADDRESS STEPS
// With the worker of worker.cc, over two named pipes:
//   mkfifo session following
//   scheduler ADDRESS 10 >session <following &
//   worker ADDRESS - <session | tee following
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include "gdnplan/client/client.h"

namespace {

using gdnplan::client::Client;
using gdnplan::client::Session;
using gdnplan::client::SlotReuse;

// Two rows of one token each; the second's state moves from step to step.
absl::Status PlanStep(Session& session, int32_t step) {
  const std::array<int32_t, 3> query_start_loc = {0, 1, 2};
  const std::array<int32_t, 2> seq_lens = {100 + step, 200 + step};
  const std::array<int32_t, 2> block_ids = {7, 10 + step};
  const std::array<gdnplan::plan::BlockTableView, 1> block_tables = {{{block_ids, 1}}};
  gdnplan::plan::BatchView batch;
  batch.query_start_loc = query_start_loc;
  batch.seq_lens = seq_lens;
  batch.block_tables = block_tables;
  return session.Plan(batch).status();
}

absl::Status Run(const std::string& address, int32_t steps) {
  gdnplan::plan::PlanConfig config;
  config.max_num_seqs = 16;
  config.max_num_batched_tokens = 1024;
  config.groups = {{.name = "linear_attention"}};

  auto client = Client::Connect(address);
  if (!client.ok()) return client.status();
  // The worker reads the tensors, and its slots come back once it did.
  auto session = client->OpenSession(config, {.num_slots = 2,
                                              .name = "scheduler",
                                              .slot_reuse = SlotReuse::kConsumed,
                                              .slot_wait = std::chrono::seconds(5),
                                              .map_now = false});
  if (!session.ok()) return session.status();
  std::cout << session->id() << std::endl;
  std::string line;
  if (!std::getline(std::cin, line)) return absl::AbortedError("there is no worker");
  for (int32_t step = 0; step < steps; ++step) {
    if (auto status = PlanStep(*session, step); !status.ok()) return status;
  }
  return session->Close();
}

}  // namespace

int main(int argc, char** argv) {
  int32_t steps = 0;
  const std::string_view count = argc == 3 ? argv[2] : "";
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), steps);
  if (count.empty() || error != std::errc() || end != count.data() + count.size()) {
    std::fprintf(stderr, "usage: scheduler ADDRESS STEPS\n");
    return 2;
  }
  const absl::Status status = Run(argv[1], steps);
  if (!status.ok()) std::fprintf(stderr, "scheduler: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
