// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Client, Session and PlanView over a mocked stub and real shared memory.
#include "gdnplan/client/client.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <thread>
#include <utility>

#include "tests/client/fake_session.h"
#include "tests/client/mock_stub.h"
#include "tests/testing/no_threads.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::AnyNumber;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NiceMock;
using ::testing::Return;
using std::chrono_literals::operator""ms;

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() {
    ON_CALL(*stub_, GetServerInfo).WillByDefault([this](const auto&, const auto&) {
      v1::GetServerInfoResponse response;
      response.set_boot_id(boot_id_);
      return response;
    });
    ON_CALL(*stub_, OpenSession).WillByDefault([this](const auto&, const auto&) {
      v1::OpenSessionResponse response;
      *response.mutable_session() = description_;
      return response;
    });
    ON_CALL(*stub_, AttachSession).WillByDefault([this](const auto&, const auto&) {
      v1::AttachSessionResponse response;
      *response.mutable_session() = description_;
      return response;
    });
    ON_CALL(*stub_, CloseSession).WillByDefault(Return(v1::CloseSessionResponse()));
    ON_CALL(*stub_, Plan).WillByDefault([this](const auto&, const auto&) {
      v1::PlanResponse response;
      *response.mutable_plan() = plan_;
      return response;
    });
    ON_CALL(*stub_, UpdateBlockTable).WillByDefault([this](const auto&, const auto&) {
      v1::UpdateBlockTableResponse response;
      *response.mutable_plan() = plan_;
      response.mutable_plan()->set_timeline_value(6);
      return response;
    });
    config_.max_num_seqs = 8;
    config_.max_num_batched_tokens = 64;
    config_.groups.resize(2);
  }

  absl::StatusOr<Session> Open(const SessionOptions& options = {}) {
    return client_.OpenSession(config_, options);
  }

  FakeSession fake_;
  v1::SessionDescription description_ = fake_.Description();
  v1::Plan plan_ = fake_.Plan();
  std::string boot_id_ = description_.boot_id();
  std::shared_ptr<NiceMock<MockStub>> stub_ = std::make_shared<NiceMock<MockStub>>();
  Client client_{stub_};
  plan::PlanConfig config_;
  plan::BatchView batch_;
};

TEST_F(ClientTest, ReadsTensorsOfAPlan) {
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->id(), 5u);
  EXPECT_EQ(plan->slot(), 1u);
  EXPECT_EQ(plan->staging(), plan::Staging::kSpecDecode);
  EXPECT_EQ(plan->counts().num_spec_decodes, 2);
  const auto shared = plan->Tensor<int32_t>("spec_query_start_loc");
  ASSERT_THAT(shared, IsOk());
  EXPECT_EQ(shared->device(), DeviceKind::kHost);
  EXPECT_THAT(shared->dims(), ElementsAre(3));
  EXPECT_THAT(shared->span(), ElementsAre(0, 1, 2));
  EXPECT_EQ(shared->at(2), 2);
  const auto states = plan->Tensor<int32_t>("spec_state_indices", 1);
  ASSERT_THAT(states, IsOk());
  EXPECT_THAT(states->dims(), ElementsAre(2, 2));
  EXPECT_THAT(states->span(), ElementsAre(24, 25, 26, 27));
  EXPECT_EQ(states->at(1, 0), 26);
  const auto mask = plan->Tensor<uint8_t>("spec_sequence_masks");
  ASSERT_THAT(mask, IsOk());
  EXPECT_THAT(mask->span(), ElementsAre(0, 1));
  EXPECT_THAT(plan->Copy<uint8_t>("spec_sequence_masks"), test::IsOkAndHolds(ElementsAre(0, 1)));
  EXPECT_THAT(plan->Copy<int32_t>("spec_state_indices", 1),
              test::IsOkAndHolds(ElementsAre(24, 25, 26, 27)));
  EXPECT_THAT(plan->Copy<int32_t>("chunk_indices"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ClientTest, TellsAbsentFromUnknownTensors) {
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->Tensor<int32_t>("chunk_indices"),
              StatusIs(absl::StatusCode::kNotFound, "chunk_indices is absent in plan 5"));
  EXPECT_THAT(plan->Tensor<int32_t>("chunk_indexes"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("chunk_indexes"), HasSubstr("chunk_indices"))));
  EXPECT_THAT(plan->Tensor<uint8_t>("spec_query_start_loc"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("int32_t")));
  EXPECT_THAT(plan->Tensor<int32_t>("spec_state_indices", 2),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0..1 (got 2)")));
  EXPECT_THAT(plan->Tensor<int32_t>("spec_state_indices", -1),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(plan->Has("chunk_indices"), test::IsOkAndHolds(false));
  EXPECT_THAT(plan->Has("spec_state_indices"), test::IsOkAndHolds(true));
  EXPECT_EQ(plan->Absent().size(), size_t{plan::kNumTensors} - 3);
}

TEST_F(ClientTest, SendsOptions) {
  EXPECT_CALL(*stub_, OpenSession)
      .WillOnce([this](const CallContext& context, const v1::OpenSessionRequest& request) {
        EXPECT_EQ(context.deadline, 60'000ms);
        EXPECT_EQ(request.config().num_slots(), 3);
        EXPECT_EQ(request.name(), "model");
        EXPECT_THAT(request.devices(), ElementsAre("host"));
        EXPECT_EQ(request.slot_reuse(), v1::SLOT_REUSE_CONSUMED);
        EXPECT_EQ(request.slot_wait_ms(), 20u);
        v1::OpenSessionResponse response;
        *response.mutable_session() = description_;
        return response;
      });
  auto session = Open({.devices = {"host"},
                       .num_slots = 3,
                       .name = "model",
                       .slot_reuse = SlotReuse::kConsumed,
                       .slot_wait = 20ms});
  ASSERT_THAT(session, IsOk());
  EXPECT_CALL(*stub_, Plan)
      .WillOnce([this](const CallContext& context, const v1::PlanRequest& request) {
        EXPECT_EQ(context.deadline, 50ms);
        EXPECT_EQ(request.session_id(), "secret");
        EXPECT_EQ(request.completion(), v1::COMPLETION_WAIT);
        v1::PlanResponse response;
        *response.mutable_plan() = plan_;
        return response;
      });
  EXPECT_THAT(session->Plan(batch_, {.wait_complete = true, .deadline = 50ms}), IsOk());
}

TEST_F(ClientTest, RefusesAnImpossibleSlotWait) {
  EXPECT_THAT(Open({.slot_wait = -1ms}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("slot_wait_ms")));
}

TEST_F(ClientTest, AnOwnerClosesOnceAndAnAttachedSessionDetaches) {
  EXPECT_CALL(*stub_, CloseSession).Times(1);
  EXPECT_CALL(*stub_, DetachSession)
      .WillOnce([](const CallContext&, const v1::DetachSessionRequest& request) {
        EXPECT_EQ(request.session_id(), "secret");
        return v1::DetachSessionResponse();
      });
  auto attached = client_.AttachSession("secret");
  ASSERT_THAT(attached, IsOk());
  EXPECT_FALSE(attached->owner());
  EXPECT_THAT(attached->Close(), IsOk());
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(session->owner());
  EXPECT_THAT(session->Close(), IsOk());
  EXPECT_THAT(session->Close(), IsOk());
  EXPECT_THAT(session->Plan(batch_), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(session->Heartbeat(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

// Its lease would lapse while its owner lives.
TEST_F(ClientTest, WhatNoThreadRenewsIsClosedAgain) {
  description_.set_lease_ms(1000);
  const auto no_thread = StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("no thread"));
  EXPECT_CALL(*stub_, CloseSession).Times(1);
  EXPECT_CALL(*stub_, DetachSession).WillOnce(Return(v1::DetachSessionResponse()));
  const test::NoThreads no_threads;
  EXPECT_THAT(Open(), no_thread);
  EXPECT_THAT(client_.AttachSession("secret"), no_thread);
}

TEST_F(ClientTest, DestructorAndAssignmentClose) {
  EXPECT_CALL(*stub_, CloseSession).Times(2);
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  auto other = Open();
  ASSERT_THAT(other, IsOk());
  *session = *std::move(other);
}

TEST_F(ClientTest, ViewsOutliveTheirSession) {
  absl::StatusOr<PlanView> plan = absl::UnknownError("");
  {
    auto session = Open();
    ASSERT_THAT(session, IsOk());
    plan = session->Plan(batch_);
  }
  ASSERT_THAT(plan, IsOk());
  fake_.Unlink();
  const auto tensor = plan->Tensor<int32_t>("spec_query_start_loc");
  ASSERT_THAT(tensor, IsOk());
  EXPECT_EQ(tensor->at(1), 1);
}

TEST_F(ClientTest, ARecordTravelsAsBytes) {
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  auto worker = client_.AttachSession("secret");
  ASSERT_THAT(worker, IsOk());
  const auto record = PlanRecord::Parse(plan->record().Serialize());
  ASSERT_THAT(record, IsOk());
  const auto view = worker->View(*record);
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(view->counts(), plan->counts());
  EXPECT_EQ(view->record().tensors, plan->record().tensors);
  EXPECT_THAT(view->Tensor<int32_t>("spec_state_indices")->span(), ElementsAre(16, 17, 18, 19));
  // A plan belongs to the Session that it was viewed through.
  EXPECT_THAT(worker->MarkConsumed(*plan),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("View(plan.record())")));
  EXPECT_THAT(PlanRecord::Parse("\xff\xff nonsense"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ClientTest, WaitsForReadyAndMarksConsumed) {
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(session->WaitReady(*plan, 5ms),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr("slot 1: ready is 0"), HasSubstr("at least 5"))));
  std::thread server([this] {
    std::this_thread::sleep_for(10ms);
    fake_.ready(1) = 5;
  });
  EXPECT_THAT(session->WaitReady(*plan, 10'000ms), IsOk());
  server.join();
  EXPECT_THAT(session->MarkConsumed(*plan), IsOk());
  EXPECT_EQ(fake_.consumed(1), 5u);
  EXPECT_EQ(fake_.consumed(0), 0u);
  fake_.consumed(1) = 9;
  EXPECT_THAT(session->MarkConsumed(*plan), IsOk());
  EXPECT_EQ(fake_.consumed(1), 9u) << "values never go back";
}

TEST_F(ClientTest, UpdatesABlockTable) {
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  EXPECT_CALL(*stub_, UpdateBlockTable)
      .WillOnce([this](const CallContext&, const v1::UpdateBlockTableRequest& request) {
        EXPECT_EQ(request.plan_id(), 5u);
        EXPECT_EQ(request.group(), 1);
        EXPECT_EQ(request.block_table().width(), 2);
        EXPECT_THAT(request.block_table().block_ids(), ElementsAre(1, 2, 3, 4));
        v1::UpdateBlockTableResponse response;
        *response.mutable_plan() = plan_;
        response.mutable_plan()->set_timeline_value(6);
        return response;
      });
  const std::array<int32_t, 4> table = {1, 2, 3, 4};
  const auto updated = session->UpdateBlockTable(*plan, 1, {table, 2});
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->id(), 5u);
  EXPECT_EQ(updated->timeline_value(), 6u);
}

TEST_F(ClientTest, PassesTheServersErrorsOn) {
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  const absl::Status refused = absl::InvalidArgumentError("seq_lens[1]: too small");
  EXPECT_CALL(*stub_, Plan).WillOnce(Return(refused));
  EXPECT_EQ(session->Plan(batch_).status(), refused);
  // A session that is gone: did the server restart?
  EXPECT_CALL(*stub_, Plan).Times(2).WillRepeatedly(Return(absl::NotFoundError("no session")));
  EXPECT_THAT(session->Plan(batch_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("lease lapsed")));
  boot_id_ = "ffff";
  EXPECT_THAT(session->Plan(batch_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("server restarted")));
}

TEST_F(ClientTest, MapsLateWhenAsked) {
  fake_.Unlink();
  EXPECT_CALL(*stub_, CloseSession).Times(AnyNumber());
  auto session = Open({.map_now = false});
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->Tensor<int32_t>("spec_query_start_loc"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/dev/shm")));
}

TEST_F(ClientTest, AttachesToChosenDevices) {
  EXPECT_THAT(client_.AttachSession("secret", {.devices = {"host"}}), IsOk());
  EXPECT_THAT(client_.AttachSession("secret", {.devices = {"host:1"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("\"host:1\""), HasSubstr("it is on host"))));
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  const auto plan = session->Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->OnDevice(1), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ClientTest, DescribesTheServersDevices) {
  v1::GetServerInfoResponse response;
  response.add_devices()->set_kind(v1::DEVICE_KIND_HOST);
  v1::Device& gpu = *response.add_devices();
  gpu.set_kind(v1::DEVICE_KIND_CUDA);
  gpu.set_fill_mode(v1::FILL_MODE_AUTO);
  gpu.set_mps(true);
  gpu.mutable_fills()->set_copy(5);
  gpu.mutable_fills()->set_kernel(7);
  response.add_devices()->set_fill_mode(static_cast<v1::FillMode>(99));
  EXPECT_CALL(*stub_, GetServerInfo).WillOnce(Return(response));
  const auto info = client_.GetServerInfo();
  ASSERT_THAT(info, IsOk());
  ASSERT_EQ(info->devices.size(), 3u);
  EXPECT_EQ(info->devices[0].fill_mode, FillMode::kNone);
  EXPECT_EQ(info->devices[1].fill_mode, FillMode::kAuto);
  EXPECT_TRUE(info->devices[1].mps);
  EXPECT_EQ(info->devices[1].fills.host, 0u);
  EXPECT_EQ(info->devices[1].fills.copy, 5u);
  EXPECT_EQ(info->devices[1].fills.kernel, 7u);
  EXPECT_EQ(info->devices[2].fill_mode, FillMode::kUnknown);
  EXPECT_EQ(Name(info->devices[2].fill_mode), "unknown");
}

TEST_F(ClientTest, RefusesToWorkAfterFork) {
  auto session = Open();
  ASSERT_THAT(session, IsOk());
  EXPECT_CALL(*stub_, Plan).Times(0);
  const pid_t child = fork();
  if (child == 0) {
    // The destructor of the session must not close it either: the parent still uses it.
    const bool refused = absl::IsFailedPrecondition(session->Plan(batch_).status()) &&
                         absl::IsFailedPrecondition(client_.GetServerInfo().status()) &&
                         absl::IsFailedPrecondition(session->Close());
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace gdnplan::client
