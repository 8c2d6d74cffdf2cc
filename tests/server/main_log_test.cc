// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the program writes besides its one line: the log and the trace.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/server/main_testing.h"
#include "tests/testing/eventually.h"

namespace gdnplan::test {
namespace {

using ::testing::HasSubstr;

class MainLogTest : public MainTest {};

TEST_F(MainLogTest, ALogThatNobodyReadsStopsNothing) {
  const std::string path = (root_ / "log").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int log = open(path.c_str(), O_RDWR | O_CLOEXEC);
  const int size = fcntl(log, F_SETPIPE_SZ, 4096);
  ASSERT_GT(size, 0);
  Process server({"/bin/sh", "-c",
                  std::string("exec ") + GDNPLAN_SERVER + " --device=host --listen=" + address_ +
                      " 2>" + path});
  ASSERT_EQ(server.ReadLine(), Line());
  ServiceClient client = Client();
  v1::OpenSessionRequest request = SampleRequest();
  request.set_name(std::string(128, 'n'));
  const auto open_and_close = [&] {
    const auto session = client.Open(request);
    ASSERT_THAT(session, IsOk());
    ASSERT_THAT(client.Close(session->session_id()), IsOk());
  };
  // Until a line does not fit any more; in each second there are some.
  const auto full = [&] {
    int waiting = 0;
    ioctl(log, FIONREAD, &waiting);
    open_and_close();
    return waiting > size - 512;
  };
  EXPECT_TRUE(Eventually(full));
  for (int i = 0; i < 100; ++i) open_and_close();
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  close(log);
}

TEST_F(MainLogTest, LogsObjectsWithWhatClientsCaused) {
  Process server(Command({"--log-format=json"}));
  ASSERT_EQ(server.ReadLine(), Line());
  ServiceClient client(grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  v1::OpenSessionRequest request = SampleRequest();
  request.set_name("a \"name\"\n");
  const auto session = client.Open(request);
  ASSERT_THAT(session, IsOk());
  json::OwnedBatch bad = SampleBatch();
  bad.seq_lens[0] = 1;
  EXPECT_FALSE(client.Plan(session->session_id(), bad).ok());
  EXPECT_THAT(client.Close(session->session_id()), IsOk());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  std::istringstream lines(server.ErrorOutput());
  std::vector<nlohmann::json> events;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json event = nlohmann::json::parse(line);
    // Of another test's server, if that was just killed.
    if (event["event"] != "removed shared memory that servers left behind") events.push_back(event);
  }
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["event"], "session opened");
  EXPECT_EQ(events[0]["level"], "info");
  EXPECT_EQ(events[0]["session"], 1);
  EXPECT_EQ(events[0]["name"], "a \"name\"\n");
  EXPECT_EQ(events[1]["event"], "request refused");
  EXPECT_EQ(events[1]["level"], "warning");
  EXPECT_EQ(events[1]["session"], 1);
  EXPECT_EQ(events[1]["code"], "INVALID_ARGUMENT");
  EXPECT_THAT(events[1]["reason"].get<std::string>(), HasSubstr("seq_lens[0]"));
  EXPECT_EQ(events[2]["event"], "session closed");
  EXPECT_EQ(events[3]["event"], "shutting down");
}

// The next file would get its number, and its lines.
TEST_F(MainLogTest, WithoutStandardErrorTheLogIsInNoOtherFile) {
  const std::string trace = (root_ / "trace.json").string();
  std::vector<std::string> command = Command({"--trace-file=" + trace});
  command.insert(command.begin(), {"/bin/bash", "-c", "exec \"$@\" 2>&-", "server"});
  Process server(command);
  ASSERT_EQ(server.ReadLine(), Line());
  OpenSession();
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  std::ifstream file(trace);
  EXPECT_TRUE(nlohmann::json::parse(file, nullptr, false).is_array());
}

TEST_F(MainLogTest, ATraceIsWholeWhenTheServerEnds) {
  const std::string trace = (root_ / "trace.json").string();
  Process server(Command({"--trace-file=" + trace, "--metrics-listen=127.0.0.1:0"}));
  ASSERT_THAT(server.ReadLine(), ::testing::StartsWith(Line()));
  const auto session = Client().Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(Client().Plan(session->session_id(), SampleBatch()), IsOk());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  std::ifstream file(trace);
  const nlohmann::json events = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(events.is_array());
  EXPECT_GT(events.size(), 1u);
}

// ulimit -f: what writes gets an error, and the process no signal.
TEST_F(MainLogTest, ALimitOfFilesSizesRefusesSessionsAndServingGoesOn) {
  std::vector<std::string> command = Command();
  command.insert(command.begin(), {"/bin/sh", "-c", "ulimit -f 100 && exec \"$@\"", "server"});
  Process server(command);
  ASSERT_EQ(server.ReadLine(), Line());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Client().Open(SampleRequest()).status(),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("shared memory")));
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(MainLogTest, AHangUpEndsItAsWell) {
  Process server(Command());
  ASSERT_EQ(server.ReadLine(), Line());
  server.Signal(SIGHUP);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "run"));
}

TEST_F(MainLogTest, SessionsThatComeAndGoDoNotFillTheLog) {
  constexpr int kSessions = 200;  // and as many refusals
  Process server(Command({"--log-format=json"}));
  ASSERT_EQ(server.ReadLine(), Line());
  ServiceClient client = Client();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kSessions; ++i) {
    const auto session = client.Open(SampleRequest());
    ASSERT_THAT(session, IsOk());
    ASSERT_THAT(client.Close(session->session_id()), IsOk());
    ASSERT_FALSE(client.Plan(session->session_id(), SampleBatch()).ok());
  }
  const auto elapsed =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  std::istringstream lines(server.ErrorOutput());
  std::map<std::string, int64_t> told;
  for (std::string line; std::getline(lines, line);) ++told[nlohmann::json::parse(line)["event"]];
  for (const char* event : {"session opened", "session closed", "request refused"}) {
    EXPECT_GE(told[event], 20) << event;
    EXPECT_LE(told[event], 20 * (elapsed.count() + 1)) << event;
  }
}

// Protobuf would write to standard error itself.
TEST_F(MainLogTest, WhatLibrariesSayOfAClientIsInTheLogAndLimited) {
  constexpr int kCalls = 40;
  Process server(Command({"--log-format=json"}));
  ASSERT_EQ(server.ReadLine(), Line());
  ServiceClient client = Client();
  v1::OpenSessionRequest request = SampleRequest();
  request.set_name("\xff\xfe");
  for (int i = 0; i < kCalls; ++i) EXPECT_FALSE(client.Open(request).ok());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  std::istringstream lines(server.ErrorOutput());
  int64_t told = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(event.is_object()) << line;
    if (event["event"] != "Protobuf") continue;
    EXPECT_EQ(event["level"], "error");
    EXPECT_THAT(event["reason"].get<std::string>(), HasSubstr("OpenSessionRequest.name"));
    told += 1 + event.value("left_out", int64_t{0});
  }
  EXPECT_GE(told, 1);
  EXPECT_LE(told, kCalls);
}

TEST_F(MainLogTest, ATraceIsNotWrittenOverWhatIsRead) {
  const std::string path = (root_ / "file").string();
  const std::string link = (root_ / "link").string();
  std::ofstream(path) << "drain = 1\n";
  std::filesystem::create_symlink(path, link);
  for (const std::string flag : {"--config", "--token-file", "--tls-client-ca"}) {
    Process server(Command({flag + "=" + path, "--trace-file=" + link}));
    EXPECT_EQ(server.Wait(), 2) << flag;
    EXPECT_THAT(server.ErrorOutput(),
                HasSubstr("--trace-file: " + link + " is the file of " + flag));
    EXPECT_EQ(std::filesystem::file_size(path), 10u);
  }
}

TEST_F(MainLogTest, NorWhereTheServersLinesGo) {
  const std::string path = (root_ / "out").string();
  for (const std::string name : {"stdout", "stderr"}) {
    const std::string redirected = name == "stdout" ? " >" : " 2>";
    Process server({"/bin/sh", "-c",
                    std::string("exec ") + GDNPLAN_SERVER + " --device=host --listen=" + address_ +
                        " --trace-file=/dev/" + name + redirected + path});
    EXPECT_EQ(server.Wait(), 2) << name;
    std::ifstream file(path);
    const std::string written((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(name == "stdout" ? server.ErrorOutput() : written,
                HasSubstr("--trace-file: /dev/" + name + " is where /dev/" + name + " goes"));
  }
}

TEST_F(MainLogTest, NorOverTheSocketsLock) {
  const std::string lock = address_.substr(std::string("unix:").size()) + ".lock";
  Process server(Command({"--trace-file=" + lock}));
  EXPECT_EQ(server.Wait(), 2);
  EXPECT_THAT(server.ErrorOutput(), HasSubstr("--trace-file: " + lock + " is the lock of "));
  EXPECT_FALSE(std::filesystem::exists(lock));
}

// Whoever opens one waits for its other end.
TEST_F(MainLogTest, FifosAreNoFiles) {
  const std::string path = (root_ / "fifo").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const std::string flag : {"--token-file", "--trace-file"}) {
    Process server(Command({flag + "=" + path}));
    EXPECT_EQ(server.Wait(), 1) << flag;
    EXPECT_THAT(server.ErrorOutput(), HasSubstr(path + ": it is "));
  }
}

TEST_F(MainLogTest, SaysThatATraceCannotBeWrittenAnyMore) {
  Process server(Command({"--trace-file=/dev/full"}));
  ASSERT_EQ(server.ReadLine(), Line());
  ServiceClient client = Client();
  const auto session = client.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(client.Plan(session->session_id(), SampleBatch()), IsOk());
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  const std::string errors = server.ErrorOutput();
  const std::string told = "cannot write /dev/full: No space left on device";
  EXPECT_THAT(errors, HasSubstr(told));
  EXPECT_EQ(errors.find(told), errors.rfind(told)) << errors;
}

}  // namespace
}  // namespace gdnplan::test
