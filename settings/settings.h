// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where a program's options come from: the command line, else the environment, else a configuration
// file, else the default.
#pragma once

#include <CLI/App.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "settings/settings_file.h"

namespace gdnplan::settings {

class Settings {
 public:
  // Adds --config and --print-config, and --generate, which packages are made with. What has an
  // environment variable can stand in the file too, as its flag without the dashes; so describe all
  // options before Parse. `app` outlives this.
  Settings(CLI::App& app, const char* config_variable);

  enum class Next { kRun, kExit };
  // kExit: what was asked for instead of a run was printed. InvalidArgument: the wrong option with
  // the variable or the file's line that it came from. DataLoss: it could not be printed.
  absl::StatusOr<Next> Parse(int argc, const char* const* argv);

  // The configuration file; empty: none. After Parse.
  const std::string& path() const { return path_; }
  // Every option as a line of the file, and where its value came from.
  std::string Text() const;

 private:
  using Arguments = std::vector<std::string>;

  // Nothing: not an option that the file can have.
  CLI::Option* Find(const std::string& key) const;
  std::vector<CLI::Option*> Configurable() const;
  void NoteFlags(const Arguments& arguments);
  std::string ConfigPath(const Arguments& arguments);
  absl::StatusOr<std::map<const CLI::Option*, std::vector<Entry>>> ReadFile(
      const std::string& path) const;
  // What the environment and the file say, as flags.
  absl::StatusOr<Arguments> Others(const std::string& path);
  absl::Status Add(CLI::Option& option, const std::string& value, const std::string& source,
                   Arguments& flags);
  // InvalidArgument: an option of nothing, for which the parser would take the argument behind it.
  // Takes the blanks out of lists.
  absl::Status CheckValues(Arguments& arguments) const;
  absl::StatusOr<Next> Run(Arguments arguments);
  absl::Status Blame(const std::string& message) const;
  std::string Value(const CLI::Option& option) const;

  CLI::App& app_;
  CLI::Option* config_ = nullptr;
  std::string path_;
  bool print_ = false;
  std::string generate_;
  std::map<const CLI::Option*, std::string> sources_;  // of all but defaults
  std::vector<CLI::Option*> off_;  // flags that a variable or the file turned off
};

}  // namespace gdnplan::settings
