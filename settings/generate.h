// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Texts that packages carry, made from a program's own options so that they cannot differ.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace gdnplan::settings {

// kind: "bash" or "zsh", a completion for that shell; "man", a manual page.
std::string Generate(const CLI::App& app, const std::string& kind);

}  // namespace gdnplan::settings
