// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Streams over gRPC.
#pragma once

#include <memory>

#include "client/call_token.h"
#include "client/stub_stream.h"
#include "gdnplan/v1/planner.grpc.pb.h"

namespace gdnplan::client {

// The stub must outlive them. token: may be null. poll: see CallEvents.
std::unique_ptr<StubStream> MakeGrpcStream(v1::Planner::Stub& stub, CallToken* token, bool poll);
std::unique_ptr<StubWatch> MakeGrpcWatch(v1::Planner::Stub& stub, CallToken* token,
                                         const v1::WatchPlansRequest& request, bool poll);

}  // namespace gdnplan::client
