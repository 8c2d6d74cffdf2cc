// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/bash_completion.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace gdnplan::settings {
namespace {

// "--name=value" is three words for bash. $command is the subcommand given, if any.
constexpr char kBegin[] = R"(# bash completion for @NAME@, made from its own options
@FUNCTION@() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= words= word
  COMPREPLY=()
  if [[ $current == '=' ]]; then
    current=
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      @PATTERN@) command=$word; break ;;
    esac
  done
)";

constexpr char kEnd[] = R"(  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ -z $command && -n "@COMMANDS@" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F @FUNCTION@ @NAME@
)";

constexpr char kFiles[] =
    "mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); compopt -o filenames 2>/dev/null; ";

// What follows an option, as the shell's words.
std::string Reply(const OptionOutline& option) {
  if (option.takes_path()) return kFiles;
  if (option.choices.empty()) return "";
  return absl::StrCat("mapfile -t COMPREPLY < <(compgen -W '", absl::StrJoin(option.choices, " "),
                      "' -- \"$current\"); ");
}

// Options by what follows them.
using Replies = std::map<std::string, std::vector<std::string>>;

void Add(const std::string& command, const std::vector<OptionOutline>& options, Replies& replies,
         std::string& words) {
  std::vector<std::string> names;
  for (const OptionOutline& option : options) {
    for (const std::string& name : option.names) {
      if (!option.value.empty()) {
        replies[Reply(option)].push_back(absl::StrCat("'", command, " ", name, "'"));
      }
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  absl::StrAppend(&words, "    '", command, "') words='", absl::StrJoin(names, " "), "' ;;\n");
}

}  // namespace

std::string BashCompletion(const CommandOutline& command) {
  Replies replies;
  std::string words;
  Add("", command.options, replies, words);
  std::vector<std::string> names;
  for (const CommandOutline& sub : command.commands) {
    names.push_back(sub.name);
    // The program's options may follow the subcommand.
    std::vector<OptionOutline> options = sub.options;
    options.insert(options.end(), command.options.begin(), command.options.end());
    Add(sub.name, options, replies, words);
  }
  std::string text = absl::StrCat(kBegin, "  case \"$command $previous\" in\n");
  for (const auto& [reply, options] : replies) {
    absl::StrAppend(&text, "    ", absl::StrJoin(options, "|"), ") ", reply, "return ;;\n");
  }
  absl::StrAppend(&text, "  esac\n  case $command in\n", words, "  esac\n", kEnd);
  return absl::StrReplaceAll(text,
                             {{"@FUNCTION@", "_" + absl::StrReplaceAll(command.name, {{"-", "_"}})},
                              {"@COMMANDS@", absl::StrJoin(names, " ")},
                              {"@PATTERN@", names.empty() ? "''" : absl::StrJoin(names, "|")},
                              {"@NAME@", command.name}});
}

}  // namespace gdnplan::settings
