// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/plan_report.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tool/print_json.h"
#include "client/tool/tensor_values.h"
#include "client/tool/text.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFirstValues = 8;

std::vector<std::pair<const char*, int32_t>> Counts(const plan::PlanCounts& counts) {
  return {{"num_prefills", counts.num_prefills},
          {"num_prefill_tokens", counts.num_prefill_tokens},
          {"num_decodes", counts.num_decodes},
          {"num_decode_tokens", counts.num_decode_tokens},
          {"num_spec_decodes", counts.num_spec_decodes},
          {"num_spec_decode_tokens", counts.num_spec_decode_tokens},
          {"num_actual_tokens", counts.num_actual_tokens},
          {"num_conv_programs", counts.num_conv_programs}};
}

std::string Values(const std::vector<int32_t>& values, bool all) {
  if (values.empty()) return "(empty)";
  if (all || values.size() <= kFirstValues) return absl::StrJoin(values, " ");
  return absl::StrCat(
      absl::StrJoin(values.begin(), values.begin() + std::ptrdiff_t{kFirstValues}, " "), " ...");
}

void PrintTensors(const PlanReport& report, const ReportOptions& options) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"name"}, {"group", kRight}, {"shape"}, {"dtype"}, {"offset", kRight}, {"values"}});
  for (const ReportedTensor& tensor : report.tensors) {
    const std::string shape = absl::StrCat("[", absl::StrJoin(tensor.shape, ", "), "]");
    const size_t shown = std::min(tensor.groups.size(), static_cast<size_t>(options.group_limit));
    for (size_t g = 0; g < shown; ++g) {
      table.AddRow({OneLine(tensor.name), tensor.per_group ? std::to_string(g) : "all", shape,
                    std::string(Name(tensor.dtype)),
                    std::to_string(tensor.offset + g * tensor.group_stride),
                    Values(tensor.groups[g], options.all_values)});
    }
    if (shown < tensor.groups.size()) {
      table.AddRow({"", "...", "", "", "",
                    absl::StrCat(tensor.groups.size() - shown, " more groups (--group-limit)")});
    }
  }
  table.Print(std::cout);
}

}  // namespace

absl::StatusOr<PlanReport> MakeReport(const client::Session& session, const client::PlanView& plan,
                                      std::chrono::nanoseconds client_time) {
  PlanReport report;
  report.plan = plan.record();
  report.client_time = client_time;
  report.absent = plan.Absent();
  for (const client::ArenaInfo& arena : session.info().arenas) {
    report.devices.push_back(arena.device.id);
  }
  for (const client::TensorInfo& info : session.info().tensors) {
    GDNPLAN_ASSIGN_OR_RETURN(const bool present, plan.Has(info.name));
    if (!present) continue;
    ReportedTensor tensor;
    const int32_t groups = info.per_group ? session.info().config.num_groups() : 1;
    for (int32_t g = 0; g < groups; ++g) {
      GDNPLAN_ASSIGN_OR_RETURN(TensorValues read, ReadValues(plan, info.name, g));
      const client::RawTensor& raw = read.tensor;
      if (g == 0) {
        tensor.offset = raw.offset;
        tensor.shape.assign(raw.dims.begin(), raw.dims.begin() + raw.rank);
      } else if (g == 1) {
        tensor.group_stride = raw.offset - tensor.offset;
      }
      tensor.groups.push_back(std::move(read.values));
    }
    tensor.name = info.name;
    tensor.dtype = info.dtype;
    tensor.per_group = info.per_group;
    report.tensors.push_back(std::move(tensor));
  }
  return report;
}

void PrintReport(const PlanReport& report, const ReportOptions& options) {
  const plan::PlanCounts& counts = report.plan.counts;
  std::cout << "plan      " << report.plan.plan_id << " in slot " << report.plan.slot << " on "
            << OneLine(absl::StrJoin(report.devices, ", ")) << '\n'
            << "staging   " << Name(counts.staging) << '\n'
            << "fill      " << client::Name(report.plan.fill) << '\n'
            << "time      server " << Duration(report.plan.server_time) << ", client "
            << Duration(report.client_time) << " (round trip)\n";
  std::cout << "\ncounts\n";
  for (const auto& [name, value] : Counts(counts)) {
    std::cout << "  " << name << std::string(30 - std::string_view(name).size(), ' ') << value
              << '\n';
  }
  std::cout << "  uniform_spec_sequence_length  "
            << (counts.uniform_spec_sequence_length == 0
                    ? "absent"
                    : std::to_string(counts.uniform_spec_sequence_length))
            << '\n';
  std::cout << "\ntensors (" << report.tensors.size() << ")\n";
  PrintTensors(report, options);
  std::cout << "absent: " << (report.absent.empty() ? "none" : absl::StrJoin(report.absent, ", "))
            << '\n';
}

void PrintReportJson(const PlanReport& report) {
  const client::PlanRecord& plan = report.plan;
  Json json = {{"plan_id", plan.plan_id},
               {"slot", plan.slot},
               {"staging", Name(plan.counts.staging)},
               {"fill", client::Name(plan.fill)},
               {"timeline_value", plan.timeline_value},
               {"devices", report.devices},
               {"server_time_ns", plan.server_time.count()},
               {"client_time_ns", report.client_time.count()},
               {"counts", Json::object()},
               {"tensors", Json::array()},
               {"absent", report.absent}};
  for (const auto& [name, value] : Counts(plan.counts)) json["counts"][name] = value;
  const int32_t uniform = plan.counts.uniform_spec_sequence_length;
  json["counts"]["uniform_spec_sequence_length"] = uniform == 0 ? Json(nullptr) : Json(uniform);
  for (const ReportedTensor& tensor : report.tensors) {
    json["tensors"].push_back({{"name", tensor.name},
                               {"dtype", Name(tensor.dtype)},
                               {"shape", tensor.shape},
                               {"offset", tensor.offset},
                               {"group_stride", tensor.group_stride},
                               {"groups", tensor.groups}});
  }
  PrintJson(json);
}

}  // namespace gdnplan::tool
