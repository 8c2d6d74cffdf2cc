// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The flags of AccessOptions.
#pragma once

#include <CLI/App.hpp>

#include "server/access_options.h"

namespace gdnplan::server {

// Both outlive parsing.
void DescribeAccess(CLI::App& app, AccessOptions& options);

}  // namespace gdnplan::server
