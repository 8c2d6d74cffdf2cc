// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/load_outputs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/report_html.h"
#include "client/load/report_json.h"
#include "client/tool/usage.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {

absl::StatusOr<LoadOutputs> LoadOutputs::Open(const LoadFlags& flags,
                                              const std::vector<InputFile>& inputs) {
  LoadOutputs outputs;
  std::vector<const OutputFile*> opened;
  const auto open = [&](const char* flag, const std::string& path,
                        std::optional<OutputFile>& file) -> absl::Status {
    if (path.empty()) return absl::OkStatus();
    GDNPLAN_ASSIGN_OR_RETURN(OutputFile output, OutputFile::Open(flag, path));
    for (const InputFile& input : inputs) {
      if (!output.Is(input.path)) continue;
      return WrongUsage(flag, absl::StrCat(path, " is the file of ", input.flag,
                                           ", which is read; give another"));
    }
    for (const OutputFile* other : opened) {
      if (!output.IsSameAs(*other)) continue;
      return WrongUsage(
          flag, absl::StrCat(path, " is the file of ", other->flag(), ", too; give another"));
    }
    file.emplace(std::move(output));
    opened.push_back(&*file);
    return absl::OkStatus();
  };
  GDNPLAN_RETURN_IF_ERROR(open("--json", flags.json_file, outputs.json_));
  GDNPLAN_RETURN_IF_ERROR(open("--csv", flags.csv_file, outputs.csv_));
  GDNPLAN_RETURN_IF_ERROR(open("--html", flags.html_file, outputs.html_));
  return outputs;
}

absl::Status LoadOutputs::Write(const load::Result& result) {
  GDNPLAN_RETURN_IF_ERROR(WriteJson(load::ToJsonText(result)));
  if (csv_) GDNPLAN_RETURN_IF_ERROR(csv_->Write(load::ToCsv(result.latency)));
  return html_ ? html_->Write(load::ToHtml(result)) : absl::OkStatus();
}

absl::Status LoadOutputs::WriteJson(const std::string& text) {
  return json_ ? json_->Write(text) : absl::OkStatus();
}

}  // namespace gdnplan::tool
