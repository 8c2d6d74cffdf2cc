// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A program's options and subcommands as plain data.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace gdnplan::settings {

struct OptionOutline {
  std::vector<std::string> names;  // "-v", "--verbose"; none: an argument without a name
  std::string value;               // what it takes, "FILE"; empty: nothing
  std::vector<std::string> choices;
  std::string range;          // "0 to 5"
  std::string default_value;  // empty: none
  std::string environment;    // empty: no variable
  std::string description;
  bool repeatable = false;

  bool takes_path() const { return value.starts_with("FILE") || value.starts_with("DIR"); }
};

struct CommandOutline {
  std::string name;
  std::string version;  // as --version prints it; of programs only
  std::string description;
  std::string footer;
  std::vector<OptionOutline> options;
  std::vector<OptionOutline> arguments;
  std::vector<CommandOutline> commands;
};

// Without options that --help does not show.
CommandOutline OutlineOf(const CLI::App& app);

// The default as an option takes it.
std::string DefaultOf(const CLI::Option& option);

// What fits where there is one line.
std::string FirstSentence(const std::string& text);

}  // namespace gdnplan::settings
