// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Every RPC over an in-process channel.
#include "server/planner_service.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "gdnplan/plan/arena.h"
#include "server/describe.h"
#include "server/version.h"
#include "tests/server/service_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"
#include "wire/convert.h"

namespace gdnplan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Stub = v1::Planner::Stub;

class PlannerServiceTest : public ::testing::Test {
 protected:
  std::unique_ptr<server::Server> server_ = StartHosts(2);
  ServiceClient client_{server_->InProcessChannel()};
};

plan::ArenaLayout SampleLayout(int32_t num_slots) {
  return plan::ArenaLayout::Create(SampleConfig(), num_slots).value();
}

server::MemoryHandle HandleOf(const v1::Arena& arena) {
  return server::PosixSharedMemoryHandle{arena.memory().posix_shared_memory().name()};
}

TEST_F(PlannerServiceTest, SaysWhoItIs) {
  const auto info = client_.Call(&Stub::GetServerInfo, v1::GetServerInfoRequest());
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->version(), server::kVersion);
  EXPECT_EQ(info->boot_id(), server_->registry().boot().hex());
  ASSERT_EQ(info->devices_size(), 2);
  EXPECT_EQ(info->devices(0).id(), "host");
  EXPECT_EQ(info->devices(1).id(), "host:1");
  EXPECT_EQ(info->devices(1).kind(), v1::DEVICE_KIND_HOST);
  EXPECT_GT(info->devices(1).available_bytes(), 0u);
  EXPECT_EQ(info->limits().max_sessions(), 64u);
  EXPECT_EQ(info->limits().max_message_bytes(), 64u << 20);
  EXPECT_EQ(info->limits().max_groups(), 256u);
  EXPECT_EQ(info->limits().max_slots(), 64u);
  EXPECT_EQ(info->num_sessions(), 0u);
  EXPECT_TRUE(Exists(server::PosixSharedMemoryHandle{info->host_page_probe()}));
}

TEST_F(PlannerServiceTest, CountsFills) {
  v1::OpenSessionRequest request = SampleRequest();
  request.add_devices("host:1");
  const auto session = client_.Open(request);
  ASSERT_THAT(session, IsOk());
  const json::OwnedBatch batch = SampleBatch();
  const auto plan = client_.Plan(session->session_id(), batch);
  ASSERT_THAT(plan, IsOk());
  v1::UpdateBlockTableRequest update;
  update.set_session_id(session->session_id());
  update.set_plan_id(plan->plan_id());
  wire::ToProto(batch.view().block_tables[0], *update.mutable_block_table());
  ASSERT_THAT(client_.Call(&Stub::UpdateBlockTable, update), IsOk());
  // Those of closed sessions count too.
  ASSERT_THAT(client_.Close(session->session_id()), IsOk());
  const auto info = client_.Call(&Stub::GetServerInfo, v1::GetServerInfoRequest());
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->devices(0).fills().host(), 0u);
  EXPECT_EQ(info->devices(1).fills().host(), 2u);
  EXPECT_EQ(info->devices(1).fills().copy(), 0u);
  EXPECT_EQ(info->devices(1).fill_mode(), v1::FILL_MODE_UNSPECIFIED);
  EXPECT_FALSE(info->devices(1).mps());
}

TEST(DescribeTest, AGpu) {
  const server::DeviceInfo info = {.kind = server::DeviceKind::kCuda,
                                   .id = "GPU-1",
                                   .name = "a GPU",
                                   .fill_mode = server::FillMode::kAuto,
                                   .mps = true,
                                   .fills = {.copy = 5, .kernel = 7}};
  v1::Device device;
  server::Describe(info, device);
  EXPECT_EQ(device.kind(), v1::DEVICE_KIND_CUDA);
  EXPECT_EQ(device.fill_mode(), v1::FILL_MODE_AUTO);
  EXPECT_TRUE(device.mps());
  EXPECT_EQ(device.fills().host(), 0u);
  EXPECT_EQ(device.fills().copy(), 5u);
  EXPECT_EQ(device.fills().kernel(), 7u);
}

TEST_F(PlannerServiceTest, DescribesASession) {
  v1::OpenSessionRequest request = SampleRequest();
  request.add_devices("host");
  request.add_devices("host:1");
  request.mutable_config()->set_num_slots(0);
  request.mutable_config()->set_chunk_size(0);
  const auto session = client_.Open(request);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->boot_id(), server_->registry().boot().hex());
  EXPECT_EQ(session->config().num_slots(), 1);
  EXPECT_EQ(session->config().chunk_size(), 64);
  EXPECT_EQ(session->capture_limit(), SampleConfig().capture_limit());
  EXPECT_EQ(session->num_groups(), 2u);
  EXPECT_EQ(session->tensors_size(), plan::kNumTensors);
  EXPECT_EQ(session->lease_ms(), 30'000u);
  const plan::ArenaLayout layout = SampleLayout(1);
  EXPECT_EQ(session->arena_bytes(), static_cast<uint64_t>(layout.arena_bytes));
  EXPECT_EQ(session->timeline().ready_offset(), static_cast<uint64_t>(layout.ready_offset(0)));
  ASSERT_EQ(session->arenas_size(), 2);
  for (const v1::Arena& arena : session->arenas()) {
    EXPECT_EQ(arena.memory().size(), session->arena_bytes());
    EXPECT_EQ(arena.memory().offset(), 0u);
    EXPECT_FALSE(arena.has_timeline_memory());
    const ClientArena mapped(HandleOf(arena), layout);
    EXPECT_EQ(mapped.header().generation, arena.generation());
  }

  v1::AttachSessionRequest attach;
  attach.set_session_id(session->session_id());
  attach.add_consumer_of("host:1");
  const auto attached = client_.Call(&Stub::AttachSession, attach);
  ASSERT_THAT(attached, IsOk());
  EXPECT_EQ(attached->session().SerializeAsString(), session->SerializeAsString());
  attach.add_consumer_of("host:2");
  EXPECT_THAT(client_.Call(&Stub::AttachSession, attach),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("consumer_of[1]: must be a device of the session (got host:2)")));
}

TEST_F(PlannerServiceTest, ARefusedAttachmentReleasesNothing) {
  v1::OpenSessionRequest request = SampleRequest();
  request.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  request.set_slot_wait_ms(1);
  request.mutable_config()->set_num_slots(1);
  const auto session = client_.Open(request);
  ASSERT_THAT(session, IsOk());
  const json::OwnedBatch batch = SampleBatch();
  ASSERT_THAT(client_.Plan(session->session_id(), batch), IsOk());
  v1::AttachSessionRequest attach;
  attach.set_session_id(session->session_id());
  attach.add_consumer_of("host");
  attach.add_consumer_of("nope");
  EXPECT_THAT(client_.Call(&Stub::AttachSession, attach),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(client_.Plan(session->session_id(), batch),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("slot busy")));
  attach.mutable_consumer_of()->RemoveLast();
  EXPECT_THAT(client_.Call(&Stub::AttachSession, attach), IsOk());
  EXPECT_THAT(client_.Plan(session->session_id(), batch), IsOk());
}

TEST_F(PlannerServiceTest, PlansIntoEveryDevice) {
  v1::OpenSessionRequest request = SampleRequest();
  request.add_devices("host");
  request.add_devices("host:1");
  request.mutable_config()->set_num_slots(2);
  const auto session = client_.Open(request);
  ASSERT_THAT(session, IsOk());
  const plan::ArenaLayout layout = SampleLayout(2);
  PlannedSlot expected(SampleConfig());
  uint64_t id = 0;
  for (const json::OwnedBatch& batch : {SampleBatch(), SampleDecodes()}) {
    ASSERT_THAT(expected.Plan(batch.view()), IsOk());
    const auto plan = client_.Plan(session->session_id(), batch);
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(plan->plan_id(), ++id);
    EXPECT_EQ(plan->timeline_value(), id);
    EXPECT_EQ(plan->slot(), id - 1);
    EXPECT_EQ(plan->fill(), v1::FILL_KIND_HOST);
    EXPECT_TRUE(plan->complete());
    EXPECT_GT(plan->server_time_ns(), 0u);
    google::protobuf::RepeatedPtrField<v1::PlacedTensor> tensors;
    wire::ToProto(expected.layout(), layout.slot_offset(static_cast<int32_t>(plan->slot())),
                  tensors);
    ASSERT_EQ(plan->tensors_size(), tensors.size());
    for (int i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(plan->tensors(i).SerializeAsString(), tensors[i].SerializeAsString());
    }
    server::PlanResult result;
    result.slot = static_cast<int32_t>(plan->slot());
    result.counts = wire::FromProto(plan->counts(), plan->staging());
    result.layout = expected.layout();
    for (const v1::Arena& arena : session->arenas()) {
      const ClientArena mapped(HandleOf(arena), layout);
      EXPECT_EQ(mapped.ready(result.slot), plan->timeline_value());
      ExpectHolds(result, mapped, expected);
    }
  }
}

TEST_F(PlannerServiceTest, RefusesToOpen) {
  const struct {
    const char* field;
    void (*break_it)(v1::OpenSessionRequest&);
  } cases[] = {
      {"max_num_seqs", [](auto& r) { r.mutable_config()->set_max_num_seqs(0); }},
      {"num_slots", [](auto& r) { r.mutable_config()->set_num_slots(65); }},
      {"chunk_size", [](auto& r) { r.mutable_config()->set_chunk_size(3); }},
      {"groups", [](auto& r) { r.mutable_config()->clear_groups(); }},
      {"prefill_backend",
       [](auto& r) {
         r.mutable_config()->set_prefill_backend(static_cast<v1::PrefillBackend>(9));
       }},
      {"name: must have at most 128", [](auto& r) { r.set_name(std::string(129, 'x')); }},
      {"slot_reuse", [](auto& r) { r.set_slot_reuse(static_cast<v1::SlotReuse>(9)); }},
      {"timeline", [](auto& r) { r.set_timeline(static_cast<v1::TimelinePlace>(9)); }},
      {"devices[0]", [](auto& r) { r.add_devices("nowhere"); }},
  };
  for (const auto& c : cases) {
    v1::OpenSessionRequest request = SampleRequest();
    c.break_it(request);
    EXPECT_THAT(client_.Open(request),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.field)));
  }
  EXPECT_EQ(server_->registry().size(), 0u);
}

TEST_F(PlannerServiceTest, UnknownSessionsAreNotFoundAndNotRepeated) {
  for (const std::string id : {"", "0123456789abcdef0123456789abcdef", "<not an id>"}) {
    const auto refused = [&](const auto& status) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("session_id")));
      EXPECT_TRUE(id.empty() || GetStatus(status).message().find(id) == absl::string_view::npos);
    };
    v1::AttachSessionRequest attach;
    attach.set_session_id(id);
    refused(client_.Call(&Stub::AttachSession, attach));
    v1::HeartbeatRequest heartbeat;
    heartbeat.set_session_id(id);
    refused(client_.Call(&Stub::Heartbeat, heartbeat));
    v1::UpdateBlockTableRequest update;
    update.set_session_id(id);
    refused(client_.Call(&Stub::UpdateBlockTable, update));
    refused(client_.Plan(id, SampleBatch()));
    refused(client_.Close(id));
  }
}

TEST_F(PlannerServiceTest, RefusedBatchesUseNothingUp) {
  const auto session = client_.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  json::OwnedBatch bad = SampleBatch();
  bad.seq_lens[0] = 2;
  EXPECT_THAT(client_.Plan(session->session_id(), bad),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seq_lens[0]")));
  EXPECT_THAT(client_.Plan(session->session_id(), {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seq_lens")));
  v1::PlanRequest request;
  request.set_session_id(session->session_id());
  request.set_completion(static_cast<v1::Completion>(7));
  EXPECT_THAT(client_.Call(&Stub::Plan, request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("completion")));
  request.clear_completion();
  request.mutable_batch()->set_kind(static_cast<v1::BatchKind>(7));
  EXPECT_THAT(client_.Call(&Stub::Plan, request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("kind")));
  EXPECT_EQ(client_.Plan(session->session_id(), SampleBatch())->plan_id(), 1u);
}

TEST_F(PlannerServiceTest, UpdatesABlockTable) {
  v1::OpenSessionRequest open = SampleRequest();
  const auto session = client_.Open(open);
  ASSERT_THAT(session, IsOk());
  const json::OwnedBatch batch = SampleBatch();
  ASSERT_THAT(client_.Plan(session->session_id(), batch), IsOk());
  json::OwnedBlockTable table = batch.block_tables[0];
  table.block_ids[0] = 77;
  v1::UpdateBlockTableRequest update;
  update.set_session_id(session->session_id());
  update.set_plan_id(1);
  update.set_completion(v1::COMPLETION_WAIT);
  wire::ToProto(table.view(), *update.mutable_block_table());
  const auto updated = client_.Call(&Stub::UpdateBlockTable, update);
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->plan().plan_id(), 1u);
  EXPECT_EQ(updated->plan().timeline_value(), 2u);

  ASSERT_THAT(client_.Plan(session->session_id(), batch), IsOk());
  EXPECT_THAT(client_.Call(&Stub::UpdateBlockTable, update),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("plan_id")));
  update.set_plan_id(3);
  update.set_group(5);
  EXPECT_THAT(client_.Call(&Stub::UpdateBlockTable, update),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("group")));
  update.set_completion(static_cast<v1::Completion>(7));
  EXPECT_THAT(client_.Call(&Stub::UpdateBlockTable, update),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("completion")));
}

TEST_F(PlannerServiceTest, ListsWithoutIds) {
  const auto session = client_.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(client_.Plan(session->session_id(), SampleBatch()), IsOk());
  }
  ASSERT_FALSE(client_.Plan(session->session_id(), {}).ok());
  const auto list = client_.Call(&Stub::ListSessions, v1::ListSessionsRequest());
  ASSERT_THAT(list, IsOk());
  ASSERT_EQ(list->sessions_size(), 1);
  const v1::SessionSummary& summary = list->sessions(0);
  EXPECT_EQ(summary.name(), "sample");
  EXPECT_EQ(summary.num_plans(), 3u);
  EXPECT_EQ(summary.num_refused(), 1u);
  EXPECT_EQ(summary.devices(0), "host");
  EXPECT_EQ(summary.arena_bytes(), session->arena_bytes());
  EXPECT_EQ(summary.config().SerializeAsString(), session->config().SerializeAsString());
  EXPECT_THAT(list->ShortDebugString(), Not(HasSubstr(session->session_id())));

  v1::HeartbeatRequest heartbeat;
  heartbeat.set_session_id(session->session_id());
  const auto alive = client_.Call(&Stub::Heartbeat, heartbeat);
  ASSERT_THAT(alive, IsOk());
  EXPECT_EQ(alive->lease_ms(), 30'000u);
  EXPECT_EQ(alive->last_plan_id(), 3u);
}

TEST_F(PlannerServiceTest, AttachedProcessesHaveLeasesOfTheirOwn) {
  const auto session = client_.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  v1::AttachSessionRequest attach;
  attach.set_session_id(session->session_id());
  const auto first = client_.Call(&Stub::AttachSession, attach);
  const auto second = client_.Call(&Stub::AttachSession, attach);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_NE(first->attachment_id(), 0u);
  EXPECT_NE(first->attachment_id(), second->attachment_id());
  // The same one, going on.
  attach.set_attachment_id(first->attachment_id());
  EXPECT_EQ(client_.Call(&Stub::AttachSession, attach)->attachment_id(), first->attachment_id());
  EXPECT_EQ(
      client_.Call(&Stub::ListSessions, v1::ListSessionsRequest())->sessions(0).num_attached(), 2u);
  v1::HeartbeatRequest heartbeat;
  heartbeat.set_session_id(session->session_id());
  heartbeat.set_attachment_id(first->attachment_id());
  EXPECT_THAT(client_.Call(&Stub::Heartbeat, heartbeat), IsOk());
  v1::DetachSessionRequest detach;
  detach.set_session_id(session->session_id());
  detach.set_attachment_id(first->attachment_id());
  EXPECT_THAT(client_.Call(&Stub::DetachSession, detach), IsOk());
  EXPECT_THAT(client_.Call(&Stub::DetachSession, detach),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("attachment_id")));
  EXPECT_THAT(client_.Call(&Stub::Heartbeat, heartbeat),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("attachment_id")));
  EXPECT_THAT(client_.Call(&Stub::AttachSession, attach),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("attachment_id")));
}

TEST_F(PlannerServiceTest, CloseFreesTheMemory) {
  const auto session = client_.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(Exists(HandleOf(session->arenas(0))));
  EXPECT_THAT(client_.Close(session->session_id()), IsOk());
  EXPECT_FALSE(Exists(HandleOf(session->arenas(0))));
  EXPECT_THAT(client_.Plan(session->session_id(), SampleBatch()),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PlannerServiceTest, SlotBusy) {
  v1::OpenSessionRequest request = SampleRequest();
  request.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  request.set_slot_wait_ms(5);
  const auto session = client_.Open(request);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(client_.Plan(session->session_id(), SampleBatch()), IsOk());
  EXPECT_THAT(client_.Plan(session->session_id(), SampleBatch()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("slot busy"), HasSubstr("plan 1"))));
  ClientArena arena(HandleOf(session->arenas(0)), SampleLayout(1));
  arena.Consume(0, 1);
  EXPECT_EQ(client_.Plan(session->session_id(), SampleBatch())->plan_id(), 2u);
}

// More waiting calls than gRPC has threads.
TEST_F(PlannerServiceTest, WaitingSessionsDoNotHoldUpOthers) {
  v1::OpenSessionRequest request = SampleRequest();
  request.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  request.set_slot_wait_ms(60'000);
  std::vector<v1::SessionDescription> stuck;
  std::vector<std::thread> waiters;
  std::atomic<int> done = 0;
  for (int i = 0; i < 24; ++i) {
    stuck.push_back(client_.Open(request).value());
    ASSERT_THAT(client_.Plan(stuck.back().session_id(), SampleBatch()), IsOk());
  }
  for (const v1::SessionDescription& session : stuck) {
    waiters.emplace_back([&] {
      EXPECT_THAT(client_.Plan(session.session_id(), SampleBatch()), IsOk());
      ++done;
    });
  }
  const auto free = client_.Open(SampleRequest());
  ASSERT_THAT(free, IsOk());
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(client_.Plan(free->session_id(), SampleBatch()), IsOk());
  }
  EXPECT_EQ(done, 0);
  for (const v1::SessionDescription& session : stuck) {
    ClientArena(HandleOf(session.arenas(0)), SampleLayout(1)).Consume(0, 1);
  }
  for (std::thread& waiter : waiters) waiter.join();
}

TEST_F(PlannerServiceTest, ACancelledPlanIsNotMade) {
  v1::OpenSessionRequest open = SampleRequest();
  open.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  open.set_slot_wait_ms(60'000);
  const auto session = client_.Open(open);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(client_.Plan(session->session_id(), SampleBatch()), IsOk());
  v1::PlanRequest request;
  request.set_session_id(session->session_id());
  wire::ToProto(SampleBatch().view(), *request.mutable_batch());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  v1::PlanResponse response;
  EXPECT_EQ(client_.stub().Plan(&context, request, &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  const auto found = server_->registry().Find(session->session_id());
  ASSERT_THAT(found, IsOk());
  EXPECT_TRUE(Eventually([&] { return (*found)->statistics().num_refused == 1; }));
  EXPECT_EQ((*found)->statistics().num_plans, 1u);
}

TEST_F(PlannerServiceTest, ManyClientsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this] {
      ServiceClient client(server_->InProcessChannel());
      for (int round = 0; round < 3; ++round) {
        const auto session = client.Open(SampleRequest());
        ASSERT_THAT(session, IsOk());
        for (uint64_t id = 1; id <= 20; ++id) {
          const auto plan = client.Plan(session->session_id(), SampleBatch());
          ASSERT_THAT(plan, IsOk());
          EXPECT_EQ(plan->plan_id(), id);
        }
        EXPECT_THAT(client.Close(session->session_id()), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server_->registry().size(), 0u);
}

}  // namespace
}  // namespace gdnplan::test
