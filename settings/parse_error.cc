// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/parse_error.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gdnplan::settings {
namespace {

// Of the program or of the subcommand that was chosen.
const CLI::Option* Find(const std::string& name, const CLI::App& app) {
  const CLI::Option* option = app.get_option_no_throw(name);
  for (const CLI::App* chosen : app.get_subcommands()) {
    if (option == nullptr) option = chosen->get_option_no_throw(name);
  }
  return option;
}

std::string Times(size_t count) { return count == 2 ? "twice" : absl::StrCat(count, " times"); }

}  // namespace

std::string TextOf(const CLI::ParseError& error, const CLI::App& app) {
  const std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    // Its own text has all of them, the last one first.
    const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
    if (!extras.empty()) return absl::StrCat("not expected: ", extras.front());
  }
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return text;
  // "--rate: At Most 1 required but received 2", or "--rate: 1 required FLOAT missing".
  const std::string name = text.substr(0, text.find(": "));
  const CLI::Option* option = Find(name, app);
  if (option == nullptr) return text;
  const int wanted = option->get_items_expected_min();
  const bool missing = text.ends_with(" missing");
  if (wanted != 1) {
    return absl::StrCat(name, ": needs ", wanted, " values",
                        missing ? "" : absl::StrCat(" (got ", option->count(), ")"));
  }
  if (missing) return absl::StrCat(name, ": needs a value");
  return absl::StrCat(name, ": given ", Times(option->count()), "; give it once");
}

}  // namespace gdnplan::settings
