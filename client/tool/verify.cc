// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/verify.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tool/tensor_values.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

using client::PlanStream;
using client::PlanView;
using client::Session;
using json::ExpectedGroup;
using json::TensorData;

constexpr std::chrono::seconds kReadyTimeout{10};

// Everything of a configuration that decides what a plan is. max_num_seqs and
// max_num_batched_tokens only say how much is accepted, but for the limit derived from them.
std::string Key(const plan::PlanConfig& config) {
  std::string key = absl::StrCat(config.num_speculative_tokens, " ", config.use_full_cuda_graph,
                                 " ", config.capture_limit(), " ",
                                 static_cast<int>(config.prefill_backend), " ", config.chunk_size);
  for (const plan::GroupConfig& group : config.groups) {
    absl::StrAppend(&key, " ", static_cast<int>(group.mamba_cache_mode), ",", group.block_size);
  }
  return key;
}

// Cases of one session, in order.
struct SharedSession {
  std::string key;
  plan::PlanConfig config;
  std::vector<const CaseToVerify*> cases;
};

std::vector<SharedSession> GroupByConfig(const std::vector<CaseToVerify>& cases) {
  std::vector<SharedSession> sessions;
  for (const CaseToVerify& entry : cases) {
    const plan::PlanConfig& config = entry.golden.config;
    const std::string key = Key(config);
    auto session =
        std::find_if(sessions.begin(), sessions.end(),
                     [&key](const SharedSession& candidate) { return candidate.key == key; });
    if (session == sessions.end()) {
      session = sessions.insert(session, SharedSession{key, config, {}});
      session->config.max_cudagraph_capture_size = config.capture_limit();
    }
    plan::PlanConfig& shared = session->config;
    shared.max_num_seqs = std::max(shared.max_num_seqs, config.max_num_seqs);
    shared.max_num_batched_tokens =
        std::max(shared.max_num_batched_tokens, config.max_num_batched_tokens);
    session->cases.push_back(&entry);
  }
  return sessions;
}

// Compares a plan on one device. An error: it could not be read.
absl::StatusOr<std::vector<std::string>> ComparePlan(std::span<const ExpectedGroup> expected,
                                                     const PlanView& plan) {
  absl::Status failure;
  const auto reader = [&](plan::TensorId id, int32_t group) -> std::optional<TensorData> {
    absl::StatusOr<TensorValues> read = ReadValues(plan, plan::Spec(id).name, group);
    if (!read.ok()) {
      if (!absl::IsNotFound(read.status())) failure.Update(read.status());
      return std::nullopt;
    }
    TensorData data;
    for (int i = 0; i < read->tensor.rank; ++i) {
      data.dims.push_back(static_cast<int32_t>(read->tensor.dims[static_cast<size_t>(i)]));
    }
    data.data = std::move(read->values);
    return data;
  };
  std::vector<std::string> mismatches = json::CompareWithGolden(expected, plan.counts(), reader);
  if (!failure.ok()) return failure;
  return mismatches;
}

bool CpuSeesTimeline(const client::SessionInfo& session) {
  return std::all_of(session.arenas.begin(), session.arenas.end(), [](const auto& arena) {
    return arena.timeline_page.has_value() ||
           std::holds_alternative<client::PosixSharedMemory>(arena.memory);
  });
}

// The opener's session and, with options.attach, the worker's.
class Verifier {
 public:
  static absl::StatusOr<Verifier> Open(const client::Client& opener, const client::Client& worker,
                                       const plan::PlanConfig& config,
                                       const VerifyOptions& options) {
    client::SessionOptions session_options;
    session_options.name = "gdnplan verify";
    session_options.num_slots = options.num_slots;
    session_options.devices = options.devices;
    session_options.slot_reuse = client::SlotReuse::kConsumed;
    session_options.map_now = !options.attach;
    GDNPLAN_ASSIGN_OR_RETURN(Session session, opener.OpenSession(config, session_options));
    const bool cpu_sees_timeline = CpuSeesTimeline(session.info());
    if (!cpu_sees_timeline) {
      // Nobody here could mark plans as consumed. Each is read before the next is asked for.
      session_options.slot_reuse = client::SlotReuse::kUnguarded;
      GDNPLAN_ASSIGN_OR_RETURN(session, opener.OpenSession(config, session_options));
    }
    std::optional<Session> attached;
    if (options.attach) {
      GDNPLAN_ASSIGN_OR_RETURN(attached, worker.AttachSession(session.id()));
    }
    std::optional<PlanStream> stream;
    if (options.stream.has_value()) {
      GDNPLAN_ASSIGN_OR_RETURN(stream, session.OpenStream(*options.stream));
    }
    return Verifier(std::move(session), std::move(stream), std::move(attached), cpu_sees_timeline);
  }

  absl::StatusOr<std::vector<std::string>> Verify(const json::GoldenCase& golden) {
    GDNPLAN_ASSIGN_OR_RETURN(PlanView plan, Plan(golden.batch.view()));
    auto mismatches = Compare(golden.expected, plan, "");
    if (mismatches.ok() && mismatches->empty() && golden.update_block_table.has_value()) {
      GDNPLAN_ASSIGN_OR_RETURN(
          plan, opener_.UpdateBlockTable(plan, 0, golden.update_block_table->table.view(),
                                         plan_options()));
      mismatches = Compare({&golden.update_block_table->expected, 1}, plan, "after re-gather: ");
    }
    // Whatever came out of it, the slot is free again.
    const absl::Status consumed = MarkConsumed(plan);
    if (mismatches.ok() && !consumed.ok()) return consumed;
    return mismatches;
  }

 private:
  Verifier(Session opener, std::optional<PlanStream> stream, std::optional<Session> worker,
           bool cpu_sees_timeline)
      : opener_(std::move(opener)),
        stream_(std::move(stream)),
        worker_(std::move(worker)),
        cpu_sees_timeline_(cpu_sees_timeline) {}

  client::PlanOptions plan_options() const { return {.wait_complete = !cpu_sees_timeline_}; }

  absl::StatusOr<PlanView> Plan(const plan::BatchView& batch) {
    return stream_.has_value() ? stream_->Plan(batch, plan_options())
                               : opener_.Plan(batch, plan_options());
  }

  const Session& reader() const { return worker_.has_value() ? *worker_ : opener_; }
  size_t num_devices() const { return opener_.info().arenas.size(); }

  // The plan as the reading side has it: from bytes, as between processes.
  absl::StatusOr<PlanView> Receive(const PlanView& plan) const {
    GDNPLAN_ASSIGN_OR_RETURN(client::PlanRecord record,
                             client::PlanRecord::Parse(plan.record().Serialize()));
    return reader().View(std::move(record));
  }

  absl::StatusOr<std::vector<std::string>> Compare(std::span<const ExpectedGroup> expected,
                                                   const PlanView& plan,
                                                   std::string_view prefix) const {
    GDNPLAN_ASSIGN_OR_RETURN(const PlanView received, Receive(plan));
    for (size_t device = 0; device < num_devices(); ++device) {
      GDNPLAN_ASSIGN_OR_RETURN(const PlanView view, received.OnDevice(device));
      if (cpu_sees_timeline_) {
        GDNPLAN_RETURN_IF_ERROR(reader().WaitReady(view, kReadyTimeout));
      }
      GDNPLAN_ASSIGN_OR_RETURN(std::vector<std::string> mismatches, ComparePlan(expected, view));
      if (mismatches.empty()) continue;
      const std::string where =
          num_devices() == 1
              ? std::string()
              : absl::StrCat("device ", opener_.info().arenas[device].device.id, ": ");
      for (std::string& text : mismatches) text = absl::StrCat(plan::ToAbsl(prefix), where, text);
      return mismatches;
    }
    return std::vector<std::string>{};
  }

  absl::Status MarkConsumed(const PlanView& plan) const {
    if (!cpu_sees_timeline_) return absl::OkStatus();
    GDNPLAN_ASSIGN_OR_RETURN(const PlanView received, Receive(plan));
    for (size_t device = 0; device < num_devices(); ++device) {
      GDNPLAN_ASSIGN_OR_RETURN(const PlanView view, received.OnDevice(device));
      GDNPLAN_RETURN_IF_ERROR(reader().MarkConsumed(view));
    }
    return absl::OkStatus();
  }

  Session opener_;
  std::optional<PlanStream> stream_;
  std::optional<Session> worker_;
  bool cpu_sees_timeline_;
};

}  // namespace

void VerifyCases(const client::Client& opener, const client::Client& worker,
                 const std::vector<CaseToVerify>& cases, const VerifyOptions& options,
                 const std::function<void(const CaseToVerify&, std::vector<std::string>)>& report) {
  for (const SharedSession& session : GroupByConfig(cases)) {
    absl::StatusOr<Verifier> verifier = Verifier::Open(opener, worker, session.config, options);
    for (const CaseToVerify* entry : session.cases) {
      const absl::StatusOr<std::vector<std::string>> mismatches =
          verifier.ok() ? verifier->Verify(entry->golden) : verifier.status();
      report(*entry, mismatches.ok() ? *mismatches
                                     : std::vector<std::string>{mismatches.status().ToString()});
    }
  }
}

}  // namespace gdnplan::tool
