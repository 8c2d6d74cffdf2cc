// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A worker beside the scheduler that opened a session. It reads the session's id and then one
// plan record after the other from stdin, in hexadecimal, one a line; prints the plan's state
// indices; and hands the slot back:
//   worker ADDRESS < pipe
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include "absl/strings/escaping.h"
#include "gdnplan/client/client.h"

namespace {

using gdnplan::client::Client;
using gdnplan::client::PlanRecord;
using gdnplan::client::Session;

absl::Status HandlePlan(const Session& session, const std::string& bytes) {
  auto record = PlanRecord::Parse(bytes);
  if (!record.ok()) return record.status();
  auto plan = session.View(*record);
  if (!plan.ok()) return plan.status();
  if (auto ready = session.WaitReady(*plan, std::chrono::seconds(5)); !ready.ok()) return ready;
  for (int32_t group = 0; group < session.info().config.num_groups(); ++group) {
    auto states = plan->Tensor<int32_t>("non_spec_state_indices", group);
    if (absl::IsNotFound(states.status())) continue;  // None: no row needs them
    if (!states.ok()) return states.status();
    std::printf("plan %ju, group %d:", static_cast<uintmax_t>(plan->id()), group);
    for (const int32_t state : states->span()) std::printf(" %d", state);
    std::printf("\n");
  }
  std::fflush(stdout);
  return session.MarkConsumed(*plan);
}

absl::Status Run(const std::string& address) {
  std::string session_id;
  if (!std::getline(std::cin, session_id)) return absl::InvalidArgumentError("no session id");
  auto client = Client::Connect(address);
  if (!client.ok()) return client.status();
  auto session = client->AttachSession(session_id);
  if (!session.ok()) return session.status();
  for (std::string line; std::getline(std::cin, line);) {
    if (auto status = HandlePlan(*session, absl::HexStringToBytes(line)); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::fprintf(stderr, "worker: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
