// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A plan together with the mapping that it can be read through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/plan_record.h"
#include "gdnplan/client/session_info.h"
#include "gdnplan/client/tensor_view.h"
#include "gdnplan/plan/counts.h"

namespace gdnplan::client {

class SessionState;

// A value: copies share the session's mapping and keep it, even after the Session is gone. The
// memory may by then hold later plans; only Session::WaitReady and the order of slots say when the
// elements are this plan's. Safe for concurrent const use.
class PlanView {
 public:
  uint64_t id() const { return record_.plan_id; }
  uint32_t slot() const { return record_.slot; }
  uint64_t timeline_value() const { return record_.timeline_value; }
  bool complete() const { return record_.complete; }
  const plan::PlanCounts& counts() const { return record_.counts; }
  plan::Staging staging() const { return record_.counts.staging; }
  const PlanRecord& record() const { return record_; }

  // A tensor by its name; T is int32_t or uint8_t. Of a per-group tensor it is the group's; a
  // shared one is the same for every group.
  //   NotFound: the plan does not have this tensor (None to an engine).
  //   InvalidArgument: no tensor of the session has the name, its elements are no T, or there is no
  //     such group.
  //   Errors of mapping the arena, where it was not mapped before (see SessionOptions::map_now).
  template <typename T>
  absl::StatusOr<TensorView<const T>> Tensor(std::string_view name, int32_t group = 0) const {
    static_assert(std::is_same_v<T, int32_t> || std::is_same_v<T, uint8_t>,
                  "tensors hold int32_t or uint8_t (masks)");
    constexpr plan::DType kType =
        std::is_same_v<T, int32_t> ? plan::DType::kInt32 : plan::DType::kUInt8;
    auto raw = TypedTensor(name, group, kType);
    if (!raw.ok()) return raw.status();
    return TensorView<const T>(*raw);
  }
  // The same for elements of any type.
  absl::StatusOr<RawTensor> Raw(std::string_view name, int32_t group = 0) const;

  // The elements, copied to host memory from whatever device they are on; errors as above. It waits
  // for the transfer: a way for tests and tools, not for an engine's step.
  template <typename T>
  absl::StatusOr<std::vector<T>> Copy(std::string_view name, int32_t group = 0) const {
    auto tensor = Tensor<T>(name, group);
    if (!tensor.ok()) return tensor.status();
    std::vector<T> elements(static_cast<size_t>(tensor->size()));
    const absl::Status status =
        CopyBytes(tensor->raw(), std::as_writable_bytes(std::span<T>(elements)));
    if (!status.ok()) return status;
    return elements;
  }

  // Whether the plan has the tensor. InvalidArgument: no tensor of the session has the name.
  absl::StatusOr<bool> Has(std::string_view name) const;
  // Names of the session's tensors that this plan does not have.
  std::vector<std::string> Absent() const;

  // The plan on another device of the session, an index into SessionInfo::arenas. Plans come on the
  // first device that the Session uses. InvalidArgument: there is no such device.
  absl::StatusOr<PlanView> OnDevice(size_t device) const;
  size_t device() const { return device_; }

 private:
  friend class Session;
  friend class SessionState;
  PlanView(std::shared_ptr<SessionState> state, PlanRecord record, size_t device);

  absl::StatusOr<const TensorInfo*> Find(std::string_view name) const;
  const PlacedTensor* Placed(uint32_t id) const;
  absl::StatusOr<RawTensor> TypedTensor(std::string_view name, int32_t group,
                                        plan::DType dtype) const;
  absl::Status CopyBytes(const RawTensor& tensor, std::span<std::byte> bytes) const;

  std::shared_ptr<SessionState> state_;
  PlanRecord record_;
  size_t device_ = 0;
};

}  // namespace gdnplan::client
