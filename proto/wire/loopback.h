// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What of an address stays on this machine.
#pragma once

#include <string_view>

namespace gdnplan::wire {

// 127.0.0.0/8, ::1 (with or without brackets) or localhost.
bool IsLoopback(std::string_view host);

bool IsUnixSocket(std::string_view address);

// An address as gRPC's clients spell it: a Unix socket, or HOST:PORT with such a host. No name is
// looked up.
bool StaysOnThisMachine(std::string_view address);

}  // namespace gdnplan::wire
