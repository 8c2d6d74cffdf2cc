// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>

namespace gdnplan::tool {

// One line on stdout. Bytes that are no UTF-8, in names from elsewhere, are replaced.
inline void PrintJson(const nlohmann::ordered_json& json) {
  std::cout << json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace gdnplan::tool
