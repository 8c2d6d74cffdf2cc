// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan verify
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/tool/command.h"
#include "client/tool/input.h"
#include "client/tool/print_json.h"
#include "client/tool/text.h"
#include "client/tool/verify.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/status.h"
#include "wire/flag_range.h"

namespace gdnplan::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kVerifyFooter[] =
    R"(FILE is a golden file (one case a line), or a directory of *.jsonl. Cases that share a
configuration are planned in one session. A file that cannot be read counts as failed. The last
line is "N passed, N failed"; nothing to run is a failure too.

With --json, instead: {"passed", "failed", "cases": [{"file", "name", "passed", "mismatches":
["text", ...]}], "errors": [{"file", "error"}]})";

struct VerifyFlags {
  std::vector<std::string> files;
  bool json = false;
  bool verbose = false;
  bool stream = false;
  bool poll = false;
  VerifyOptions verify;
};

// Counts and prints.
class Report {
 public:
  Report(const VerifyFlags& options, size_t num_cases) : options_(options), num_cases_(num_cases) {}

  void AddUnreadable(const std::string& file, const absl::Status& status) {
    ++failed_;
    const std::string error(status.message());
    if (options_.json) {
      errors_.push_back({{"file", file}, {"error", error}});
    } else {
      std::cout << "FAILED " << OneLine(error) << '\n';
    }
  }

  void AddCase(const CaseToVerify& entry, const std::vector<std::string>& mismatches) {
    const bool passed = mismatches.empty();
    ++(passed ? passed_ : failed_);
    if (options_.json) {
      cases_.push_back({{"file", entry.file},
                        {"name", entry.golden.name},
                        {"passed", passed},
                        {"mismatches", mismatches}});
    } else if (!passed || options_.verbose) {
      ClearProgress();
      std::cout << (passed ? "passed " : "FAILED ") << entry.file << ' '
                << OneLine(entry.golden.name) << '\n';
      for (const std::string& text : mismatches) std::cout << "  " << OneLine(text) << '\n';
    }
    ShowProgress();
  }

  int Finish() {
    ClearProgress();
    if (options_.json) {
      PrintJson({{"passed", passed_}, {"failed", failed_}, {"cases", cases_}, {"errors", errors_}});
    } else {
      std::cout << passed_ << " passed, " << failed_ << " failed\n";
    }
    return failed_ == 0 && passed_ > 0 ? kSuccess : kFailure;
  }

 private:
  void ShowProgress() {
    if (!terminal_) return;
    std::cout.flush();
    std::cerr << "\r" << passed_ + failed_ << " of " << num_cases_ << std::flush;
  }
  void ClearProgress() {
    if (terminal_) std::cerr << "\r\033[K" << std::flush;
  }

  const VerifyFlags& options_;
  const size_t num_cases_;
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  size_t passed_ = 0;
  size_t failed_ = 0;
  Json cases_ = Json::array();
  Json errors_ = Json::array();
};

struct Unreadable {
  std::string file;
  absl::Status status;
};

void ReadCases(const std::string& argument, std::vector<CaseToVerify>& cases,
               std::vector<Unreadable>& unreadable) {
  absl::StatusOr<std::vector<std::string>> files = ExpandDirectory(argument);
  if (!files.ok()) {
    unreadable.push_back({argument, files.status()});
    return;
  }
  for (const std::string& file : *files) {
    absl::StatusOr<std::vector<json::GoldenCase>> read = json::ReadGoldenFile(file);
    if (!read.ok()) {
      unreadable.push_back({file, read.status()});
      continue;
    }
    for (json::GoldenCase& golden : *read) cases.push_back({file, std::move(golden)});
  }
}

absl::StatusOr<int> RunVerify(const Connection& connection, const VerifyFlags& options) {
  GDNPLAN_ASSIGN_OR_RETURN(const client::Client opener, connection.Connect());
  GDNPLAN_ASSIGN_OR_RETURN(const client::Client worker, connection.Connect());
  std::vector<CaseToVerify> cases;
  std::vector<Unreadable> unreadable;
  for (const std::string& argument : options.files) ReadCases(argument, cases, unreadable);
  Report report(options, cases.size() + unreadable.size());
  for (const Unreadable& file : unreadable) report.AddUnreadable(file.file, file.status);
  VerifyOptions verify = options.verify;
  if (options.stream) verify.stream = client::StreamOptions{.poll = options.poll};
  VerifyCases(opener, worker, cases, verify,
              [&report](const CaseToVerify& entry, const std::vector<std::string>& mismatches) {
                report.AddCase(entry, mismatches);
              });
  return report.Finish();
}

}  // namespace

void AddVerifyCommand(CLI::App& app, const Connection& connection, Action& action) {
  auto options = std::make_shared<VerifyFlags>();
  CLI::App* command = app.add_subcommand(
      "verify", "Plans golden cases and compares every tensor as a worker reads it");
  command->footer(kVerifyFooter);
  command->add_option("FILE", options->files, "Golden files or directories of them")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-v,--verbose", options->verbose, "A line for every case");
  command->add_option("--slots", options->verify.num_slots, "Slots of each session")
      ->check(wire::InRange(1, plan::kMaxSlots))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--device", options->verify.devices,
                   "Device id, as info shows it; several are allowed (default: the first)")
      ->type_name("ID");
  command->add_flag("--attach,!--no-attach", options->verify.attach,
                    "Read through a second connection that attaches (default), or through the "
                    "opener's mapping");
  CLI::Option* stream = command->add_flag("--stream", options->stream,
                                          "Send batches over one stream for each session");
  command->add_flag("--poll", options->poll, "Poll for the stream's answers")->needs(stream);
  command->callback([options, &connection, &action] {
    action = [options, &connection] { return RunVerify(connection, *options); };
  });
}

}  // namespace gdnplan::tool
