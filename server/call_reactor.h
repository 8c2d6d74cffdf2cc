// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A unary RPC whose answer is a plan.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/v1/plan.pb.h"
#include "server/session.h"
#include "server/session_call.h"

namespace gdnplan::server {

// Made for one RPC; deletes itself once gRPC is done with it. gRPC keeps request and answer until
// then, so the call may point into them.
class CallReactor final : public grpc::ServerUnaryReactor, public SessionCall {
 public:
  CallReactor(grpc::CallbackServerContext& context, std::shared_ptr<Session> session,
              v1::Plan& answer);
  ~CallReactor() override;

  // Room for the call's block tables, kept from call to call.
  std::vector<plan::BlockTableView>& tables() { return tables_; }

  // After this the reactor belongs to gRPC: return it, but do not touch it.
  void Start() { session_->Submit(*this); }

  void Done(const absl::StatusOr<PlanResult>& result) override;
  bool Abandoned() const override { return context_.IsCancelled(); }

 private:
  void OnDone() override { delete this; }

  grpc::CallbackServerContext& context_;
  const std::shared_ptr<Session> session_;
  v1::Plan& answer_;
  std::vector<plan::BlockTableView> tables_;
};

}  // namespace gdnplan::server
