// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A server's life without gRPC: any sequence of calls on a registry with two host devices. Input:
// a byte for the call, then its choices; make_corpus.cc writes the same.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gdnplan/plan/constants.h"
#include "server/host_device.h"
#include "server/session_registry.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/configs.h"
#include "tests/fuzz/session_model.h"
#include "tests/testing/random_batch.h"

namespace gdnplan::test {
namespace {

using server::HostDevice;
using server::SessionRegistry;

// So that a run stays short.
constexpr int kMaxCalls = 24;
constexpr int kMaxOpened = 8;

const std::vector<std::vector<std::string>>& DeviceChoices() {
  static const std::vector<std::vector<std::string>> choices = {
      {}, {"host"}, {"host:1"}, {"host", "host:1"}, {"host", "host"}, {"host:1", "GPU-0"}, {""}};
  return choices;
}

// Makes a batch illegal, or another legal one.
void Edit(ByteReader& in, std::vector<int32_t>& array) {
  const size_t place = in.U8();
  const int32_t value = in.I32();
  if (place == 255) {
    array.push_back(value);
  } else if (place == 254) {
    if (!array.empty()) array.pop_back();
  } else if (!array.empty()) {
    array[place % array.size()] = value;
  }
}

json::OwnedBatch MakeBatch(ByteReader& in, const plan::PlanConfig& config) {
  Random random(uint64_t{in.U8()} << 8 | in.U8());
  json::OwnedBatch batch = RandomBatch(config, random);
  for (size_t edits = in.Choose(4); edits > 0; --edits) {
    switch (in.Choose(6)) {
      case 0:
        Edit(in, batch.query_start_loc);
        break;
      case 1:
        Edit(in, batch.seq_lens);
        break;
      case 2:
        Edit(in, batch.num_decode_draft_tokens);
        break;
      case 3:
        Edit(in, batch.num_accepted_tokens);
        break;
      case 4:
        batch.num_actual_tokens = in.I32();
        break;
      default:
        json::OwnedBlockTable& table = batch.block_tables[in.Choose(batch.block_tables.size())];
        in.Bool() ? Edit(in, table.block_ids) : void(table.width = in.I32());
    }
  }
  return batch;
}

class Run {
 public:
  explicit Run(ByteReader in) : in_(in) {}

  void All() {
    for (int call = 0; call < kMaxCalls && !in_.empty(); ++call) {
      One();
      for (const auto& session : sessions_) {
        if (!session->closed()) session->Check();
      }
    }
    if (in_.Bool()) CloseAll();
    for (const auto& session : sessions_) Close(*session);
    EXPECT_EQ(registry_.size(), 0u);
    EXPECT_EQ(registry_.devices()[1]->info().available_bytes, kSmallDevice);
  }

 private:
  static constexpr uint64_t kSmallDevice = 4 << 20;
  static constexpr int kMaxSessions = 3;

  void One() {
    const size_t call = in_.Choose(16);
    if (call == 0 || sessions_.empty()) return Open();
    if (call == 15) return Unknown();
    if (call == 14 && in_.U8() == 77) return CloseAll();
    SessionModel& session = *sessions_[in_.Choose(sessions_.size())];
    switch (call) {
      case 8:
        return session.Attach(DeviceChoices()[in_.Choose(DeviceChoices().size())]);
      case 9:
      case 10:
        return Consume(session);
      case 11:
        return Update(session);
      case 12:
        return in_.Bool() ? session.Follow() : session.Unfollow();
      case 13:
        return Close(session);
      default:
        return Plan(session);
    }
  }

  void Open() {
    if (sessions_.size() == kMaxOpened) return;
    server::SessionOptions options;
    options.config = FuzzConfigs()[in_.Choose(FuzzConfigs().size())];
    const uint8_t slots = in_.U8();
    options.num_slots = slots < 250 ? slots % 5 : slots - 190;
    const size_t kind = in_.Choose(3);
    options.guarded = kind > 0;
    options.slot_wait = kind == 1 ? SessionModel::kPatient : std::chrono::milliseconds(1);
    const bool legal_slots = options.num_slots >= 1 && options.num_slots <= plan::kMaxSlots;
    const size_t devices = in_.Choose(DeviceChoices().size());
    const size_t before = registry_.size();
    const auto session = registry_.Open(options, DeviceChoices()[devices]);
    if (!session.ok()) {
      EXPECT_EQ(registry_.size(), before);
      EXPECT_EQ(session.status().code(), devices > 3 || !legal_slots
                                             ? absl::StatusCode::kInvalidArgument
                                         : stopped_ ? absl::StatusCode::kUnavailable
                                                    : absl::StatusCode::kResourceExhausted)
          << session.status();
      return;
    }
    EXPECT_TRUE(legal_slots && devices <= 3 && !stopped_);
    EXPECT_EQ(registry_.size(), before + 1);
    sessions_.push_back(std::make_unique<SessionModel>(*session));
  }

  void Plan(SessionModel& session) {
    const auto completion = in_.Bool() ? server::Completion::kWait : server::Completion::kEnqueued;
    const auto how = static_cast<WhileWaiting>(in_.Choose(3));
    session.Plan(MakeBatch(in_, session.config()), completion, how, registry_);
  }

  void Update(SessionModel& session) {
    const uint8_t back = in_.U8();
    const uint64_t plan_id =
        back == 255 ? std::numeric_limits<uint64_t>::max()
                    : session.last_value() - std::min<uint64_t>(back, session.last_value());
    const auto group = static_cast<int32_t>(in_.U8()) - 1;
    json::OwnedBlockTable table;
    const json::OwnedBatch* batch = session.BatchOf(plan_id);
    if (batch != nullptr && group >= 0 && group < session.config().num_groups()) {
      Random random(in_.U8());
      table = RandomBlockTable(session.config(), group, *batch, random);
    }
    if (in_.Bool()) Edit(in_, table.block_ids);
    if (in_.Choose(4) == 3) table.width = in_.I32();
    session.Update(plan_id, group, table);
  }

  void Consume(SessionModel& session) {
    if (session.closed()) return;
    const uint8_t value = in_.U8();
    const auto slot = static_cast<int32_t>(in_.Choose(static_cast<size_t>(session.num_slots())));
    session.Consume(in_.Choose(session.num_arenas()), slot,
                    value == 255   ? std::numeric_limits<uint64_t>::max()
                    : value == 254 ? session.last_value()
                                   : value);
  }

  void Close(SessionModel& session) {
    const absl::Status status = registry_.Close(session.id());
    EXPECT_EQ(status.code(),
              session.closed() ? absl::StatusCode::kNotFound : absl::StatusCode::kOk);
    session.Closed(absl::StatusCode::kNotFound);
    EXPECT_EQ(registry_.Find(session.id()).status().code(), absl::StatusCode::kNotFound);
  }

  void CloseAll() {
    stopped_ = true;
    registry_.CloseAll();
    for (const auto& session : sessions_) session->Closed(absl::StatusCode::kUnavailable);
  }

  void Unknown() {
    std::string id(in_.Choose(40), '0');
    for (char& c : id) c = static_cast<char>(in_.U8());
    EXPECT_EQ(registry_.Close(id).code(), absl::StatusCode::kNotFound);
  }

  ByteReader in_;
  const std::shared_ptr<server::Boot> boot_ = server::Boot::Create().value();
  SessionRegistry registry_{
      boot_,
      {std::make_shared<HostDevice>(boot_),
       std::make_shared<HostDevice>(boot_,
                                    HostDevice::Options{.index = 1, .limit_bytes = kSmallDevice})},
      {.max_sessions = kMaxSessions}};
  std::vector<std::unique_ptr<SessionModel>> sessions_;
  bool stopped_ = false;
};

}  // namespace
}  // namespace gdnplan::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gdnplan::test::Run(gdnplan::test::ByteReader({data, size})).All();
  return 0;
}
