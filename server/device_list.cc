// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/device_list.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gdnplan/plan/status.h"
#include "server/cuda_devices.h"
#include "server/host_device.h"

namespace gdnplan::server {
namespace {

constexpr int32_t kMaxHosts = 16;

absl::Status Refuse(std::string_view text) {
  return plan::InvalidField(
      "device",
      absl::StrCat("must be auto, host, host:N with N in 1..", kMaxHosts,
                   ", cuda or cuda:GPU,... with ordinals or UUIDs (got ", plan::ToAbsl(text), ")"));
}

std::vector<std::shared_ptr<Device>> OpenHosts(int32_t count, const std::shared_ptr<Boot>& boot) {
  std::vector<std::shared_ptr<Device>> devices;
  for (int32_t index = 0; index < count; ++index) {
    devices.push_back(std::make_shared<HostDevice>(boot, HostDevice::Options{.index = index}));
  }
  return devices;
}

}  // namespace

absl::StatusOr<DeviceSelection> ParseDeviceSelection(std::string_view text) {
  using Kind = DeviceSelection::Kind;
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const bool has_list = colon != std::string_view::npos;
  const std::string_view list = has_list ? text.substr(colon + 1) : std::string_view();
  DeviceSelection selection;
  if (kind == "auto" && !has_list) return selection;
  if (kind == "host") {
    selection.kind = Kind::kHost;
    if (!has_list) return selection;
    if (!absl::SimpleAtoi(plan::ToAbsl(list), &selection.num_hosts) || selection.num_hosts < 1 ||
        selection.num_hosts > kMaxHosts) {
      return Refuse(text);
    }
    return selection;
  }
  if (kind != "cuda") return Refuse(text);
  selection.kind = Kind::kCuda;
  if (!has_list) return selection;
  for (const absl::string_view gpu : absl::StrSplit(plan::ToAbsl(list), ',')) {
    if (gpu.empty()) return Refuse(text);
    selection.gpus.emplace_back(gpu);
  }
  return selection;
}

bool MayUseCuda(const DeviceSelection& selection) {
  using Kind = DeviceSelection::Kind;
  if (selection.kind == Kind::kHost || !BuiltWithCuda()) return false;
  // The driver's device nodes: on Linux, and on WSL 2.
  return selection.kind == Kind::kCuda || access("/dev/nvidiactl", F_OK) == 0 ||
         access("/dev/dxg", F_OK) == 0;
}

absl::StatusOr<DeviceList> OpenDevices(const DeviceSelection& selection,
                                       const std::shared_ptr<Boot>& boot) {
  using Kind = DeviceSelection::Kind;
  if (selection.kind == Kind::kHost) return DeviceList{OpenHosts(selection.num_hosts, boot), {}};
  absl::StatusOr<std::vector<std::shared_ptr<Device>>> gpus =
      OpenCudaDevices(selection.gpus, selection.fill, boot);
  if (gpus.ok() && !gpus->empty()) return DeviceList{*std::move(gpus), {}};
  const absl::Status reason =
      gpus.ok() ? absl::FailedPreconditionError("no GPU is visible") : gpus.status();
  if (selection.kind == Kind::kCuda) {
    return absl::Status(reason.code(),
                        absl::StrCat("device: cuda cannot be used: ", reason.message(),
                                     "; --device=host serves from plain memory"));
  }
  return DeviceList{OpenHosts(1, boot), absl::StrCat("no CUDA device (", reason.message(),
                                                     "): serving from host memory")};
}

}  // namespace gdnplan::server
