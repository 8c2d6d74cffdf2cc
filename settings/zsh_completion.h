// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "settings/outline.h"

namespace gdnplan::settings {

// A completion for zsh, as a file _NAME in its function path.
std::string ZshCompletion(const CommandOutline& command);

}  // namespace gdnplan::settings
