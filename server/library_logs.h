// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What gRPC and Protobuf have to say, as lines of the server's log.
#pragma once

namespace gdnplan::server {

// Instead of their own lines on standard error, which are no JSON and which clients can cause as
// often as they like: ten of each a second become events. After StartLog, before any thread.
void TakeLibraryLogs();

}  // namespace gdnplan::server
