// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The library against a real server, and the examples.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/json/golden.h"
#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"
#include "tests/client/live_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::LiveServer;
using test::RunProgram;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;

class LiveTest : public ::testing::Test {
 protected:
  LiveTest() : server_(std::make_unique<LiveServer>()) {}

  absl::StatusOr<Client> Connect() const { return Client::Connect(server_->unix_address()); }

  std::unique_ptr<LiveServer> server_;
  Batch batch_;
};

TEST_F(LiveTest, PlansOverUnixSocketAndTcp) {
  for (const std::string& address : {server_->unix_address(), server_->tcp_address()}) {
    SCOPED_TRACE(address);
    const auto client = Client::Connect(address);
    ASSERT_THAT(client, IsOk());
    auto session = client->OpenSession(LiveConfig(), {.name = "live"});
    ASSERT_THAT(session, IsOk());
    const auto plan = session->Plan(batch_.view());
    ASSERT_THAT(plan, IsOk());
    ASSERT_THAT(session->WaitReady(*plan, 5'000ms), IsOk());
    EXPECT_EQ(plan->counts().num_prefills, 1);
    EXPECT_EQ(plan->counts().num_decodes, 1);
    const auto chunks = plan->Tensor<int32_t>("chunk_indices");
    ASSERT_THAT(chunks, IsOk());
    EXPECT_THAT(chunks->dims(), ElementsAre(3, 2));
    EXPECT_EQ(chunks->at(2, 1), 2);
    EXPECT_THAT(plan->Tensor<int32_t>("non_spec_state_indices", 1)->span(), ElementsAre(70, 90));
    EXPECT_THAT(plan->Tensor<int32_t>("spec_state_indices"), StatusIs(absl::StatusCode::kNotFound));
    const auto sessions = client->ListSessions();
    ASSERT_THAT(sessions, IsOk());
    ASSERT_EQ(sessions->size(), 1u);
    EXPECT_EQ(sessions->front().name, "live");
    EXPECT_EQ(sessions->front().num_plans, 1u);
    EXPECT_THAT(session->Heartbeat(), IsOk());
    EXPECT_THAT(session->Close(), IsOk());
    EXPECT_EQ(client->GetServerInfo()->num_sessions, 0u);
  }
}

TEST_F(LiveTest, RefusalsNameTheField) {
  const auto client = Connect();
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(client->OpenSession({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_num_seqs")));
  EXPECT_THAT(client->AttachSession("0123"), StatusIs(absl::StatusCode::kNotFound));
  auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  plan::BatchView bad = batch_.view();
  const std::array<int32_t, 2> seq_lens = {0, 150};
  bad.seq_lens = seq_lens;
  EXPECT_THAT(session->Plan(bad),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seq_lens[0]")));
  EXPECT_THAT(session->Plan(batch_.view()), IsOk());
}

TEST_F(LiveTest, AGuardedSlotWaitsForItsConsumer) {
  const auto client = Connect();
  ASSERT_THAT(client, IsOk());
  auto session =
      client->OpenSession(LiveConfig(), {.slot_reuse = SlotReuse::kConsumed, .slot_wait = 20ms});
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_.view());
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(session->Plan(batch_.view()),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("slot")));
  EXPECT_THAT(session->MarkConsumed(*plan), IsOk());
  EXPECT_THAT(session->Plan(batch_.view()), IsOk());
}

TEST_F(LiveTest, RegathersAGroup) {
  const auto client = Connect();
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_.view());
  ASSERT_THAT(plan, IsOk());
  const std::array<int32_t, 2> table = {3, 4};
  const auto updated = session->UpdateBlockTable(*plan, 1, {table, 1});
  ASSERT_THAT(updated, IsOk());
  EXPECT_GT(updated->timeline_value(), plan->timeline_value());
  ASSERT_THAT(session->WaitReady(*updated, 5'000ms), IsOk());
  EXPECT_THAT(updated->Tensor<int32_t>("non_spec_state_indices", 1)->span(), ElementsAre(3, 4));
  EXPECT_THAT(updated->Tensor<int32_t>("non_spec_state_indices", 0)->span(), ElementsAre(7, 9));
  ASSERT_THAT(session->Plan(batch_.view()), IsOk());
  EXPECT_THAT(session->UpdateBlockTable(*plan, 1, {table, 1}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(LiveTest, AWorkerInAnotherProcessReadsAndConsumes) {
  const auto client = Connect();
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(
      LiveConfig(), {.num_slots = 2, .slot_reuse = SlotReuse::kConsumed, .slot_wait = 60'000ms});
  ASSERT_THAT(session, IsOk());
  test::Process worker({GDNPLAN_WORKER_PATH, server_->tcp_address(), session->id()});
  EXPECT_EQ(worker.ReadLine(), "following");
  for (int i = 0; i < 4; ++i) {
    const Batch batch(i);
    ASSERT_THAT(session->Plan(batch.view(), {.deadline = 60'000ms}), IsOk())
        << "the worker hands the slots back";
  }
  for (int i = 0; i < 4; ++i) {
    const std::string plan = "plan " + std::to_string(i + 1) + ", group ";
    const auto states = [i](int factor) {
      return std::to_string(factor * i) + " " + std::to_string(factor * (i + 2));
    };
    EXPECT_EQ(worker.ReadLine(), plan + "0: " + states(1));
    EXPECT_EQ(worker.ReadLine(), plan + "1: " + states(10));
  }
  EXPECT_THAT(session->Close(), IsOk());
  EXPECT_EQ(worker.Wait(), 0) << worker.ErrorOutput();
}

TEST_F(LiveTest, TheExamplesOfSchedulerAndWorkerMeet) {
  const test::TemporaryDirectory directory;
  const auto result = RunProgram({"/bin/sh", "-c",
                                  "cd " + directory.path() +
                                      " && mkfifo session following && { " GDNPLAN_SCHEDULER_PATH
                                      " \"$1\" 3 >session <following & } && " GDNPLAN_WORKER_PATH
                                      " \"$1\" - <session | tee following && wait $!",
                                  "sh", server_->unix_address()});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output,
            "following\nplan 1, group 0: 7 10\nplan 2, group 0: 7 11\nplan 3, group 0: 7 12\n");
  EXPECT_EQ(result.errors, "");
}

TEST_F(LiveTest, TheTenLinesWork) {
  const auto result = RunProgram({GDNPLAN_TEN_LINES_PATH, server_->unix_address()});
  EXPECT_EQ(result.status, 0) << result.errors;
  EXPECT_EQ(result.output, "1 prefill, 1 decode\nrow 0, chunk 0\nrow 0, chunk 1\nrow 0, chunk 2\n");
}

TEST_F(LiveTest, ARestartedServerIsNamed) {
  const std::string path = server_->unix_address();
  const auto client = Connect();
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_.view());
  ASSERT_THAT(plan, IsOk());
  server_->process().Signal(SIGKILL);
  server_->process().Wait();
  EXPECT_THAT(session->Plan(batch_.view()), StatusIs(absl::StatusCode::kUnavailable));
  // What was mapped stays readable.
  EXPECT_THAT(plan->Tensor<int32_t>("non_spec_state_indices")->span(), ElementsAre(7, 9));
  const test::Process next({GDNPLAN_SERVER_PATH, "--device=host", "--listen=" + path});
  absl::Status status;
  for (int i = 0; i < 400; ++i) {
    status = session->Plan(batch_.view()).status();
    if (!absl::IsUnavailable(status)) break;
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("server restarted")));
}

TEST_F(LiveTest, AForkedChildIsToldInsteadOfHanging) {
  const auto client = Connect();
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool refused = absl::IsFailedPrecondition(session->Plan(batch_.view()).status());
    {
      const Session gone = *std::move(session);  // neither closes the session nor waits
    }
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_THAT(session->Plan(batch_.view()), IsOk()) << "the parent's session lives on";
}

TEST_F(LiveTest, ManyThreadsShareASession) {
  const auto client = Connect();
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(LiveConfig(), {.num_slots = 64});
  ASSERT_THAT(session, IsOk());
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const Batch batch;
      for (int i = 0; i < 20; ++i) {
        const auto plan = session->Plan(batch.view());
        if (!plan.ok() || !session->WaitReady(*plan, 5'000ms).ok()) continue;
        const auto states = plan->Tensor<int32_t>("non_spec_state_indices", 1);
        if (states.ok() && states->at(1) == 90) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST(ConnectTest, SaysWhyNobodyAnswers) {
  const std::string address = "unix:/tmp/gdnplan-test-nobody.sock";
  for (const auto timeout : {0ms, 300ms}) {
    EXPECT_THAT(Client::Connect(address, {.connect_timeout = timeout}),
                StatusIs(absl::StatusCode::kUnavailable,
                         AllOf(HasSubstr(address), HasSubstr("No such file or directory"),
                               HasSubstr("gdnplan-server --listen="))));
  }
  EXPECT_THAT(Client::Connect("127.0.0.1:1", {.connect_timeout = 100ms}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Connection refused")));
}

TEST(ConnectTest, WaitsForAServerThatStartsLater) {
  const test::TemporaryDirectory directory;
  const std::string address = "unix:" + directory.path() + "/late.sock";
  absl::Status status;
  std::thread early(
      [&] { status = Client::Connect(address, {.connect_timeout = 20'000ms}).status(); });
  std::this_thread::sleep_for(300ms);
  const test::Process server({GDNPLAN_SERVER_PATH, "--device=host", "--listen=" + address});
  early.join();
  EXPECT_THAT(status, IsOk());
}

}  // namespace
}  // namespace gdnplan::client
