// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan info
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tool/command.h"
#include "client/tool/print_json.h"
#include "client/tool/text.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

using client::ServerInfo;
using client::SessionSummary;
using Json = nlohmann::ordered_json;

constexpr char kInfoFooter[] =
    R"(With --json: {"address", "version", "boot_id", "uptime_ms",
  "capabilities": {"plan_stream", "watch_plans", "cuda", "timeline_waits"},
  "limits": {"max_sessions", "max_message_bytes", "max_groups", "max_slots", "max_num_seqs",
    "max_num_batched_tokens", "max_session_bytes", "max_device_bytes", "max_streams",
    "max_plans_in_flight", "max_followers"}, "poll", "lease_ms", "grace_ms", "num_leases_lapsed",
  "devices": [{"id", "kind", "name", "memory_bytes", "available_bytes", "fill_mode", "mps",
    "fills": {"host", "copy", "kernel"}}],
  "sessions": [{"number", "name", "devices", "max_num_seqs", "max_num_batched_tokens",
    "num_speculative_tokens", "num_groups", "num_slots", "arena_bytes", "num_plans",
    "num_refused", "age_ms", "idle_ms", "num_attached", "lease_left_ms"}]})";

std::vector<std::pair<const char*, bool>> Flags(const ServerInfo& info) {
  return {{"plan_stream", info.capabilities.plan_stream},
          {"watch_plans", info.capabilities.watch_plans},
          {"cuda", info.capabilities.cuda},
          {"timeline_waits", info.capabilities.timeline_waits}};
}

// "auto, MPS"
std::string FillText(const client::DeviceInfo& device) {
  return absl::StrCat(plan::ToAbsl(client::Name(device.fill_mode)), device.mps ? ", MPS" : "");
}

// "12 copy, 3 kernel"
std::string FilledText(const client::DeviceInfo::Fills& fills) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : {std::pair("host", fills.host), std::pair("copy", fills.copy),
                                    std::pair("kernel", fills.kernel)}) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", name));
  }
  return parts.empty() ? "none" : absl::StrJoin(parts, ", ");
}

bool HasGpu(const ServerInfo& info) {
  return std::any_of(info.devices.begin(), info.devices.end(),
                     [](const auto& device) { return device.kind == client::DeviceKind::kCuda; });
}

// Of a limit.
std::string BytesOrNoLimit(uint64_t bytes) { return bytes == 0 ? "no limit" : Bytes(bytes); }

void PrintText(const std::string& address, const ServerInfo& info,
               const std::vector<SessionSummary>& sessions) {
  constexpr auto kRight = Table::Align::kRight;
  std::vector<std::string> names;
  for (const auto& [name, has] : Flags(info)) {
    if (has) names.emplace_back(name);
    // The capability is the build's, and without a GPU it promises nothing.
    if (has && std::string_view(name) == "cuda" && !HasGpu(info)) names.back() += " (no GPU)";
  }
  std::cout << "server        " << OneLine(address) << '\n'
            << "version       " << OneLine(info.version) << '\n'
            << "boot id       " << OneLine(info.boot_id) << '\n'
            << "up            " << Duration(info.uptime) << '\n'
            << "capabilities  " << (names.empty() ? "none" : absl::StrJoin(names, ", ")) << '\n'
            << "limits        " << info.limits.max_sessions << " sessions, "
            << info.limits.max_groups << " groups, " << info.limits.max_slots << " slots, messages "
            << "of " << Bytes(info.limits.max_message_bytes) << '\n'
            << "of a session  " << info.limits.max_num_seqs << " rows, "
            << info.limits.max_num_batched_tokens << " tokens, " << info.limits.max_followers
            << " followers, memory on a device: " << BytesOrNoLimit(info.limits.max_session_bytes)
            << '\n'
            << "of a device   memory of all sessions: "
            << BytesOrNoLimit(info.limits.max_device_bytes) << '\n'
            << "streams       " << info.limits.max_streams << ", "
            << info.limits.max_plans_in_flight << " plans in flight each; poll "
            << OneLine(info.poll) << '\n'
            << "leases        "
            << (info.lease.count() == 0 ? "never lapse" : "lapse after " + Duration(info.lease))
            << ", " << Duration(info.grace) << " grace, " << info.num_leases_lapsed
            << " sessions lapsed\n";
  std::cout << "\ndevices (" << info.devices.size() << ")\n";
  Table devices({{"id"},
                 {"kind"},
                 {"name"},
                 {"memory", kRight},
                 {"available", kRight},
                 {"fill"},
                 {"filled"}});
  for (const auto& device : info.devices) {
    devices.AddRow({OneLine(device.id), std::string(client::Name(device.kind)),
                    OneLine(device.name), Bytes(device.memory_bytes), Bytes(device.available_bytes),
                    FillText(device), FilledText(device.fills)});
  }
  devices.Print(std::cout);
  std::cout << "\nsessions (" << sessions.size() << ")\n";
  if (sessions.empty()) return;
  Table table({{"number", kRight},
               {"name"},
               {"devices"},
               {"rows", kRight},
               {"tokens", kRight},
               {"K", kRight},
               {"groups", kRight},
               {"slots", kRight},
               {"arena", kRight},
               {"plans", kRight},
               {"refused", kRight},
               {"age", kRight},
               {"idle", kRight}});
  for (const SessionSummary& session : sessions) {
    table.AddRow(
        {std::to_string(session.number), OneLine(session.name),
         OneLine(absl::StrJoin(session.devices, ",")), std::to_string(session.config.max_num_seqs),
         std::to_string(session.config.max_num_batched_tokens),
         std::to_string(session.config.num_speculative_tokens),
         std::to_string(session.config.num_groups()), std::to_string(session.num_slots),
         Bytes(session.arena_bytes), std::to_string(session.num_plans),
         std::to_string(session.num_refused), Duration(session.age), Duration(session.idle)});
  }
  table.Print(std::cout);
}

Json ToJson(const std::string& address, const ServerInfo& info,
            const std::vector<SessionSummary>& sessions) {
  Json json = {{"address", address},
               {"version", info.version},
               {"boot_id", info.boot_id},
               {"uptime_ms", info.uptime.count()},
               {"capabilities", Json::object()},
               {"limits",
                {{"max_sessions", info.limits.max_sessions},
                 {"max_message_bytes", info.limits.max_message_bytes},
                 {"max_groups", info.limits.max_groups},
                 {"max_slots", info.limits.max_slots},
                 {"max_num_seqs", info.limits.max_num_seqs},
                 {"max_num_batched_tokens", info.limits.max_num_batched_tokens},
                 {"max_session_bytes", info.limits.max_session_bytes},
                 {"max_device_bytes", info.limits.max_device_bytes},
                 {"max_streams", info.limits.max_streams},
                 {"max_plans_in_flight", info.limits.max_plans_in_flight},
                 {"max_followers", info.limits.max_followers}}},
               {"poll", info.poll},
               {"lease_ms", info.lease.count()},
               {"grace_ms", info.grace.count()},
               {"num_leases_lapsed", info.num_leases_lapsed},
               {"devices", Json::array()},
               {"sessions", Json::array()}};
  for (const auto& [name, has] : Flags(info)) json["capabilities"][name] = has;
  for (const auto& device : info.devices) {
    json["devices"].push_back({{"id", device.id},
                               {"kind", client::Name(device.kind)},
                               {"name", device.name},
                               {"memory_bytes", device.memory_bytes},
                               {"available_bytes", device.available_bytes},
                               {"fill_mode", client::Name(device.fill_mode)},
                               {"mps", device.mps},
                               {"fills",
                                {{"host", device.fills.host},
                                 {"copy", device.fills.copy},
                                 {"kernel", device.fills.kernel}}}});
  }
  for (const SessionSummary& session : sessions) {
    json["sessions"].push_back({{"number", session.number},
                                {"name", session.name},
                                {"devices", session.devices},
                                {"max_num_seqs", session.config.max_num_seqs},
                                {"max_num_batched_tokens", session.config.max_num_batched_tokens},
                                {"num_speculative_tokens", session.config.num_speculative_tokens},
                                {"num_groups", session.config.num_groups()},
                                {"num_slots", session.num_slots},
                                {"arena_bytes", session.arena_bytes},
                                {"num_plans", session.num_plans},
                                {"num_refused", session.num_refused},
                                {"age_ms", session.age.count()},
                                {"idle_ms", session.idle.count()},
                                {"num_attached", session.num_attached},
                                {"lease_left_ms", session.lease_left.count()}});
  }
  return json;
}

absl::StatusOr<int> Run(const Connection& connection, bool json) {
  GDNPLAN_ASSIGN_OR_RETURN(const client::Client client, connection.Connect());
  GDNPLAN_ASSIGN_OR_RETURN(const ServerInfo info, client.GetServerInfo());
  GDNPLAN_ASSIGN_OR_RETURN(const std::vector<SessionSummary> sessions, client.ListSessions());
  if (json) {
    PrintJson(ToJson(connection.address(), info, sessions));
  } else {
    PrintText(connection.address(), info, sessions);
  }
  return kSuccess;
}

}  // namespace

void AddInfoCommand(CLI::App& app, const Connection& connection, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "info", "Shows version, devices, capabilities, limits and sessions of the server");
  command->footer(kInfoFooter);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json, &connection, &action] {
    action = [json, &connection] { return Run(connection, *json); };
  });
}

}  // namespace gdnplan::tool
