// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A server as the tests of streams start it, and a client's end of a PlanStream.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/json/owned_batch.h"
#include "gdnplan/v1/planner.grpc.pb.h"
#include "server/server.h"
#include "tests/server/service_testing.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {

inline absl::Status ToAbsl(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

// How the server waits and what is between it and its clients.
struct StreamSetup {
  const char* name;
  bool socket = false;  // a Unix socket, otherwise within the process
  server::PollMode poll = server::PollMode::kAdaptive;
  int rpc_threads = 1;
};

inline constexpr StreamSetup kStreamSetups[] = {
    {.name = "InProcess"},
    {.name = "Socket", .socket = true},
    {.name = "Always", .socket = true, .poll = server::PollMode::kAlways, .rpc_threads = 2},
    {.name = "Never", .socket = true, .poll = server::PollMode::kNever, .rpc_threads = 3},
};

// Longer than any test may take: a shutdown that returns did not wait for it.
inline constexpr std::chrono::minutes kLongGrace{10};

// Start() is for the test to call.
class StreamServerTest : public ::testing::TestWithParam<StreamSetup> {
 protected:
  void Start(server::Session::Devices devices) {
    const auto boot = server::Boot::Create();
    ASSERT_THAT(boot, IsOk());
    Start(*boot, std::move(devices));
  }
  void Start(const std::shared_ptr<server::Boot>& boot, server::Session::Devices devices) {
    server::ServerOptions options;
    options.poll = GetParam().poll;
    options.rpc_threads = GetParam().rpc_threads;
    if (GetParam().socket) options.listen = {"unix:" + (root_ / "x.sock").string()};
    auto started = server::Server::Start(options, boot, std::move(devices));
    ASSERT_THAT(started, IsOk());
    server_ = *std::move(started);
    channel_ = GetParam().socket ? grpc::CreateChannel(server_->addresses()[0],
                                                       grpc::InsecureChannelCredentials())
                                 : server_->InProcessChannel();
    client_.emplace(channel_);
  }
  // SampleConfig's session, guarded if it is to wait for its slot.
  v1::SessionDescription Open(int32_t num_slots = 1, uint32_t slot_wait_ms = 0) {
    v1::OpenSessionRequest request = SampleRequest();
    request.mutable_config()->set_num_slots(num_slots);
    request.set_slot_wait_ms(slot_wait_ms);
    if (slot_wait_ms > 0) request.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
    auto session = client_->Open(request);
    EXPECT_THAT(session, IsOk());
    return session.value_or(v1::SessionDescription());
  }
  v1::Planner::Stub& stub() { return client_->stub(); }

  const TemporaryDirectory directory_;
  const std::filesystem::path root_{directory_.path()};
  std::unique_ptr<server::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::optional<ServiceClient> client_;
};

inline std::string SetupName(const ::testing::TestParamInfo<StreamSetup>& info) {
  return info.param.name;
}

// One thread may send while another one reads.
class StreamClient {
 public:
  StreamClient(v1::Planner::Stub& stub, std::string session_id)
      : session_id_(std::move(session_id)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
    stream_ = stub.PlanStream(&context_);
  }
  ~StreamClient() {
    if (finished_) return;
    Cancel();
    Finish().IgnoreError();
  }
  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  bool Send(const v1::PlanStreamRequest& request) { return stream_->Write(request); }
  bool Send(uint64_t tag, const json::OwnedBatch& batch) { return Send(Request(tag, batch)); }
  v1::PlanStreamRequest Request(uint64_t tag, const json::OwnedBatch& batch) const {
    v1::PlanStreamRequest request;
    request.set_session_id(session_id_);
    request.set_tag(tag);
    Fill(batch, *request.mutable_batch());
    return request;
  }
  // Nothing: the stream ended.
  std::optional<v1::PlanStreamResponse> Read() {
    v1::PlanStreamResponse response;
    if (!stream_->Read(&response)) return std::nullopt;
    return response;
  }
  // The answer's plan or error, which must be to that tag.
  absl::StatusOr<v1::Plan> Read(uint64_t tag) {
    const auto response = Read();
    if (!response.has_value()) return absl::OutOfRangeError("the stream ended");
    EXPECT_EQ(response->tag(), tag);
    if (response->has_plan()) return response->plan();
    return absl::Status(static_cast<absl::StatusCode>(response->error().code()),
                        response->error().message());
  }
  bool CloseRequests() { return stream_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  // Once.
  absl::Status Finish() {
    finished_ = true;
    return ToAbsl(stream_->Finish());
  }

 private:
  const std::string session_id_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::PlanStreamRequest, v1::PlanStreamResponse>> stream_;
  bool finished_ = false;
};

}  // namespace gdnplan::test
