// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/fatal_error.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "server/session_registry.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::FatalError;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Status Sticky(const char* text) { return plan::MakeSticky(absl::InternalError(text)); }

class FatalErrorTest : public ::testing::Test {
 protected:
  FatalError::Handler Recorder() {
    return [this](const absl::Status& error) { texts_.emplace_back(error.message()); };
  }
  std::vector<std::string> texts_;
};

TEST_F(FatalErrorTest, TheFirstStickyErrorCounts) {
  FatalError fatal;
  fatal.SetHandler(Recorder());
  fatal.Note(absl::OkStatus());
  fatal.Note(absl::InternalError("passes"));
  EXPECT_THAT(texts_, IsEmpty());
  fatal.Note(Sticky("first"));
  fatal.Note(Sticky("second"));
  EXPECT_THAT(texts_, ElementsAre("first"));
}

TEST_F(FatalErrorTest, AHandlerThatComesLateHearsOfIt) {
  FatalError fatal;
  fatal.Note(Sticky("early"));
  fatal.SetHandler(nullptr);
  fatal.SetHandler(Recorder());
  EXPECT_THAT(texts_, ElementsAre("early"));
}

TEST_F(FatalErrorTest, OnceAmongThreads) {
  FatalError fatal;
  fatal.SetHandler(Recorder());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { fatal.Note(Sticky("one of them")); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(texts_, ElementsAre("one of them"));
}

// What sessions tell it.
class SessionFatalErrorTest : public FatalErrorTest {
 protected:
  SessionFatalErrorTest() { registry_.fatal_error().SetHandler(Recorder()); }
  absl::StatusOr<std::shared_ptr<server::Session>> Open() {
    server::SessionOptions options;
    options.config = SampleConfig();
    options.guarded = true;
    options.slot_wait = std::chrono::milliseconds(5);
    return registry_.Open(options, {});
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>("fake");
  server::SessionRegistry registry_{server::Boot::Create().value(), {device_}, {}};
};

TEST_F(SessionFatalErrorTest, AStickyWriteError) {
  const auto session = Open();
  ASSERT_THAT(session, IsOk());
  device_->sticky = device_->fail_writes = true;
  EXPECT_THAT(Plan(**session, SampleBatch()), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(texts_, ElementsAre("the fake's write failed"));
}

TEST_F(SessionFatalErrorTest, AStickyFillErrorThatNobodyWaitedFor) {
  const auto session = Open();
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(Plan(**session, SampleBatch()), IsOk());
  device_->sticky = device_->fail_ready = true;
  // The slot's consumer never comes, for it waits for the bytes.
  EXPECT_THAT(Plan(**session, SampleBatch()), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(texts_, ElementsAre("the fake's fill failed"));
}

TEST_F(SessionFatalErrorTest, AStickyErrorOfANewSession) {
  device_->sticky = device_->fail_create = true;
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(texts_, ElementsAre("the fake's memory failed"));
}

TEST_F(SessionFatalErrorTest, OtherErrorsEndTheirSessionOnly) {
  const auto session = Open();
  ASSERT_THAT(session, IsOk());
  device_->fail_writes = true;
  EXPECT_THAT(Plan(**session, SampleBatch()), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(Plan(**session, SampleBatch()), StatusIs(absl::StatusCode::kFailedPrecondition));
  device_->fail_create = true;
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(texts_, IsEmpty());
}

}  // namespace
}  // namespace gdnplan::test
