// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The OpenSession RPC. A session whose opener gave up is closed again: nobody knows its id.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "wire/grpc_status.h"

namespace gdnplan::server {

// Made for one RPC; deletes itself once gRPC is done with it.
class OpenReactor final : public grpc::ServerUnaryReactor {
 public:
  // `close` gets the id of a session that was opened in vain.
  using CloseSession = std::function<void(const std::string& id)>;
  OpenReactor(grpc::CallbackServerContext& context, CloseSession close)
      : context_(context), close_(std::move(close)) {}

  // Once. `id`: of the session that was opened, if status is OK. After this the reactor belongs to
  // gRPC.
  void Answer(const absl::Status& status, std::string id) {
    if (status.ok()) id_ = std::move(id);
    Finish(wire::ToGrpc(status));
  }

 private:
  // Only here is it certain whether the caller stayed until the answer was sent.
  void OnDone() override {
    if (!id_.empty() && context_.IsCancelled()) close_(id_);
    delete this;
  }

  grpc::CallbackServerContext& context_;
  const CloseSession close_;
  std::string id_;
};

}  // namespace gdnplan::server
