// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Golden cases against a server, read back as a worker would.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/json/golden.h"
#include "gdnplan/client/client.h"

namespace gdnplan::tool {

struct VerifyOptions {
  int32_t num_slots = 1;
  std::vector<std::string> devices;
  // Whether plans are read through the worker's connection and a mapping made from the description
  // that AttachSession gives it. Otherwise through the opener's.
  bool attach = true;
  // Whether batches go over one stream for each session instead of a call for each batch.
  std::optional<client::StreamOptions> stream = {};
};

struct CaseToVerify {
  std::string file;
  json::GoldenCase golden;
};

// Plans all cases that can share a session in one, one after the other, so that what a
// plan leaves behind in its buffers meets the next one. `report` gets each case once, with what is
// wrong with it; nothing: it passed.
void VerifyCases(const client::Client& opener, const client::Client& worker,
                 const std::vector<CaseToVerify>& cases, const VerifyOptions& options,
                 const std::function<void(const CaseToVerify&, std::vector<std::string>)>& report);

}  // namespace gdnplan::tool
