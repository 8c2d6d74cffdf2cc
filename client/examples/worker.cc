// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A worker beside the scheduler that opened a session. It follows the session's plans, prints each
// one's state indices and hands its slot back, until the session is closed:
//   worker ADDRESS SESSION_ID      (-: the id is the first line of standard input)
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

#include "gdnplan/client/client.h"

namespace {

using gdnplan::client::Client;
using gdnplan::client::PlanView;
using gdnplan::client::Session;

absl::Status HandlePlan(const Session& session, const PlanView& plan) {
  if (auto ready = session.WaitReady(plan, std::chrono::seconds(5)); !ready.ok()) return ready;
  for (int32_t group = 0; group < session.info().config.num_groups(); ++group) {
    // From wherever the arena is; an engine's kernels read the tensor in place.
    auto states = plan.Copy<int32_t>("non_spec_state_indices", group);
    if (absl::IsNotFound(states.status())) continue;  // None: no row needs them
    if (!states.ok()) return states.status();
    std::printf("plan %ju, group %d:", static_cast<uintmax_t>(plan.id()), group);
    for (const int32_t state : *states) std::printf(" %d", state);
    std::printf("\n");
  }
  std::fflush(stdout);
  return session.MarkConsumed(plan);
}

// Other users of the machine see command lines.
std::string ReadLine() {
  std::string line;
  std::getline(std::cin, line);
  return line;
}

absl::Status Run(const std::string& address, const std::string& session_id) {
  auto client = Client::Connect(address);
  if (!client.ok()) return client.status();
  auto session = client->AttachSession(session_id, {.consumer = true});
  if (!session.ok()) return session.status();
  auto follower = session->Follow();
  if (!follower.ok()) return follower.status();
  std::printf("following\n");  // the scheduler may plan from now on
  std::fflush(stdout);
  while (true) {
    auto plan = follower->Next(std::chrono::seconds(60));
    if (absl::IsDeadlineExceeded(plan.status())) continue;         // none yet
    if (absl::IsNotFound(plan.status())) return absl::OkStatus();  // the session was closed
    if (!plan.ok()) return plan.status();
    if (auto status = HandlePlan(*session, *plan); !status.ok()) return status;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: worker ADDRESS SESSION_ID\n");
    return 2;
  }
  const std::string id = argv[2];
  const absl::Status status = Run(argv[1], id == "-" ? ReadLine() : id);
  if (!status.ok()) std::fprintf(stderr, "worker: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
