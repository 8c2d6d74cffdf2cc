// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/fork_guard_stub.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace gdnplan::client {
namespace {

class ForkGuardStub final : public Stub {
 public:
  explicit ForkGuardStub(std::shared_ptr<Stub> stub) : stub_(std::move(stub)), pid_(getpid()) {}

  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo(
      const CallContext& context, const v1::GetServerInfoRequest& request) override {
    return Call(context, request, &Stub::GetServerInfo);
  }
  absl::StatusOr<v1::OpenSessionResponse> OpenSession(
      const CallContext& context, const v1::OpenSessionRequest& request) override {
    return Call(context, request, &Stub::OpenSession);
  }
  absl::StatusOr<v1::AttachSessionResponse> AttachSession(
      const CallContext& context, const v1::AttachSessionRequest& request) override {
    return Call(context, request, &Stub::AttachSession);
  }
  absl::StatusOr<v1::DetachSessionResponse> DetachSession(
      const CallContext& context, const v1::DetachSessionRequest& request) override {
    return Call(context, request, &Stub::DetachSession);
  }
  absl::StatusOr<v1::CloseSessionResponse> CloseSession(
      const CallContext& context, const v1::CloseSessionRequest& request) override {
    return Call(context, request, &Stub::CloseSession);
  }
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(const CallContext& context,
                                                  const v1::HeartbeatRequest& request) override {
    return Call(context, request, &Stub::Heartbeat);
  }
  absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const CallContext& context, const v1::ListSessionsRequest& request) override {
    return Call(context, request, &Stub::ListSessions);
  }
  absl::StatusOr<v1::PlanResponse> Plan(const CallContext& context,
                                        const v1::PlanRequest& request) override {
    return Call(context, request, &Stub::Plan);
  }
  absl::StatusOr<v1::UpdateBlockTableResponse> UpdateBlockTable(
      const CallContext& context, const v1::UpdateBlockTableRequest& request) override {
    return Call(context, request, &Stub::UpdateBlockTable);
  }

  absl::StatusOr<std::unique_ptr<StubStream>> PlanStream(bool poll) override {
    const absl::Status usable = Check();
    if (!usable.ok()) return usable;
    return stub_->PlanStream(poll);
  }
  absl::StatusOr<std::unique_ptr<StubWatch>> WatchPlans(const v1::WatchPlansRequest& request,
                                                        bool poll) override {
    const absl::Status usable = Check();
    if (!usable.ok()) return usable;
    return stub_->WatchPlans(request, poll);
  }

 private:
  absl::Status Check() const {
    const pid_t pid = getpid();
    if (pid == pid_) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("this client was made by process ", pid_, " and cannot be used in process ",
                     pid, ", forked from it; connect anew after the fork"));
  }

  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(const CallContext& context, const Request& request,
                                absl::StatusOr<Response> (Stub::*method)(const CallContext&,
                                                                         const Request&)) {
    const absl::Status usable = Check();
    if (!usable.ok()) return usable;
    return (stub_.get()->*method)(context, request);
  }

  std::shared_ptr<Stub> stub_;
  const pid_t pid_;
};

}  // namespace

std::shared_ptr<Stub> MakeForkGuardStub(std::shared_ptr<Stub> stub) {
  return std::make_shared<ForkGuardStub>(std::move(stub));
}

}  // namespace gdnplan::client
