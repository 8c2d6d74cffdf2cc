// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The files that `gdnplan load` writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/load/result.h"
#include "client/tool/input_files.h"
#include "client/tool/load_flags.h"
#include "client/tool/output_file.h"

namespace gdnplan::tool {

class LoadOutputs {
 public:
  // Before the load. WrongUsage: one of them is another's file, or one of `inputs`.
  static absl::StatusOr<LoadOutputs> Open(const LoadFlags& flags,
                                          const std::vector<InputFile>& inputs);

  absl::Status Write(const load::Result& result);
  absl::Status WriteJson(const std::string& text);

 private:
  std::optional<OutputFile> json_;
  std::optional<OutputFile> csv_;
  std::optional<OutputFile> html_;
};

}  // namespace gdnplan::tool
