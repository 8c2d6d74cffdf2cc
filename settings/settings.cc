// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/settings.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gdnplan/plan/status.h"
#include "settings/generate.h"
#include "settings/outline.h"
#include "settings/parse_error.h"

namespace gdnplan::settings {
namespace {

constexpr char kCommandLine[] = "command line";
constexpr char kDefault[] = "default";
// The file has no way to say them.
constexpr std::string_view kNotInALine("\n\0", 2);

bool IsFlag(const CLI::Option& option) { return option.get_expected_min() == 0; }
bool IsList(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string Name(const CLI::Option& option) { return option.get_lnames().front(); }

std::string FromEnvironment(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  return value == nullptr ? "" : value;
}

std::optional<bool> ToBool(const std::string& text) {
  const std::string lower = absl::AsciiStrToLower(text);
  if (lower == "true" || lower == "on" || lower == "yes" || lower == "1") return true;
  if (lower == "false" || lower == "off" || lower == "no" || lower == "0") return false;
  return std::nullopt;
}

// A flag that is off was not given, but the parser would count its variable.
class WithoutVariables {
 public:
  explicit WithoutVariables(const std::vector<CLI::Option*>& options) {
    for (CLI::Option* option : options) {
      names_.emplace_back(option, option->get_envname());
      option->envname("");
    }
  }
  WithoutVariables(const WithoutVariables&) = delete;
  WithoutVariables& operator=(const WithoutVariables&) = delete;
  ~WithoutVariables() {
    for (const auto& [option, name] : names_) option->envname(name);
  }

 private:
  std::vector<std::pair<CLI::Option*, std::string>> names_;
};

// The option that an argument names, as "--name" or "--name=value".
CLI::Option* Named(CLI::App& app, const std::string& argument) {
  return argument.starts_with("--")
             ? app.get_option_no_throw(argument.substr(0, argument.find('=')))
             : nullptr;
}

// The subcommand that the arguments name. Null: none.
CLI::App* SubcommandIn(CLI::App& app, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (command->get_name() == argument) return command;
    }
  }
  return nullptr;
}

// A list as people write it, "1, 2", as the parser takes it.
std::string WithoutBlanks(const std::string& list, const CLI::Option& option) {
  if (option.get_delimiter() == '\0') return list;
  std::vector<std::string> parts = absl::StrSplit(list, option.get_delimiter());
  for (std::string& part : parts) absl::StripAsciiWhitespace(&part);
  return absl::StrJoin(parts, std::string(1, option.get_delimiter()));
}

// What the option that the argument at `i` names is given, there or in the next one; nothing: the
// parser says that it is missing.
std::optional<std::string> ValueAt(const std::vector<std::string>& arguments, size_t i) {
  const size_t equals = arguments[i].find('=');
  if (equals != std::string::npos) return arguments[i].substr(equals + 1);
  if (i + 1 < arguments.size()) return arguments[i + 1];
  return std::nullopt;
}

// A full disk must not pass for success: packages are made of what is printed.
absl::StatusOr<Settings::Next> Printed() {
  if (std::cout.flush()) return Settings::Next::kExit;
  return absl::DataLossError("cannot write to stdout");
}

}  // namespace

Settings::Settings(CLI::App& app, const char* config_variable) : app_(app) {
  config_ = app.add_option("--config", path_,
                           "Reads options from a file of \"key = value\" lines: keys are the "
                           "options that have an environment variable, without dashes. Flags "
                           "go before the environment, and that before the file")
                ->envname(config_variable)
                ->type_name("FILE");
  app.add_flag("--print-config", print_,
               "Prints all options as such a file, says where each value comes from, and exits");
  app.add_option("--generate", generate_)
      ->check(CLI::IsMember({"bash", "man", "zsh"}))
      ->group("");  // not in --help
}

absl::StatusOr<Settings::Next> Settings::Parse(int argc, const char* const* argv) {
  const Arguments arguments(argv + 1, argv + argc);
  sources_.clear();
  off_.clear();
  NoteFlags(arguments);
  // Somebody who asks for help may need it for the file.
  if (std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        return argument == "-h" || argument == "--help" || argument == "--version";
      })) {
    return Run(arguments);
  }
  GDNPLAN_ASSIGN_OR_RETURN(Arguments all, Others(ConfigPath(arguments)));
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Run(std::move(all));
}

std::string Settings::Text() const {
  std::string text;
  for (const CLI::Option* option : Configurable()) {
    const auto source = sources_.find(option);
    const std::string value = Value(*option);
    absl::StrAppend(&text, Name(*option), " =", value.empty() ? "" : " ", FormatValue(value),
                    "  # ", source == sources_.end() ? kDefault : source->second, "\n");
  }
  return text;
}

CLI::Option* Settings::Find(const std::string& key) const {
  const std::vector<CLI::Option*> options = Configurable();
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const CLI::Option* option) { return Name(*option) == key; });
  return found == options.end() ? nullptr : *found;
}

std::vector<CLI::Option*> Settings::Configurable() const {
  return app_.get_options([this](const CLI::Option* option) {
    return option != config_ && !option->get_lnames().empty() && !option->get_envname().empty();
  });
}

void Settings::NoteFlags(const Arguments& arguments) {
  for (const std::string& argument : arguments) {
    if (const CLI::Option* option = Named(app_, argument)) sources_[option] = kCommandLine;
  }
}

std::string Settings::ConfigPath(const Arguments& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (Named(app_, arguments[i]) == config_) return ValueAt(arguments, i).value_or("");
  }
  const std::string path = FromEnvironment(config_->get_envname());
  if (!path.empty()) sources_[config_] = config_->get_envname();
  return path;
}

absl::StatusOr<std::map<const CLI::Option*, std::vector<Entry>>> Settings::ReadFile(
    const std::string& path) const {
  std::map<const CLI::Option*, std::vector<Entry>> found;
  if (path.empty()) return found;
  const absl::StatusOr<std::vector<Entry>> read = ReadEntries(path);
  // What is wrong in the file names its place.
  if (absl::IsInvalidArgument(read.status())) return read.status();
  if (!read.ok()) return Blame(absl::StrCat("--config: ", read.status().message()));
  for (const Entry& entry : *read) {
    const std::string place = absl::StrCat(path, ":", entry.line, ": ");
    const CLI::Option* option = Find(entry.key);
    if (option == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, "no such key (got ", entry.key, "); --print-config shows all"));
    }
    std::vector<Entry>& same = found[option];
    if (!same.empty() && !IsList(*option)) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, entry.key, " was given in line ", same.front().line, " already"));
    }
    same.push_back(entry);
  }
  return found;
}

absl::StatusOr<Settings::Arguments> Settings::Others(const std::string& path) {
  GDNPLAN_ASSIGN_OR_RETURN(const auto entries, ReadFile(path));
  Arguments flags;
  for (CLI::Option* option : Configurable()) {
    if (sources_.contains(option)) continue;
    const std::string& variable = option->get_envname();
    if (const std::string value = FromEnvironment(variable); !value.empty()) {
      GDNPLAN_RETURN_IF_ERROR(Add(*option, value, variable, flags));
      continue;
    }
    const auto found = entries.find(option);
    if (found == entries.end()) continue;
    for (const Entry& entry : found->second) {
      if (entry.value.empty()) continue;
      const std::string source = absl::StrCat(path, ":", entry.line);
      GDNPLAN_RETURN_IF_ERROR(Add(*option, entry.value, source, flags));
    }
  }
  return flags;
}

absl::Status Settings::Add(CLI::Option& option, const std::string& value, const std::string& source,
                           Arguments& flags) {
  std::string& known = sources_[&option];
  absl::StrAppend(&known, known.empty() ? "" : ", ", source);
  if (!IsFlag(option)) {
    flags.push_back(absl::StrCat("--", Name(option), "=", value));
    return absl::OkStatus();
  }
  const std::optional<bool> on = ToBool(value);
  if (!on.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": ", Name(option), ": must be true or false (got ", value, ")"));
  }
  if (*on) {
    flags.push_back("--" + Name(option));
  } else {
    off_.push_back(&option);
  }
  return absl::OkStatus();
}

absl::Status Settings::CheckValues(Arguments& arguments) const {
  CLI::App* command = SubcommandIn(app_, arguments);
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const CLI::Option* option = Named(app_, arguments[i]);
    if (option == nullptr && command != nullptr) option = Named(*command, arguments[i]);
    const bool has_value = arguments[i].find('=') != std::string::npos;
    if (option == nullptr || (IsFlag(*option) && !has_value)) continue;
    const std::optional<std::string> given = ValueAt(arguments, i);
    if (!given.has_value()) continue;
    const std::string value = WithoutBlanks(*given, *option);
    const auto refuse = [&](const std::string& reason) {
      return Blame(absl::StrCat("--", Name(*option), ": ", reason));
    };
    if (value.empty()) return refuse("needs a value; leave it out for none");
    if (value.find_first_not_of(option->get_delimiter()) == std::string::npos) {
      return refuse(absl::StrCat("needs a value (got ", *given, ")"));
    }
    if (value.find_first_of(kNotInALine) != std::string::npos) {
      return refuse(absl::StrCat("must be one line, without NUL bytes (got \"",
                                 absl::CHexEscape(value), "\")"));
    }
    std::string& argument = arguments[has_value ? i : i + 1];
    argument = has_value ? absl::StrCat("--", Name(*option), "=", value) : value;
  }
  return absl::OkStatus();
}

absl::StatusOr<Settings::Next> Settings::Run(Arguments arguments) {
  GDNPLAN_RETURN_IF_ERROR(CheckValues(arguments));
  // What the parser expects.
  std::reverse(arguments.begin(), arguments.end());
  try {
    const WithoutVariables without(off_);
    app_.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
      return Blame(TextOf(error, app_));
    }
    app_.exit(error);  // --help, --version
    return Printed();
  }
  if (print_) std::cout << Text();
  if (!generate_.empty()) std::cout << Generate(app_, generate_);
  if (!print_ && generate_.empty()) return Next::kRun;
  return Printed();
}

absl::Status Settings::Blame(const std::string& message) const {
  const CLI::Option* option = Named(app_, message.substr(0, message.find(": ")));
  const auto source = sources_.find(option);
  if (source == sources_.end() || source->second == kCommandLine) {
    return absl::InvalidArgumentError(message);
  }
  return absl::InvalidArgumentError(absl::StrCat(source->second, ": ", message));
}

std::string Settings::Value(const CLI::Option& option) const {
  if (IsFlag(option)) {
    const bool on = option.count() > 0 && ToBool(option.results().back()).value_or(true);
    return on ? "true" : "false";
  }
  if (option.count() > 0) return absl::StrJoin(option.results(), ",");
  return DefaultOf(option);
}

}  // namespace gdnplan::settings
