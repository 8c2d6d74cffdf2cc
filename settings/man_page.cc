// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/man_page.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace gdnplan::settings {
namespace {

constexpr char kConfiguration[] = R"(.SH CONFIGURATION FILE
Lines
.RI \(dq key " = " value \(dq.
A key is an option with an environment variable, without the dashes.
An option that may be given more than once may have several lines.
A flag is
.B true
or
.BR false .
A # at the beginning of a line or after a blank starts a comment.
.PP
A flag of the command line goes before the environment variable, that before the file, and that before the default.
.B \-\-print\-config
prints all values in the form of this file and says where each comes from.
)";

// Text that roff takes literally.
std::string RoffEscaped(const std::string& text) {
  const std::string escaped =
      absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"\"", "\\(dq"}, {"'", "\\(aq"}});
  return absl::StartsWith(escaped, ".") ? "\\&" + escaped : escaped;
}

std::string Bold(const std::string& text) {
  return absl::StrCat("\\fB", RoffEscaped(text), "\\fR");
}
std::string Italic(const std::string& text) {
  return absl::StrCat("\\fI", RoffEscaped(text), "\\fR");
}

// As it stands: lines of examples and field lists.
void AppendLiteral(const std::string& text, std::string& page) {
  absl::StrAppend(&page, ".nf\n");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&page, RoffEscaped(std::string(line)), "\n");
  }
  absl::StrAppend(&page, ".fi\n");
}

void AppendParagraph(const std::string& text, std::string& page) {
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&page, RoffEscaped(std::string(absl::StripAsciiWhitespace(line))), "\n");
  }
}

void AppendOption(const OptionOutline& option, std::string& page) {
  absl::StrAppend(
      &page, ".TP\n",
      absl::StrJoin(option.names, ", ",
                    [](std::string* out, const std::string& name) { *out += Bold(name); }),
      option.names.empty() || option.value.empty() ? "" : " ",
      option.value.empty() ? "" : Italic(option.value), option.repeatable ? " ...\n" : "\n");
  AppendParagraph(option.description + ".", page);
  std::vector<std::string> facts;
  if (!option.choices.empty()) {
    facts.push_back("One of " + RoffEscaped(absl::StrJoin(option.choices, ", ")));
  }
  if (!option.range.empty()) facts.push_back("From " + RoffEscaped(option.range));
  if (!option.default_value.empty())
    facts.push_back("Default: " + RoffEscaped(option.default_value));
  if (!option.environment.empty()) facts.push_back("Environment: " + Bold(option.environment));
  if (!facts.empty()) absl::StrAppend(&page, absl::StrJoin(facts, ". "), ".\n");
}

void AppendOptions(const CommandOutline& command, std::string& page) {
  for (const OptionOutline& argument : command.arguments) AppendOption(argument, page);
  for (const OptionOutline& option : command.options) AppendOption(option, page);
}

std::string Arguments(const CommandOutline& command) {
  std::string text;
  for (const OptionOutline& argument : command.arguments) {
    absl::StrAppend(&text, " ", Italic(argument.value), argument.repeatable ? " ..." : "");
  }
  return text;
}

void AppendCommand(const CommandOutline& program, const CommandOutline& command,
                   std::string& page) {
  absl::StrAppend(&page, ".SS ", RoffEscaped(program.name), " ", RoffEscaped(command.name), "\n");
  AppendParagraph(command.description + ".", page);
  AppendOptions(command, page);
  if (command.footer.empty()) return;
  absl::StrAppend(&page, ".PP\n");
  AppendLiteral(command.footer, page);
}

}  // namespace

std::string ManPage(const CommandOutline& command) {
  const char* section = absl::EndsWith(command.name, "-server") ? "8" : "1";
  std::string page = absl::StrCat(
      ".TH ", absl::AsciiStrToUpper(RoffEscaped(command.name)), " ", section, " \"\" \"",
      RoffEscaped(command.version), "\"\n.SH NAME\n", RoffEscaped(command.name), " \\- ",
      RoffEscaped(FirstSentence(command.description)), "\n.SH SYNOPSIS\n", Bold(command.name), " [",
      Italic("OPTION"), " ...]\n");
  for (const CommandOutline& sub : command.commands) {
    absl::StrAppend(&page, ".br\n", Bold(command.name + " " + sub.name), " [", Italic("OPTION"),
                    " ...]", Arguments(sub), "\n");
  }
  absl::StrAppend(&page, ".SH DESCRIPTION\n");
  AppendParagraph(command.description, page);
  absl::StrAppend(&page, ".SH OPTIONS\n");
  AppendOptions(command, page);
  if (!command.commands.empty()) absl::StrAppend(&page, ".SH COMMANDS\n");
  for (const CommandOutline& sub : command.commands) AppendCommand(command, sub, page);
  absl::StrAppend(&page, kConfiguration);
  if (!command.footer.empty()) {
    absl::StrAppend(&page, ".SH NOTES\n");
    AppendParagraph(command.footer, page);
  }
  return page;
}

}  // namespace gdnplan::settings
