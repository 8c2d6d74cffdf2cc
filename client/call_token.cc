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
  // First, so that a change in between is seen.
  const wire::FileStamp stamp = wire::StampOf(path);
  GDNPLAN_ASSIGN_OR_RETURN(const std::vector<std::string> tokens, wire::ReadTokens(path));
  return std::shared_ptr<CallToken>(new CallToken(path, stamp, tokens.front()));
}

CallToken::CallToken(std::string path, wire::FileStamp stamp, const std::string& token)
    : path_(std::move(path)), stamp_(stamp), authorization_(Authorization(token)) {}

void CallToken::AddTo(grpc::ClientContext& context) {
  const std::lock_guard lock(mutex_);
  if (const Clock::time_point now = Clock::now(); now - looked_ >= kInterval) {
    looked_ = now;
    const wire::FileStamp stamp = wire::StampOf(path_);
    if (!(stamp == stamp_)) {
      stamp_ = stamp;
      const auto tokens = wire::ReadTokens(path_);
      if (tokens.ok()) authorization_ = Authorization(tokens->front());
    }
  }
  context.AddMetadata(wire::kAuthorization, authorization_);
}

}  // namespace gdnplan::client
