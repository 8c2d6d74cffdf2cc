// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A program's options, of every kind that ours have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gdnplan::settings {

struct SampleApp {
  SampleApp() {
    app.option_defaults()->always_capture_default();
    app.set_version_flag("--version", std::string("sample 1.2"));
    app.footer("Exit status: 0.");
    app.fallthrough();
    app.add_option("--listen", listen, "Where to listen. Twice, too")
        ->envname("SAMPLE_LISTEN")
        ->delimiter(',')
        ->type_name("ADDR");
    app.add_option("--lease", lease, "Seconds")
        ->envname("SAMPLE_LEASE")
        ->check(CLI::Range(0.0, 60.0));
    CLI::Option* cert = app.add_option("--cert", cert_file, "A certificate's file");
    cert->envname("SAMPLE_CERT")->type_name("FILE");
    app.add_flag("--open", open, "For everybody")->envname("SAMPLE_OPEN")->excludes(cert);
    app.add_option("--fill", fill, "How it is filled")
        ->envname("SAMPLE_FILL")
        ->check(CLI::IsMember({"auto", "copy"}));
    CLI::App* run = app.add_subcommand("run", "Runs it. Soon");
    run->add_option("FILE", files, "What's run")->required();
    run->add_option("--size", size, "How large it is");
    run->add_flag("-v,--verbose", verbose, "Says more");
  }

  std::vector<std::string> listen = {"here"};
  double lease = 30;
  std::string cert_file;
  bool open = false;
  std::string fill = "auto";
  std::vector<std::string> files;
  int size = 1;
  bool verbose = false;
  CLI::App app{"Does what samples do. Nothing else.", "sample"};
};

}  // namespace gdnplan::settings
