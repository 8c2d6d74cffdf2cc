// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/zsh_completion.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace gdnplan::settings {
namespace {

// In single quotes, within the brackets of _arguments and between its colons.
std::string ZshEscaped(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"\n", " "}});
}

std::string Action(const OptionOutline& option) {
  if (option.takes_path()) return "_files";
  return option.choices.empty() ? " " : absl::StrCat("(", absl::StrJoin(option.choices, " "), ")");
}

void AppendSpecs(const std::vector<OptionOutline>& options, std::string& text) {
  for (const OptionOutline& option : options) {
    for (const std::string& name : option.names) {
      absl::StrAppend(&text, "    '", option.repeatable ? "*" : "", name);
      if (!option.value.empty() && name.starts_with("--")) absl::StrAppend(&text, "=");
      absl::StrAppend(&text, "[", ZshEscaped(FirstSentence(option.description)), "]");
      if (!option.value.empty()) {
        absl::StrAppend(&text, ":", ZshEscaped(option.value), ":", Action(option));
      }
      absl::StrAppend(&text, "'\n");
    }
  }
}

}  // namespace

std::string ZshCompletion(const CommandOutline& command) {
  const std::string function = absl::StrCat("_", absl::StrReplaceAll(command.name, {{"-", "_"}}));
  std::string text = absl::StrCat("#compdef ", command.name, "\n# Made from its own options.\n",
                                  function, "() {\n  local context state state_descr line\n",
                                  "  typeset -A opt_args\n  local -a common=(\n");
  AppendSpecs(command.options, text);
  absl::StrAppend(&text, "  )\n");
  if (command.commands.empty()) {
    absl::StrAppend(&text, "  _arguments -s $common\n");
  } else {
    absl::StrAppend(&text, "  local -a commands=(\n");
    for (const CommandOutline& sub : command.commands) {
      absl::StrAppend(&text, "    '", sub.name, ":", ZshEscaped(FirstSentence(sub.description)),
                      "'\n");
    }
    absl::StrAppend(&text, "  )\n  _arguments -C -s $common ",
                    "'1:command:{_describe command commands}' '*::argument:->argument'\n",
                    "  [[ $state == argument ]] || return\n  case $words[1] in\n");
    for (const CommandOutline& sub : command.commands) {
      absl::StrAppend(&text, "  ", sub.name, ")\n    _arguments -s $common '*:FILE:_files' \\\n");
      std::string specs;
      AppendSpecs(sub.options, specs);
      specs.pop_back();
      absl::StrAppend(&text, absl::StrReplaceAll(specs, {{"\n", " \\\n"}}), " ;;\n");
    }
    absl::StrAppend(&text, "  esac\n");
  }
  return absl::StrCat(text, "}\n", function, " \"$@\"\n");
}

}  // namespace gdnplan::settings
