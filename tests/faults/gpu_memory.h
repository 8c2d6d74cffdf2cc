// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What is used of all GPUs of the machine, by the driver's word.
#pragma once

#include <cstdint>
#include <optional>

namespace gdnplan::test {

// MiB. Nothing: there is no nvidia-smi that says so.
std::optional<uint64_t> UsedGpuMemory();
// The same once it is not above `before` any more, which processes that ended take a while for; or
// after some seconds.
uint64_t AwaitUsedGpuMemory(uint64_t before);

}  // namespace gdnplan::test
