// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

constexpr char kUsagePayload[] = "gdnplan/usage";

constexpr char kNameCharacters[] = "abcdefghijklmnopqrstuvwxyz_";
constexpr char kFlagCharacters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

std::string FlagOf(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

absl::Status Marked(const std::string& text) {
  absl::Status status = absl::InvalidArgumentError(text);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

}  // namespace

absl::Status WrongUsage(std::string_view flag, std::string_view reason) {
  return Marked(absl::StrCat(plan::ToAbsl(flag), ": ", plan::ToAbsl(reason)));
}

absl::Status AsWrongUsage(const absl::Status& refused) {
  if (refused.ok()) return refused;
  const std::string_view text(refused.message().data(), refused.message().size());
  // The field's name, which is the flag's but for its dashes.
  const size_t end = std::min(text.find_first_not_of(kNameCharacters), text.size());
  return Marked(FlagOf(text.substr(0, end)) + std::string(text.substr(end)));
}

std::string WithFlags(std::string_view text) {
  std::string named;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_not_of(kNameCharacters), text.size());
    const std::string_view word = text.substr(0, end);
    named += word.find('_') == std::string_view::npos ? std::string(word) : FlagOf(word);
    text.remove_prefix(end);
    const size_t next = std::min(text.find_first_of(kNameCharacters), text.size());
    named += text.substr(0, next);
    text.remove_prefix(next);
  }
  return named;
}

std::string WithHelp(const std::string& error, const CLI::App& app) {
  std::string help = app.get_name();
  const size_t begin = std::min(error.find("--"), error.size());
  const size_t end = std::min(error.find_first_not_of(kFlagCharacters, begin), error.size());
  if (app.get_option_no_throw(error.substr(begin, end - begin)) == nullptr) {
    for (const CLI::App* chosen : app.get_subcommands()) help += " " + chosen->get_name();
  }
  return error + "; see " + help + " --help";
}

bool IsWrongUsage(const absl::Status& status) {
  return status.GetPayload(kUsagePayload).has_value();
}

}  // namespace gdnplan::tool
