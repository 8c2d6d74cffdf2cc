// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "settings/outline.h"

namespace gdnplan::settings {

// A completion for bash; also for zsh's bashcompinit.
std::string BashCompletion(const CommandOutline& command);

}  // namespace gdnplan::settings
