// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/generate.h"

#include "settings/bash_completion.h"
#include "settings/man_page.h"
#include "settings/outline.h"
#include "settings/zsh_completion.h"

namespace gdnplan::settings {

std::string Generate(const CLI::App& app, const std::string& kind) {
  const CommandOutline outline = OutlineOf(app);
  if (kind == "bash") return BashCompletion(outline);
  return kind == "zsh" ? ZshCompletion(outline) : ManPage(outline);
}

}  // namespace gdnplan::settings
