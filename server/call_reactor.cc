// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/call_reactor.h"

#include <utility>

#include "server/describe.h"
#include "wire/grpc_status.h"

namespace gdnplan::server {
namespace {

// A call takes its thread's vector and leaves one when it goes.
thread_local std::vector<plan::BlockTableView> spare_tables;

}  // namespace

CallReactor::CallReactor(grpc::CallbackServerContext& context, std::shared_ptr<Session> session,
                         v1::Plan& answer)
    : context_(context), session_(std::move(session)), answer_(answer) {
  tables_.swap(spare_tables);
}

CallReactor::~CallReactor() {
  if (tables_.capacity() > spare_tables.capacity()) tables_.swap(spare_tables);
}

void CallReactor::Done(const absl::StatusOr<PlanResult>& result) {
  if (result.ok()) Describe(*result, answer_);
  Finish(wire::ToGrpc(result.status()));
}

}  // namespace gdnplan::server
