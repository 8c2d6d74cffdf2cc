// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Order between processes: a stream waits for, or writes, a 64-bit value that both can reach.
// Nothing here blocks the calling thread. The values only rise; a wait is met by the value itself
// and everything above.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "gdnplan/cuda/stream.h"

namespace gdnplan::cuda {

// The stream goes on once *value >= target. `value`: 8-byte aligned, in device memory (also
// imported) or registered host memory, as the device addresses it. Enqueue a wait only when
// somebody has promised to meet it: an unmet one can hold up streams that share its hardware queue.
absl::Status WaitValue(StreamView stream, const void* value, uint64_t target);

// *value = next once all work before it on the stream is done and visible, to other processes too.
absl::Status WriteValue(StreamView stream, void* value, uint64_t next);

// The same for two values, in one call: the first is there before the second.
absl::Status WriteValues(StreamView stream, void* first, void* second, uint64_t next);

}  // namespace gdnplan::cuda
