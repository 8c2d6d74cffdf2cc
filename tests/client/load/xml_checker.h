// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gdnplan::load {

// Empty if the tags are nested, attributes quoted and never twice in an element, and all references
// known; otherwise what is wrong and where. Knows what this project's pages are made of: no
// comments, no CDATA.
std::string CheckXml(std::string_view text);

}  // namespace gdnplan::load
