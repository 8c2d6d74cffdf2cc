// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Clients that do not behave: bytes that are no message, answers that nobody takes.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

#include "tests/server/plan_stream_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"

namespace gdnplan::test {
namespace {

using ::testing::HasSubstr;

// A PlanStream in bytes. Operations one at a time, each awaited.
class ByteStream {
 public:
  explicit ByteStream(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {
    call_ = stub_.PrepareCall(&context_, "/gdnplan.v1.Planner/PlanStream", &queue_);
    call_->StartCall(this);
    Await();
  }
  ~ByteStream() {
    queue_.Shutdown();
    while (Await()) {
    }
  }

  bool Send(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    call_->Write(grpc::ByteBuffer(&slice, 1), this);
    return Await();
  }
  bool Read(grpc::ByteBuffer& bytes) {
    call_->Read(&bytes, this);
    return Await();
  }
  absl::Status Finish() {
    grpc::Status status;
    call_->Finish(&status, this);
    Await();
    return ToAbsl(status);
  }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

class RoughClientTest : public StreamServerTest {
 protected:
  void SetUp() override { Start({std::make_shared<FakeDevice>("fake")}); }
};

INSTANTIATE_TEST_SUITE_P(All, RoughClientTest, ::testing::ValuesIn(kStreamSetups), SetupName);

TEST_P(RoughClientTest, BytesThatAreNoRequestEndTheStreamWithAnError) {
  const std::string session = Open().session_id();
  v1::PlanStreamRequest request;
  request.set_session_id(session);
  Fill(SampleBatch(), *request.mutable_batch());
  const std::string good = request.SerializeAsString();
  ByteStream stream(channel_);
  ASSERT_TRUE(stream.Send(good));
  grpc::ByteBuffer answer;
  ASSERT_TRUE(stream.Read(answer));
  ASSERT_TRUE(stream.Send("\x0a\xff\xff\xff\xff\x0f"));
  EXPECT_FALSE(stream.Read(answer));
  EXPECT_THAT(stream.Finish(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("PlanStreamRequest")));
}

TEST_P(RoughClientTest, ShutdownDoesNotWaitForClientsWithoutCalls) {
  if (!GetParam().socket) GTEST_SKIP() << "in one process there is no connection";
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  (root_ / "x.sock").string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  Open();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(server_->Shutdown(kLongGrace));
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLongGrace);
  close(fd);
}

}  // namespace
}  // namespace gdnplan::test
