// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gdnplan::settings {

// First of all in a program. A standard stream that whoever started it has closed is /dev/null from
// here on: otherwise its number would be the next file's, and what goes to the stream would be in
// that file.
void OpenStandardStreams();

}  // namespace gdnplan::settings
