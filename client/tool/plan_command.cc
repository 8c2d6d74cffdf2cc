// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan plan
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/tool/command.h"
#include "client/tool/input.h"
#include "client/tool/plan_report.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/status.h"
#include "wire/flag_range.h"

namespace gdnplan::tool {
namespace {

constexpr char kPlanFooter[] =
    R"(FILE is a batch: {"config": {...}, "batch": {...}}, as in a line of the golden files.

With --json: {"plan_id", "slot", "staging", "fill", "timeline_value", "devices",
  "server_time_ns", "client_time_ns", "counts": {...},
  "tensors": [{"name", "dtype", "shape", "offset", "group_stride", "groups": [[...], ...]}],
  "absent": ["name", ...]}
groups has each group's elements, flattened row by row; one list where all groups share the
tensor, whose group_stride is then 0. Values are those on the first device.)";

struct PlanFlags {
  std::string file;
  std::optional<int> line;
  bool json = false;
  int32_t num_slots = 1;
  std::vector<std::string> devices;
  ReportOptions report;
};

absl::StatusOr<int> RunPlan(const Connection& connection, const PlanFlags& options) {
  GDNPLAN_ASSIGN_OR_RETURN(const json::BatchDocument document,
                           ReadBatchFile(options.file, options.line));
  GDNPLAN_ASSIGN_OR_RETURN(const client::Client client, connection.Connect());
  client::SessionOptions session_options;
  session_options.name = "gdnplan plan";
  session_options.num_slots = options.num_slots;
  session_options.devices = options.devices;
  GDNPLAN_ASSIGN_OR_RETURN(client::Session session,
                           client.OpenSession(document.config, session_options));
  const auto start = std::chrono::steady_clock::now();
  GDNPLAN_ASSIGN_OR_RETURN(const client::PlanView plan,
                           session.Plan(document.batch.view(), {.wait_complete = true}));
  const auto client_time = std::chrono::steady_clock::now() - start;
  GDNPLAN_ASSIGN_OR_RETURN(const PlanReport report, MakeReport(session, plan, client_time));
  if (options.json) {
    PrintReportJson(report);
  } else {
    PrintReport(report, options.report);
  }
  GDNPLAN_RETURN_IF_ERROR(session.Close());
  return kSuccess;
}

}  // namespace

void AddPlanCommand(CLI::App& app, const Connection& connection, Action& action) {
  auto options = std::make_shared<PlanFlags>();
  CLI::App* command =
      app.add_subcommand("plan", "Plans one batch and shows the counts and every tensor");
  command->footer(kPlanFooter);
  command->add_option("FILE", options->file, "The batch; - for stdin")->required();
  command->add_option("--line", options->line, "Which line of FILE, from 1 (default: the first)")
      ->check(wire::InRange(1, 1'000'000'000))
      ->type_name("N");
  command->add_flag("--json", options->json, "Print JSON, with all values");
  command->add_option("--slots", options->num_slots, "Slots of the session")
      ->check(wire::InRange(1, plan::kMaxSlots))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--device", options->devices,
                   "Device id, as info shows it; several are allowed (default: the first)")
      ->type_name("ID");
  command
      ->add_option("--group-limit", options->report.group_limit,
                   "Show a per-group tensor's first N groups")
      ->check(wire::InRange(1, plan::kMaxGroups))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--all-values", options->report.all_values, "Show all values, not the first");
  command->callback([options, &connection, &action] {
    action = [options, &connection] { return RunPlan(connection, *options); };
  });
}

}  // namespace gdnplan::tool
