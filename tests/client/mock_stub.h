// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "client/stub.h"

namespace gdnplan::client {

class MockStub : public Stub {
 public:
  MOCK_METHOD(absl::StatusOr<v1::GetServerInfoResponse>, GetServerInfo,
              (const CallContext&, const v1::GetServerInfoRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::OpenSessionResponse>, OpenSession,
              (const CallContext&, const v1::OpenSessionRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::AttachSessionResponse>, AttachSession,
              (const CallContext&, const v1::AttachSessionRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::DetachSessionResponse>, DetachSession,
              (const CallContext&, const v1::DetachSessionRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::CloseSessionResponse>, CloseSession,
              (const CallContext&, const v1::CloseSessionRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::HeartbeatResponse>, Heartbeat,
              (const CallContext&, const v1::HeartbeatRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::ListSessionsResponse>, ListSessions,
              (const CallContext&, const v1::ListSessionsRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::PlanResponse>, Plan, (const CallContext&, const v1::PlanRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::UpdateBlockTableResponse>, UpdateBlockTable,
              (const CallContext&, const v1::UpdateBlockTableRequest&), (override));
  MOCK_METHOD(absl::StatusOr<std::unique_ptr<StubStream>>, PlanStream, (bool), (override));
  MOCK_METHOD(absl::StatusOr<std::unique_ptr<StubWatch>>, WatchPlans,
              (const v1::WatchPlansRequest&, bool), (override));
};

class MockWatch : public StubWatch {
 public:
  MOCK_METHOD(absl::Status, Read, (v1::WatchPlansResponse&, StreamDeadline), (override));
  MOCK_METHOD(void, Cancel, (), (override));
};

}  // namespace gdnplan::client
