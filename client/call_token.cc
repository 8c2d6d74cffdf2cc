// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/call_token.h"

#include <utility>
#include <vector>

#include "gdnplan/plan/status.h"

namespace gdnplan::client {
namespace {

constexpr std::chrono::seconds kInterval{1};

std::string Authorization(const std::string& token) { return std::string(wire::kBearer) + token; }

}  // namespace

absl::StatusOr<std::shared_ptr<CallToken>> CallToken::Open(const std::string& path) {
  wire::TokenReader reader(path, "token_file");
  GDNPLAN_ASSIGN_OR_RETURN(const std::vector<std::string> tokens, *reader.ReadIfChanged());
  return std::shared_ptr<CallToken>(new CallToken(std::move(reader), tokens.front()));
}

CallToken::CallToken(wire::TokenReader reader, const std::string& token)
    : reader_(std::move(reader)), authorization_(Authorization(token)) {}

void CallToken::AddTo(grpc::ClientContext& context) {
  const std::lock_guard lock(mutex_);
  if (const Clock::time_point now = Clock::now(); now - looked_ >= kInterval) {
    looked_ = now;
    const auto tokens = reader_.ReadIfChanged();
    if (tokens.has_value() && tokens->ok()) authorization_ = Authorization((*tokens)->front());
  }
  context.AddMetadata(wire::kAuthorization, authorization_);
}

}  // namespace gdnplan::client
