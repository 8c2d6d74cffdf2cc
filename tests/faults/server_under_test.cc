// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/server_under_test.h"

#include <signal.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/plan/status.h"
#include "tests/testing/eventually.h"

namespace gdnplan::test {
namespace {

constexpr char kLease[] = "--lease=2";
constexpr char kGrace[] = "--grace=0.5";
// The lease, the grace and much more than a machine takes that has other things to do.
constexpr std::chrono::seconds kGone{20};
// Heaps keep some of what they had.
#ifdef GDNPLAN_ASAN
constexpr uint64_t kSpareBytes = 1 << 30;  // and AddressSanitizer much more
#else
constexpr uint64_t kSpareBytes = 48 << 20;
#endif
constexpr int kSpareDescriptors = 16;
constexpr uint64_t kSpareGpuBytes = 64 << 20;

}  // namespace

std::string ServerUnderTest::Held::Text() const {
  std::string text = absl::StrCat(ToString(process), ", shared memory objects: ", objects);
  if (gpu_free > 0) absl::StrAppend(&text, ", MiB free on the GPU: ", gpu_free >> 20);
  return text;
}

absl::Status ServerUnderTest::Start() {
  baseline.reset();
  client_.reset();
  process_.reset();
  // With a GPU too it keeps its PID, so that a signal meets the process that serves.
  process_ = std::make_unique<Process>(std::vector<std::string>{
      options_.server_program, absl::StrCat("--listen=", options_.address()),
      absl::StrCat("--device=", options_.device), kLease, kGrace, "--log-level=error",
      "--min-pid=0", "--max-sessions=1000"});
  if (process_->ReadLine(std::chrono::seconds(60)).empty()) {
    const int status = process_->Wait(std::chrono::seconds(1));
    return absl::InternalError(absl::StrCat("the server does not start (status ", status,
                                            "): ", status < 0 ? "" : process_->ErrorOutput()));
  }
  GDNPLAN_ASSIGN_OR_RETURN(client_, client::Client::Connect(options_.address()));
  GDNPLAN_ASSIGN_OR_RETURN(const client::ServerInfo info, client_->GetServerInfo());
  boots_.push_back(info.boot_id);
  return absl::OkStatus();
}

absl::Status ServerUnderTest::CheckAlive() {
  const int status = process_->Wait(std::chrono::milliseconds(0));
  if (status < 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the server ended with status ", status, ": ", process_->ErrorOutput()));
}

absl::Status ServerUnderTest::End() {
  client_.reset();
  process_->Signal(SIGTERM);
  const int status = process_->Wait(std::chrono::seconds(60));
  if (status == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the server's exit status is ", status));
}

absl::Status ServerUnderTest::VerifyGolden() const {
  Process tool({options_.tool_program, absl::StrCat("--server=", options_.address()), "verify",
                options_.golden});
  const int status = tool.Wait(std::chrono::minutes(5));
  if (status == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("golden batches, status ", status, ": ",
                   status < 0 ? "it does not end" : tool.RestOfOutput() + tool.ErrorOutput()));
}

absl::Status ServerUnderTest::AwaitNoSessions() const {
  absl::StatusOr<std::vector<client::SessionSummary>> sessions;
  const bool none = Eventually(
      [&] {
        sessions = client_->ListSessions();
        return sessions.ok() && sessions->empty();
      },
      kGone);
  if (none) return absl::OkStatus();
  GDNPLAN_RETURN_IF_ERROR(sessions.status());
  return absl::InternalError(absl::StrCat(sessions->size(), " sessions are left, the first of \"",
                                          sessions->front().name, "\""));
}

std::vector<std::string> ServerUnderTest::Leftovers() const {
  std::vector<std::string> names;
  for (const std::string& boot : boots_) {
    for (std::string& name : SharedMemoryObjects(absl::StrCat("gdnplan-", boot))) {
      if (boot == boots_.back() && name.ends_with("-probe")) continue;
      names.push_back(std::move(name));
    }
  }
  return names;
}

absl::Status ServerUnderTest::AwaitNothingLeft(const Held& before) const {
  std::string text;
  const bool good = Eventually(
      [&] {
        const std::vector<std::string> leftovers = Leftovers();
        const auto now = Measure();
        if (!now.ok()) return false;
        text = absl::StrCat("was ", before.Text(), "; is ", now->Text(),
                            "; left over: ", absl::StrJoin(leftovers, ", "));
        return leftovers.empty() && now->objects <= before.objects &&
               now->process.resident_bytes <= before.process.resident_bytes + kSpareBytes &&
               now->process.descriptors <= before.process.descriptors + kSpareDescriptors &&
               now->gpu_free + kSpareGpuBytes >= before.gpu_free;
      },
      kGone);
  return good ? absl::OkStatus() : absl::InternalError(absl::StrCat("something is left: ", text));
}

absl::StatusOr<ServerUnderTest::Held> ServerUnderTest::Measure() const {
  Held held;
  held.process = UsageOf(process_->pid());
  for (const std::string& boot : boots_) {
    held.objects += SharedMemoryObjects(absl::StrCat("gdnplan-", boot)).size();
  }
  GDNPLAN_ASSIGN_OR_RETURN(const client::ServerInfo info, client_->GetServerInfo());
  if (info.devices.front().kind == client::DeviceKind::kCuda) {
    held.gpu_free = info.devices.front().available_bytes;
  }
  return held;
}

}  // namespace gdnplan::test
