// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The configuration's choices as files, flags and messages for people spell them.
#pragma once

#include <optional>
#include <string_view>

#include "gdnplan/plan/config.h"

namespace gdnplan::plan {

// "none", "all", "align".
const char* Name(MambaCacheMode mode);
// "triton", "flashinfer", "cutedsl".
const char* Name(PrefillBackend backend);

// Nothing: no such name.
std::optional<MambaCacheMode> MambaCacheModeOf(std::string_view name);
std::optional<PrefillBackend> PrefillBackendOf(std::string_view name);

}  // namespace gdnplan::plan
