// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The files that a command reads.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace gdnplan::tool {

struct InputFile {
  std::string flag;
  std::string path;
};

// After parsing: those of the command's flags and of the program's, wherever these were given.
std::vector<InputFile> InputFilesOf(const CLI::App& command);

}  // namespace gdnplan::tool
