// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session over a mocked stub whose streams are FakeStreams.
#pragma once

#include <gmock/gmock.h>

#include <memory>

#include "gdnplan/client/client.h"
#include "tests/client/fake_session.h"
#include "tests/client/fake_stream.h"
#include "tests/client/mock_stub.h"

namespace gdnplan::client {

class StreamTestBase : public ::testing::Test {
 protected:
  StreamTestBase() {
    ON_CALL(*stub_, GetServerInfo).WillByDefault([this](const auto&, const auto&) {
      v1::GetServerInfoResponse response;
      response.set_boot_id(boot_id_);
      return response;
    });
    ON_CALL(*stub_, OpenSession).WillByDefault([this](const auto&, const auto&) {
      v1::OpenSessionResponse response;
      *response.mutable_session() = fake_.Description();
      return response;
    });
    ON_CALL(*stub_, CloseSession).WillByDefault(::testing::Return(v1::CloseSessionResponse()));
    ON_CALL(*stub_, PlanStream).WillByDefault([this](bool) {
      return std::make_unique<FakeStream>(server_);
    });
    plan::PlanConfig config;
    config.max_num_seqs = 8;
    config.max_num_batched_tokens = 64;
    config.groups.resize(2);
    session_ = std::make_unique<Session>(client_.OpenSession(config).value());
  }

  PlanStream Open(const StreamOptions& options = {}) {
    return session_->OpenStream(options).value();
  }

  FakeSession fake_;
  v1::Plan plan_ = fake_.Plan();
  std::string boot_id_ = fake_.Description().boot_id();
  std::shared_ptr<FakeServer> server_ = std::make_shared<FakeServer>();
  std::shared_ptr<::testing::NiceMock<MockStub>> stub_ =
      std::make_shared<::testing::NiceMock<MockStub>>();
  Client client_{stub_};
  std::unique_ptr<Session> session_;
  plan::BatchView batch_;
};

}  // namespace gdnplan::client
