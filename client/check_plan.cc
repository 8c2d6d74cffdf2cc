// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/describe.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {
namespace {

class PlanCheck {
 public:
  PlanCheck(const SessionInfo& session, const PlanRecord& plan) : session_(session), plan_(plan) {}

  absl::Status Run() const {
    if (plan_.slot >= static_cast<uint32_t>(session_.num_slots)) {
      return Bad("slot",
                 absl::StrCat("must be below ", session_.num_slots, " (got ", plan_.slot, ")"));
    }
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (plan_.tensors[i].id == plan_.tensors[j].id) {
          return Bad("tensors", absl::StrCat("id ", plan_.tensors[i].id, " is placed twice"));
        }
      }
      GDNPLAN_RETURN_IF_ERROR(CheckTensor(plan_.tensors[i]));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Bad(std::string_view field, std::string_view reason) const {
    return absl::InternalError(absl::StrCat("plan ", plan_.plan_id, " does not fit its session: ",
                                            plan::ToAbsl(field), ": ", plan::ToAbsl(reason)));
  }

  absl::Status CheckTensor(const PlacedTensor& placed) const {
    const auto info =
        std::find_if(session_.tensors.begin(), session_.tensors.end(),
                     [&placed](const TensorInfo& tensor) { return tensor.id == placed.id; });
    if (info == session_.tensors.end()) {
      return Bad("tensors", absl::StrCat("id ", placed.id, " is not in the session's table"));
    }
    if (placed.shape.size() != static_cast<size_t>(info->rank)) {
      return Bad(info->name, absl::StrCat("must have ", info->rank, " dimensions (got [",
                                          absl::StrJoin(placed.shape, ", "), "])"));
    }
    // 32-bit factors: their product fits 64 bits.
    const uint64_t elements =
        uint64_t{placed.shape[0]} * (placed.shape.size() == 2 ? placed.shape[1] : 1);
    if (elements > info->max_elements) {
      return Bad(info->name,
                 absl::StrCat("must have at most ", info->max_elements, " elements (got [",
                              absl::StrJoin(placed.shape, ", "), "])"));
    }
    return CheckPlace(*info, placed, elements);
  }

  absl::Status CheckPlace(const TensorInfo& info, const PlacedTensor& placed,
                          uint64_t elements) const {
    const auto size = static_cast<uint64_t>(plan::SizeOf(info.dtype));
    const uint64_t groups = info.per_group ? session_.config.groups.size() : 1;
    const uint64_t end = session_.arena_bytes;
    // Divisions instead of products: nothing here may wrap around.
    bool fits = placed.offset >= sizeof(plan::ArenaHeader) && placed.offset <= end &&
                placed.offset % size == 0 && elements <= (end - placed.offset) / size;
    if (fits && groups > 1) {
      const uint64_t room = end - placed.offset - elements * size;
      fits = placed.group_stride % size == 0 && placed.group_stride / size >= elements &&
             placed.group_stride <= room / (groups - 1);
    }
    if (fits) return absl::OkStatus();
    return Bad(
        info.name,
        absl::StrCat(groups, " times ", elements, " elements of ", size, " bytes at offset ",
                     placed.offset, ", ", placed.group_stride,
                     " apart, must be aligned and lie behind the header within ", end, " bytes"));
  }

  const SessionInfo& session_;
  const PlanRecord& plan_;
};

}  // namespace

absl::Status CheckPlan(const SessionInfo& session, const PlanRecord& plan) {
  return PlanCheck(session, plan).Run();
}

}  // namespace gdnplan::client
