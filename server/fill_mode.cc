// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/fill_mode.h"

#include "absl/strings/str_cat.h"

namespace gdnplan::server {

std::string Explain(FillMode mode, bool mps) {
  const char* const where = mps ? " (MPS)" : " (no MPS)";
  switch (mode) {
    case FillMode::kCopy:
      return absl::StrCat("copy", where);
    case FillMode::kKernel:
      return absl::StrCat("kernel", where);
    case FillMode::kAuto:
      break;
  }
  if (!mps) return absl::StrCat("auto, always copy", where);
  return absl::StrCat("auto, kernel for plans that it expands by ", kKernelFillBytes >> 10,
                      " KiB or more, else copy", where);
}

}  // namespace gdnplan::server
