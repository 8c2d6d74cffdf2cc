// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gdnplan::settings {

// First of all in a program. A standard stream that whoever started it has closed is /dev/null from
// here on: otherwise its number would be the next file's, and what goes to the stream would be in
// that file. And a file that reaches the limit of files' sizes is an error of the call that writes,
// as a full disk is, instead of the process' end.
void PrepareProcess();

}  // namespace gdnplan::settings
