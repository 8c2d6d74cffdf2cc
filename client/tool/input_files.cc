// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/input_files.h"

#include <CLI/CLI.hpp>

namespace gdnplan::tool {
namespace {

constexpr const char* kInputFlags[] = {"--trace",    "--config",  "--tls-ca",
                                       "--tls-cert", "--tls-key", "--token-file"};

}  // namespace

std::vector<InputFile> InputFilesOf(const CLI::App& command) {
  std::vector<InputFile> files;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const char* flag : kInputFlags) {
      const CLI::Option* option = app->get_option_no_throw(flag);
      if (option == nullptr) continue;
      for (const std::string& path : option->results()) files.push_back({flag, path});
    }
  }
  return files;
}

}  // namespace gdnplan::tool
