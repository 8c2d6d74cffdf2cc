// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/outline.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace gdnplan::settings {
namespace {

// The parser's own text: "INT:INT in [0 - 5]", "TEXT:{a,b}", "FILE".
void ReadType(const std::string& type, OptionOutline& outline) {
  const size_t colon = type.find(':');
  outline.value = type.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string rule = type.substr(colon + 1);
  if (rule.starts_with('{') && rule.ends_with('}')) {
    outline.choices = absl::StrSplit(rule.substr(1, rule.size() - 2), ',');
  } else if (const size_t open = rule.find('['); open != std::string::npos && rule.ends_with(']')) {
    outline.range =
        absl::StrReplaceAll(rule.substr(open + 1, rule.size() - open - 2), {{" - ", " to "}});
  }
}

OptionOutline OutlineOf(const CLI::Option& option) {
  OptionOutline outline;
  for (const std::string& name : option.get_snames()) outline.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) outline.names.push_back("--" + name);
  if (option.get_expected_min() > 0) {
    ReadType(option.get_type_name(), outline);
    outline.repeatable = option.get_items_expected_max() > 1;
    outline.default_value = DefaultOf(option);
  }
  if (option.get_positional()) outline.value = option.get_name(true);
  outline.environment = option.get_envname();
  outline.description = option.get_description();
  return outline;
}

}  // namespace

std::string DefaultOf(const CLI::Option& option) {
  const std::string value = option.get_default_str();
  // How the parser shows a list.
  const bool list =
      option.get_items_expected_max() > 1 && value.starts_with('[') && value.ends_with(']');
  return list ? value.substr(1, value.size() - 2) : value;
}

CommandOutline OutlineOf(const CLI::App& app) {
  CommandOutline outline;
  outline.name = app.get_name();
  if (app.get_version_ptr() != nullptr) outline.version = app.version();
  outline.description = app.get_description();
  outline.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? outline.arguments : outline.options).push_back(OutlineOf(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    outline.commands.push_back(OutlineOf(*command));
  }
  return outline;
}

std::string FirstSentence(const std::string& text) {
  return text.substr(0, text.find_first_of(".\n"));
}

}  // namespace gdnplan::settings
