// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/token_file.h"

#include <chrono>
#include <utility>

#include "gdnplan/plan/status.h"
#include "server/log.h"

namespace gdnplan::server {
namespace {

constexpr std::chrono::milliseconds kInterval{500};

}  // namespace

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(const std::string& path) {
  wire::TokenReader reader(path, "--token-file");
  GDNPLAN_ASSIGN_OR_RETURN(std::vector<std::string> tokens, *reader.ReadIfChanged());
  return std::unique_ptr<TokenFile>(new TokenFile(std::move(reader), std::move(tokens)));
}

TokenFile::TokenFile(wire::TokenReader reader, std::vector<std::string> tokens)
    : reader_(std::move(reader)), tokens_(std::move(tokens)), thread_([this] { Run(); }) {}

TokenFile::~TokenFile() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

absl::Status TokenFile::Check(std::string_view authorization) const {
  bool known = false;
  if (authorization.starts_with(wire::kBearer)) {
    authorization.remove_prefix(wire::kBearer.size());
    MutexLock lock(mutex_);
    // All of them, so that the time does not tell which.
    for (const std::string& token : tokens_) {
      known = wire::SameSecret(token, authorization) || known;
    }
  }
  if (known) return absl::OkStatus();
  return absl::UnauthenticatedError("this server asks for a token, and the call has no valid one");
}

void TokenFile::Run() {
  MutexLock lock(mutex_);
  while (!stop_) {
    wake_.WaitFor(mutex_, kInterval);
    mutex_.Unlock();
    Look();
    mutex_.Lock();
  }
}

void TokenFile::Look() {
  auto read = reader_.ReadIfChanged();
  if (!read.has_value()) return;
  absl::StatusOr<std::vector<std::string>>& tokens = *read;
  if (!tokens.ok()) {
    Log(Severity::kWarn, "the tokens stay as they were",
        {{"reason", std::string(tokens.status().message())}});
    return;
  }
  Log(Severity::kInfo, "tokens read again", {{"tokens", tokens->size()}, {"file", reader_.path()}});
  MutexLock lock(mutex_);
  tokens_ = *std::move(tokens);
}

}  // namespace gdnplan::server
