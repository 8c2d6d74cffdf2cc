// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/types.h"

namespace gdnplan::client {

std::string_view Name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kUnknown:
      return "unknown";
    case DeviceKind::kHost:
      return "host";
    case DeviceKind::kCuda:
      return "cuda";
  }
  return "unknown";
}

std::string_view Name(FillKind kind) {
  switch (kind) {
    case FillKind::kUnknown:
      return "unknown";
    case FillKind::kHost:
      return "host";
    case FillKind::kCopy:
      return "copy";
    case FillKind::kKernel:
      return "kernel";
  }
  return "unknown";
}

std::string_view Name(FillMode mode) {
  switch (mode) {
    case FillMode::kUnknown:
      return "unknown";
    case FillMode::kNone:
      return "none";
    case FillMode::kAuto:
      return "auto";
    case FillMode::kCopy:
      return "copy";
    case FillMode::kKernel:
      return "kernel";
  }
  return "unknown";
}

}  // namespace gdnplan::client
