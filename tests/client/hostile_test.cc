// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Descriptions, plans and arenas that are not what they should be: errors, never a crash.
#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gdnplan/client/client.h"
#include "tests/client/fake_session.h"
#include "tests/client/mock_stub.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::HasSubstr;
using ::testing::NiceMock;
using ::testing::Return;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

class HostileTest : public ::testing::Test {
 protected:
  absl::Status OpenWith(const v1::SessionDescription& description) {
    v1::OpenSessionResponse response;
    *response.mutable_session() = description;
    ON_CALL(*stub_, OpenSession).WillByDefault(Return(response));
    plan::PlanConfig config;
    config.groups.resize(2);
    return Client(stub_).OpenSession(config).status();
  }

  absl::Status ViewWith(const v1::Plan& plan) {
    v1::AttachSessionResponse response;
    *response.mutable_session() = fake_.Description();
    ON_CALL(*stub_, AttachSession).WillByDefault(Return(response));
    v1::PlanResponse plan_response;
    *plan_response.mutable_plan() = plan;
    ON_CALL(*stub_, Plan).WillByDefault(Return(plan_response));
    auto session = Client(stub_).AttachSession("secret");
    if (!session.ok()) return session.status();
    return session->Plan({}).status();
  }

  FakeSession fake_;
  std::shared_ptr<NiceMock<MockStub>> stub_ = std::make_shared<NiceMock<MockStub>>();
};

TEST_F(HostileTest, TheFakesAreFineAsTheyAre) {
  EXPECT_THAT(OpenWith(fake_.Description()), IsOk());
  EXPECT_THAT(ViewWith(fake_.Plan()), IsOk());
}

TEST_F(HostileTest, DescriptionsAreChecked) {
  using Description = v1::SessionDescription;
  const struct {
    const char* field;
    std::function<void(Description&)> change;
  } kCases[] = {
      {"session_id", [](Description& d) { d.clear_session_id(); }},
      {"config", [](Description& d) { d.mutable_config()->set_max_num_seqs(-1); }},
      {"num_slots", [](Description& d) { d.mutable_config()->set_num_slots(65); }},
      {"num_slots", [](Description& d) { d.mutable_config()->set_num_slots(-1); }},
      {"num_groups", [](Description& d) { d.set_num_groups(1); }},
      {"arenas", [](Description& d) { d.clear_arenas(); }},
      {"arenas.memory.size",
       [](Description& d) { d.mutable_arenas(0)->mutable_memory()->set_size(kHuge); }},
      {"arena_bytes", [](Description& d) { d.set_arena_bytes(kHuge); }},
      {"ready_offset", [](Description& d) { d.mutable_timeline()->set_ready_offset(kHuge - 7); }},
      {"ready_offset", [](Description& d) { d.mutable_timeline()->set_ready_offset(0); }},
      {"ready_offset", [](Description& d) { d.mutable_timeline()->set_ready_offset(129); }},
      {"consumed_offset",
       [](Description& d) { d.mutable_timeline()->set_consumed_offset(d.arena_bytes()); }},
      {"ready_offset", [](Description& d) { d.mutable_timeline()->set_stride(0); }},
      {"ready_offset", [](Description& d) { d.mutable_timeline()->set_stride(kHuge - 7); }},
      {"rank", [](Description& d) { d.mutable_tensors(0)->set_rank(3); }},
      {"rank", [](Description& d) { d.mutable_tensors(0)->set_rank(0); }},
      {"dtype", [](Description& d) { d.mutable_tensors(0)->set_dtype(v1::DTYPE_UNSPECIFIED); }},
      {"name", [](Description& d) { d.mutable_tensors(0)->clear_name(); }},
      {"share", [](Description& d) { d.mutable_tensors(0)->set_id(d.tensors(1).id()); }},
      {"share", [](Description& d) { d.mutable_tensors(0)->set_name(d.tensors(1).name()); }},
      {"name",
       [](Description& d) {
         d.mutable_arenas(0)->mutable_memory()->mutable_posix_shared_memory()->set_name("/a/b");
       }},
      {"offset", [](Description& d) { d.mutable_arenas(0)->mutable_memory()->set_offset(kHuge); }},
      {"offset",
       [](Description& d) {
         d.mutable_arenas(0)->mutable_memory()->set_size(8);
         d.set_arena_bytes(8);
       }},
  };
  for (const auto& [field, change] : kCases) {
    SCOPED_TRACE(field);
    v1::SessionDescription description = fake_.Description();
    change(description);
    // What was opened is closed again.
    EXPECT_CALL(*stub_, CloseSession).Times(1);
    EXPECT_THAT(OpenWith(description), StatusIs(absl::StatusCode::kInternal, HasSubstr(field)));
    ::testing::Mock::VerifyAndClearExpectations(stub_.get());
  }
}

TEST_F(HostileTest, PlansAreChecked) {
  const uint64_t arena_bytes = fake_.Description().arena_bytes();
  const struct {
    const char* field;
    std::function<void(v1::Plan&)> change;
  } kCases[] = {
      {"slot", [](v1::Plan& p) { p.set_slot(2); }},
      {"slot", [](v1::Plan& p) { p.set_slot(std::numeric_limits<uint32_t>::max()); }},
      {"staging", [](v1::Plan& p) { p.set_staging(static_cast<v1::Staging>(9)); }},
      {"not in the session's table", [](v1::Plan& p) { p.mutable_tensors(0)->set_tensor(999); }},
      {"placed twice", [](v1::Plan& p) { *p.add_tensors() = v1::PlacedTensor(p.tensors(0)); }},
      {"dimensions", [](v1::Plan& p) { p.mutable_tensors(0)->add_shape(1); }},
      {"dimensions", [](v1::Plan& p) { p.mutable_tensors(0)->clear_shape(); }},
      {"at most", [](v1::Plan& p) { p.mutable_tensors(0)->set_shape(0, 0xffffffffu); }},
      {"at most",
       [](v1::Plan& p) {
         p.mutable_tensors(1)->set_shape(0, 0xffffffffu);
         p.mutable_tensors(1)->set_shape(1, 0xffffffffu);
       }},
      {"aligned", [](v1::Plan& p) { p.mutable_tensors(0)->set_offset(4098); }},
      {"within", [](v1::Plan& p) { p.mutable_tensors(0)->set_offset(0); }},
      {"within", [](v1::Plan& p) { p.mutable_tensors(0)->set_offset(kHuge - 3); }},
      {"within", [&](v1::Plan& p) { p.mutable_tensors(0)->set_offset(arena_bytes - 8); }},
      {"within", [](v1::Plan& p) { p.mutable_tensors(1)->set_group_stride(kHuge - 3); }},
      {"within", [&](v1::Plan& p) { p.mutable_tensors(1)->set_group_stride(arena_bytes); }},
      {"apart", [](v1::Plan& p) { p.mutable_tensors(1)->set_group_stride(0); }},
      {"apart", [](v1::Plan& p) { p.mutable_tensors(1)->set_group_stride(12); }},
  };
  for (const auto& [field, change] : kCases) {
    SCOPED_TRACE(field);
    v1::Plan plan = fake_.Plan();
    change(plan);
    EXPECT_THAT(ViewWith(plan), StatusIs(absl::StatusCode::kInternal, HasSubstr(field)));
  }
}

// A place that just fits is one.
TEST_F(HostileTest, TheArenasLastBytesCanBeUsed) {
  v1::Plan plan = fake_.Plan();
  plan.mutable_tensors(0)->set_offset(fake_.Description().arena_bytes() - 12);
  EXPECT_THAT(ViewWith(plan), IsOk());
}

TEST_F(HostileTest, AnotherArenaIsNotReadAsThisOne) {
  const struct {
    const char* field;
    std::function<void(plan::ArenaHeader&)> change;
  } kCases[] = {
      {"magic", [](plan::ArenaHeader& h) { h.magic[0] = 'X'; }},
      {"layout_version", [](plan::ArenaHeader& h) { ++h.layout_version; }},
      {"boot_id", [](plan::ArenaHeader& h) { ++h.boot_id[3]; }},
      {"generation", [](plan::ArenaHeader& h) { ++h.generation; }},
      {"arena_bytes", [](plan::ArenaHeader& h) { ++h.arena_bytes; }},
      {"num_slots", [](plan::ArenaHeader& h) { ++h.num_slots; }},
  };
  for (const auto& [field, change] : kCases) {
    SCOPED_TRACE(field);
    const plan::ArenaHeader before = fake_.header();
    change(fake_.header());
    EXPECT_THAT(OpenWith(fake_.Description()),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(field)));
    fake_.header() = before;
  }
}

TEST_F(HostileTest, MissingOrShortMemoryIsAnError) {
  fake_.Truncate(4096);
  EXPECT_THAT(OpenWith(fake_.Description()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("4096")));
  fake_.Truncate(0);
  EXPECT_THAT(OpenWith(fake_.Description()), StatusIs(absl::StatusCode::kFailedPrecondition));
  fake_.Unlink();
  EXPECT_THAT(OpenWith(fake_.Description()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such object")));
}

TEST_F(HostileTest, AHandleOfAnUnknownKindIsUnimplemented) {
  v1::SessionDescription description = fake_.Description();
  description.mutable_arenas(0)->mutable_memory()->clear_kind();
  EXPECT_THAT(OpenWith(description), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(TensorViewDeathTest, MisuseAbortsWithAMessage) {
  const int32_t elements[] = {1, 2, 3};
  RawTensor raw;
  raw.data = elements;
  raw.device = DeviceKind::kHost;
  raw.dims = {3, 0};
  const TensorView<const int32_t> view(raw);
  EXPECT_EQ(view.at(2), 3);
  EXPECT_DEATH(static_cast<void>(view.at(3)), "outside");
  EXPECT_DEATH(static_cast<void>(view.at(-1)), "outside");
  EXPECT_DEATH(static_cast<void>(view.at(0, 0)), "outside");
  raw.device = DeviceKind::kCuda;
  EXPECT_DEATH(static_cast<void>(TensorView<const int32_t>(raw).span()), "host memory");
}

}  // namespace
}  // namespace gdnplan::client
