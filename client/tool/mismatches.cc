// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/mismatches.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "client/json/batch_writer.h"
#include "client/tool/output_file.h"
#include "client/tool/text.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

constexpr int kMaxFiles = 10;
constexpr char kFlag[] = "--mismatch-dir";

absl::Status WriteFile(const std::string& path, const std::string& text) {
  GDNPLAN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Open(kFlag, path));
  return file.Write(text);
}

}  // namespace

absl::Status Mismatches::CheckDirectory() const {
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(directory_, error);
  const int reason = error          ? error.value()
                     : is_directory ? (access(directory_.c_str(), W_OK | X_OK) == 0 ? 0 : errno)
                                    : ENOTDIR;
  if (reason == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(reason, absl::StrCat(kFlag, ": cannot write to ", directory_));
}

void Mismatches::Add(const plan::PlanConfig& config, const json::OwnedBatch& batch,
                     const std::vector<std::string>& mismatches) {
  const std::lock_guard lock(mutex_);
  if (++count_ > kMaxFiles) return;
  const std::string path =
      absl::StrCat(directory_, "/gdnplan-mismatch-", getpid(), "-", count_, ".json");
  const absl::Status written = WriteFile(path, json::WriteBatch(config, batch).dump() + '\n');
  std::cerr << "\nwrong plan: " << OneLine(mismatches.front());
  if (mismatches.size() > 1) std::cerr << " (and " << mismatches.size() - 1 << " more)";
  std::cerr << "; its batch: " << OneLine(written.ok() ? path : std::string(written.message()))
            << '\n';
}

bool Mismatches::any() const {
  const std::lock_guard lock(mutex_);
  return count_ > 0;
}

}  // namespace gdnplan::tool
