// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the parser of the command line refuses, in our words.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace gdnplan::settings {

// Begins with the option's name, where there is one.
std::string TextOf(const CLI::ParseError& error, const CLI::App& app);

}  // namespace gdnplan::settings
