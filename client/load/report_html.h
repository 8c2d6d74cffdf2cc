// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a load measured, as a page.
#pragma once

#include <string>

#include "client/load/result.h"

namespace gdnplan::load {

// One file that needs no other, nor a script: to be mailed, printed, kept. It is XML too. Of the
// parameters, which are all in a table at the end, those that say what ran where are also in the
// head: kHeadParameters in report_html.cc.
std::string ToHtml(const Result& result);

}  // namespace gdnplan::load
