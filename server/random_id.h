// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Identifiers that cannot be guessed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace gdnplan::server {

using RandomId = std::array<uint8_t, 16>;

// 128 bits from the kernel. Internal when the kernel gives none.
absl::StatusOr<RandomId> MakeRandomId();

// Two lower-case hexadecimal digits a byte.
std::string ToHex(std::span<const uint8_t> bytes);

}  // namespace gdnplan::server
