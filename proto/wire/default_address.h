// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where server and tool meet when nobody says otherwise.
#pragma once

#include <string>

namespace gdnplan::wire {

// "unix:" and a socket of this user's: $XDG_RUNTIME_DIR/gdnplan/gdnplan.sock, else
// /run/gdnplan/gdnplan.sock for root, else /tmp/gdnplan-UID/gdnplan.sock.
std::string DefaultAddress();

// Of a client that was given no address: the environment's GDNPLAN_SERVER, else DefaultAddress().
std::string ServerAddress();

}  // namespace gdnplan::wire
