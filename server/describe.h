// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The server's own types as messages of the contract.
#pragma once

#include "gdnplan/v1/planner.pb.h"
#include "server/boot.h"
#include "server/device.h"
#include "server/plan_result.h"
#include "server/session.h"

namespace gdnplan::server {

void Describe(const DeviceInfo& info, v1::Device& message);
void Describe(const PlanResult& result, v1::Plan& message);
void Describe(const Session& session, const Boot& boot, v1::SessionDescription& message);
// Of a lease, as the contract has it. 0: it does not lapse.
uint64_t LeftMilliseconds(Session::Clock::duration left);
void Summarize(Session& session, v1::SessionSummary& message);

}  // namespace gdnplan::server
