// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A result's parameters as lines for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gdnplan::load {

struct Parameter {
  std::string name;  // "server.version": members of members, with dots between
  std::string value;
};

// In their order. Lists of plain values stay on one line. Text is valid UTF-8 whatever it was.
std::vector<Parameter> Flatten(const nlohmann::ordered_json& parameters);

}  // namespace gdnplan::load
