// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Keeps a GPU as full as an engine does: replays a CUDA graph of 20 us kernels on all
// multiprocessors without pause.
#pragma once

#include <functional>

namespace gdnplan::test {

// On the calling thread, until `stop`, which is asked every millisecond or so. Calls on_full once
// the GPU is full. Ends the program when CUDA fails.
void RunBusyLoad(int device, const std::function<bool()>& stop,
                 const std::function<void()>& on_full);

}  // namespace gdnplan::test
