// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "settings/outline.h"

namespace gdnplan::settings {

// A manual page: section 1, or 8 for what has a name that ends in "-server".
std::string ManPage(const CommandOutline& command);

}  // namespace gdnplan::settings
