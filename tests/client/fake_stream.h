// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A PlanStream call whose server is the test.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/stub_stream.h"

namespace gdnplan::client {

// What the server got and answers. Thread safe; outlives the stream.
class FakeServer {
 public:
  // An error ends the stream.
  void Answer(absl::StatusOr<v1::PlanStreamResponse> answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
    changed_.notify_all();
  }
  void Plan(uint64_t tag, const v1::Plan& plan) {
    v1::PlanStreamResponse response;
    response.set_tag(tag);
    *response.mutable_plan() = plan;
    Answer(response);
  }
  void Refuse(uint64_t tag, int code, const std::string& message) {
    v1::PlanStreamResponse response;
    response.set_tag(tag);
    response.mutable_error()->set_code(code);
    response.mutable_error()->set_message(message);
    Answer(response);
  }
  // What becomes of the next requests.
  void SetWriteStatus(absl::Status status) {
    const std::lock_guard lock(mutex_);
    write_status_ = std::move(status);
  }

  // Waits for so many requests.
  std::vector<v1::PlanStreamRequest> AwaitRequests(size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() >= number; });
    return requests_;
  }
  size_t num_requests() {
    const std::lock_guard lock(mutex_);
    return requests_.size();
  }
  bool cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }
  int num_ended() {
    const std::lock_guard lock(mutex_);
    return num_ended_;
  }
  StreamDeadline write_deadline() {
    const std::lock_guard lock(mutex_);
    return write_deadline_;
  }
  StreamDeadline read_deadline() {
    const std::lock_guard lock(mutex_);
    return read_deadline_;
  }

 private:
  friend class FakeStream;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::PlanStreamRequest> requests_;
  std::deque<absl::StatusOr<v1::PlanStreamResponse>> answers_;
  absl::Status write_status_;
  bool cancelled_ = false;
  int num_ended_ = 0;  // how often a reader was told of the end
  StreamDeadline write_deadline_;
  StreamDeadline read_deadline_;
};

class FakeStream final : public StubStream {
 public:
  explicit FakeStream(std::shared_ptr<FakeServer> server) : server_(std::move(server)) {}

  absl::Status Write(const v1::PlanStreamRequest& request, StreamDeadline deadline) override {
    const std::lock_guard lock(server_->mutex_);
    server_->write_deadline_ = deadline;
    if (!server_->write_status_.ok()) return server_->write_status_;
    server_->requests_.push_back(request);
    server_->changed_.notify_all();
    return absl::OkStatus();
  }
  absl::Status Read(v1::PlanStreamResponse& response, StreamDeadline deadline) override {
    std::unique_lock lock(server_->mutex_);
    server_->read_deadline_ = deadline;
    const auto told = [this] { return server_->cancelled_ || !server_->answers_.empty(); };
    if (!server_->changed_.wait_until(lock, deadline, told)) {
      return absl::DeadlineExceededError("the server did not answer in time");
    }
    if (server_->answers_.empty()) {
      ++server_->num_ended_;
      return absl::CancelledError("CANCELLED");
    }
    absl::StatusOr<v1::PlanStreamResponse> answer = std::move(server_->answers_.front());
    server_->answers_.pop_front();
    if (!answer.ok()) {
      ++server_->num_ended_;
      return answer.status();
    }
    response = *std::move(answer);
    return absl::OkStatus();
  }
  void Cancel() override {
    const std::lock_guard lock(server_->mutex_);
    server_->cancelled_ = true;
    server_->changed_.notify_all();
  }

 private:
  const std::shared_ptr<FakeServer> server_;
};

}  // namespace gdnplan::client
