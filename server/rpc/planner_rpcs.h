// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The generated service, every method on completion queues.
#pragma once

#include "gdnplan/v1/planner.grpc.pb.h"

namespace gdnplan::server {

// PlanStream in bytes: gRPC reports a message that it cannot parse as the end of the requests, so
// that the client would see an orderly end.
using PlannerRpcs = v1::Planner::WithAsyncMethod_GetServerInfo<
    v1::Planner::WithAsyncMethod_OpenSession<v1::Planner::WithAsyncMethod_AttachSession<
        v1::Planner::WithAsyncMethod_CloseSession<v1::Planner::WithAsyncMethod_Heartbeat<
            v1::Planner::WithAsyncMethod_ListSessions<v1::Planner::WithAsyncMethod_Plan<
                v1::Planner::WithRawMethod_PlanStream<v1::Planner::WithAsyncMethod_WatchPlans<
                    v1::Planner::WithAsyncMethod_UpdateBlockTable<
                        v1::Planner::WithAsyncMethod_DetachSession<v1::Planner::Service>>>>>>>>>>>;

}  // namespace gdnplan::server
