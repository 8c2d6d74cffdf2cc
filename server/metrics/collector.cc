// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/collector.h"

#include <array>
#include <utility>

#include "server/cuda_devices.h"
#include "server/metrics/families.h"
#include "server/metrics/process.h"
#include "server/version.h"

namespace gdnplan::server {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

double Number(uint64_t value) { return static_cast<double>(value); }

void AppendCalls(const PlanRecorder& recorder, Families& families) {
  prometheus::MetricFamily calls =
      CounterFamily("gdnplan_calls_total", "Plans made, and plans whose block table was updated.");
  AddCounter(calls, Number(recorder.calls(CallKind::kPlan)), {{"kind", "plan"}});
  AddCounter(calls, Number(recorder.calls(CallKind::kUpdate)), {{"kind", "update"}});
  families.push_back(std::move(calls));

  prometheus::MetricFamily refusals =
      CounterFamily("gdnplan_refusals_total",
                    "Requests of any kind that were not fulfilled, by status code and by the field "
                    "at fault, if one is.");
  for (const auto& [refusal, count] : recorder.refusals()) {
    AddCounter(refusals, Number(count),
               {{"code", absl::StatusCodeToString(refusal.code)}, {"field", refusal.field}});
  }
  families.push_back(std::move(refusals));

  constexpr std::array<std::pair<Stage, const char*>, kNumStages> kStages = {
      {{Stage::kParse, "parse"},
       {Stage::kWait, "wait"},
       {Stage::kPlan, "plan"},
       {Stage::kReady, "ready"},
       {Stage::kTotal, "total"}}};
  prometheus::MetricFamily stages = HistogramFamily(
      "gdnplan_stage_seconds",
      "Time of each stage of the calls that succeeded: parse (message to batch), wait (for the "
      "slot), plan (validated, laid out, written or enqueued), ready (devices done, where the "
      "caller waits for that), total (all of these).");
  for (const auto& [stage, name] : kStages) {
    AddHistogram(stages, recorder.stage(stage), {{"stage", name}});
  }
  families.push_back(std::move(stages));

  AddCounter(families.emplace_back(CounterFamily("gdnplan_device_failures_total",
                                                 "Sessions that ended because a device failed.")),
             Number(recorder.device_failures()));
  AddCounter(families.emplace_back(CounterFamily(
                 "gdnplan_follower_missed_plans_total",
                 "Plans that followers were not told of, because they do not keep up.")),
             Number(recorder.follower_misses()));
}

void AppendSessions(const SessionRegistry& registry, const SessionRegistry::Counts& counts,
                    Families& families) {
  AddGauge(families.emplace_back(GaugeFamily("gdnplan_sessions", "Sessions that are open.")),
           Number(counts.open));
  AddGauge(families.emplace_back(
               GaugeFamily("gdnplan_sessions_limit", "Sessions that may be open at a time.")),
           registry.limits().max_sessions);
  AddGauge(families.emplace_back(GaugeFamily(
               "gdnplan_sessions_ended",
               "Sessions that ended and whose memory waits for processes to let go of it.")),
           Number(counts.ended));
  AddCounter(families.emplace_back(
                 CounterFamily("gdnplan_sessions_opened_total", "Sessions opened so far.")),
             Number(counts.opened));
  AddCounter(families.emplace_back(CounterFamily(
                 "gdnplan_leases_lapsed_total",
                 "Sessions that ended because their owner gave no sign within its lease.")),
             Number(counts.lapsed));
  size_t attached = 0;
  const auto now = Session::Clock::now();
  for (const auto& session : registry.List()) attached += session->leases().CountAttached(now);
  AddGauge(families.emplace_back(
               GaugeFamily("gdnplan_attached_processes", "Processes attached to open sessions.")),
           Number(attached));
}

void AppendDevices(const SessionRegistry& registry, const SessionRegistry::Counts& counts,
                   Families& families) {
  prometheus::MetricFamily session_bytes =
      GaugeFamily("gdnplan_device_session_bytes", "Memory of all sessions on the device.");
  prometheus::MetricFamily available =
      GaugeFamily("gdnplan_device_available_bytes", "Memory of the device that nobody has taken.");
  prometheus::MetricFamily fills =
      CounterFamily("gdnplan_fills_total", "Writes to the device, by what made the bytes.");
  for (size_t i = 0; i < registry.devices().size(); ++i) {
    const DeviceInfo info = registry.devices()[i]->info();
    AddGauge(session_bytes, Number(counts.device_bytes[i]), {{"device", info.id}});
    AddGauge(available, Number(info.available_bytes), {{"device", info.id}});
    const auto add = [&](const char* fill, uint64_t count) {
      AddCounter(fills, Number(count), {{"device", info.id}, {"fill", fill}});
    };
    if (info.kind == DeviceKind::kHost) {
      add("host", info.fills.host);
    } else {
      add("copy", info.fills.copy);
      add("kernel", info.fills.kernel);
    }
  }
  families.push_back(std::move(session_bytes));
  families.push_back(std::move(available));
  families.push_back(std::move(fills));
}

}  // namespace

MetricsCollector::MetricsCollector(const SessionRegistry& registry, std::function<bool()> serving,
                                   const std::shared_ptr<const PlanTrace>& trace)
    : registry_(registry), serving_(std::move(serving)), trace_(trace) {}

std::vector<prometheus::MetricFamily> MetricsCollector::Collect() const {
  Families families;
  AddGauge(families.emplace_back(GaugeFamily("gdnplan_build_info", "1, with what was built.")), 1,
           {{"version", kVersion}, {"cuda", BuiltWithCuda() ? "yes" : "no"}});
  AddGauge(families.emplace_back(
               GaugeFamily("gdnplan_serving", "1 while the health service says SERVING, else 0.")),
           serving_() ? 1 : 0);
  const SessionRegistry::Counts counts = registry_.counts();
  AppendCalls(registry_.recorder(), families);
  AppendSessions(registry_, counts, families);
  AppendDevices(registry_, counts, families);
  if (const std::shared_ptr<const PlanTrace> trace = trace_.lock()) {
    AddCounter(families.emplace_back(CounterFamily("gdnplan_trace_left_out_total",
                                                   "Calls that the trace file has no room for.")),
               Number(trace->num_left_out()));
  }
  AppendProcessMetrics(families);
  return families;
}

}  // namespace gdnplan::server
