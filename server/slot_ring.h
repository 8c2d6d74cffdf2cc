// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session's slots on all of its devices: which one is next, whether it is free, what it holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/step_planner.h"
#include "server/device.h"
#include "server/plan_result.h"

namespace gdnplan::server {

// A session's memory on one device, as its description names it.
struct SessionArena {
  std::string device_id;
  std::unique_ptr<DeviceArena> memory;
  std::shared_ptr<FillCounter> fills = std::make_shared<FillCounter>();  // the device's
};

// Not thread safe. Does not allocate after it was made, unless a request is refused.
class SlotRing {
 public:
  // guarded: a slot is free only once its last plan was consumed on every device.
  SlotRing(const plan::PlanConfig& config, const plan::ArenaLayout& layout, bool guarded,
           std::vector<SessionArena> arenas);

  bool NextSlotFree() const { return FirstBusyArena() == nullptr; }
  // Says who holds the next slot, which is not free.
  std::string DescribeBusy() const;

  // Plans into the next slot, which must be free. InvalidArgument: refused, and nothing changed.
  // Other errors are a device's: failed() from then on.
  absl::StatusOr<PlanResult> Plan(const plan::BatchView& batch);

  // Whether Update has the staging memory that it needs.
  bool CanUpdate() const;
  // See DeviceArena.
  void Promise(uint64_t timeline_value);
  // InvalidArgument ("consumer_of[i]") when the session is not on one of them.
  absl::Status CheckDevices(const std::vector<std::string>& device_ids) const;
  // The device must be one of the session's.
  void ReleaseConsumer(const std::string& device_id);

  // One group's state indices of a plan that its slot still holds, from a new table.
  // InvalidArgument or FailedPrecondition: refused, and nothing changed.
  absl::StatusOr<PlanResult> Update(uint64_t plan_id, int32_t group,
                                    const plan::BlockTableView& table);

  // See DeviceArena.
  bool HasDeferred() const;
  absl::StatusOr<bool> Advance();

  // Whether the bytes are there on every device. An error is a device's.
  absl::StatusOr<bool> IsReady(int32_t slot, uint64_t timeline_value);

  // Whether the devices still work, asked when the next slot does not become free. An error is a
  // device's.
  absl::Status CheckBusy();

  // The ring must not be used further.
  bool failed() const { return failed_; }
  uint64_t last_plan_id() const { return last_plan_id_; }
  uint64_t num_plans() const { return num_plans_; }
  const plan::ArenaLayout& layout() const { return layout_; }

 private:
  struct Slot {
    explicit Slot(const plan::PlanConfig& config) : planner(config) {}
    plan::StepPlanner planner;
    uint64_t plan_id = 0;         // 0: none yet
    uint64_t timeline_value = 0;  // of the last write
  };

  int32_t next_index() const;
  const SessionArena* FirstBusyArena() const;
  absl::StatusOr<PlanResult> WriteAll(int32_t index, int32_t group, uint64_t after_consumed);
  // Waits for the devices' looks at `consumed`, for which the poller would be too slow.
  absl::Status AwaitLooks();

  const plan::ArenaLayout layout_;
  const bool guarded_;
  std::vector<SessionArena> arenas_;
  std::vector<Slot> slots_;
  bool failed_ = false;
  uint64_t last_value_ = 0;  // of the counter that plan ids and timeline values come from
  uint64_t last_plan_id_ = 0;
  uint64_t num_plans_ = 0;
};

}  // namespace gdnplan::server
