// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gRPC's transport, set for messages of 1 to 200 KB that come one at a time and are waited for.
// Both sides use it.
#pragma once

#include <grpc/grpc.h>

namespace gdnplan::wire {

// set(name, value): of a channel argument that is an integer.
template <typename Set>
void TuneTransport(Set set) {
  // A request is sent at once, without waiting until the receiver opens its window.
  set(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 4 << 20);
}

}  // namespace gdnplan::wire
