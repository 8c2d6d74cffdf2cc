// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What clients read of an error beside its text.
#include "server/rpc/error_details.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/server/service_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {
namespace {

using google::rpc::BadRequest;
using google::rpc::RetryInfo;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

google::rpc::Status Parse(const std::string& bytes) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(bytes));
  return details;
}

template <typename Detail>
std::optional<Detail> Find(const google::rpc::Status& details) {
  for (const google::protobuf::Any& any : details.details()) {
    Detail detail;
    if (any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

TEST(ErrorDetailsTest, NamesTheField) {
  const grpc::Status status =
      server::ToRpcStatus(plan::InvalidElement("seq_lens", 3, "must be at least 1 (got -2)"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "seq_lens[3]: must be at least 1 (got -2)");
  const google::rpc::Status details = Parse(status.error_details());
  EXPECT_EQ(details.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(details.message(), status.error_message());
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.BadRequest");
  const auto bad = Find<BadRequest>(details);
  ASSERT_TRUE(bad.has_value());
  ASSERT_EQ(bad->field_violations_size(), 1);
  EXPECT_EQ(bad->field_violations(0).field(), "seq_lens[3]");
  EXPECT_EQ(bad->field_violations(0).description(), "must be at least 1 (got -2)");
}

TEST(ErrorDetailsTest, SaysWhenToAskAgain) {
  const grpc::Status status = server::ToRpcStatus(
      plan::RetryAfter(absl::ResourceExhaustedError("busy"), milliseconds(1250)));
  const auto retry = Find<RetryInfo>(Parse(status.error_details()));
  ASSERT_TRUE(retry.has_value());
  EXPECT_EQ(retry->retry_delay().seconds(), 1);
  EXPECT_EQ(retry->retry_delay().nanos(), 250'000'000);
}

TEST(ErrorDetailsTest, OthersHaveNone) {
  EXPECT_TRUE(server::ToRpcStatus(absl::OkStatus()).ok());
  const grpc::Status status = server::ToRpcStatus(absl::InvalidArgumentError("no field"));
  EXPECT_EQ(status.error_message(), "no field");
  EXPECT_THAT(status.error_details(), IsEmpty());
}

// A server on a socket, and the trailers that a client of it sees.
class ErrorDetailsLiveTest : public ::testing::Test {
 protected:
  ErrorDetailsLiveTest() {
    server::ServerOptions options;
    options.listen = {"unix:" + (root_ / "x.sock").string()};
    server_ = StartHosts(1, options);
    stub_ = v1::Planner::NewStub(
        grpc::CreateChannel(server_->addresses()[0], grpc::InsecureChannelCredentials()));
  }

  struct Answer {
    grpc::Status status;
    std::optional<google::rpc::Status> details;
  };
  static Answer Read(const grpc::ClientContext& context, grpc::Status status) {
    Answer answer{std::move(status), std::nullopt};
    const auto& trailers = context.GetServerTrailingMetadata();
    const auto found = trailers.find("grpc-status-details-bin");
    if (found != trailers.end()) {
      answer.details = Parse({found->second.data(), found->second.size()});
    }
    return answer;
  }
  template <typename Request, typename Response>
  Answer Call(Method<Request, Response> method, const Request& request,
              Response* response = nullptr) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    Response ignored;
    const grpc::Status status =
        ((*stub_).*method)(&context, request, response == nullptr ? &ignored : response);
    return Read(context, status);
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path root_{directory_.path()};
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<v1::Planner::Stub> stub_;
};

TEST_F(ErrorDetailsLiveTest, ARefusedFieldIsInTheTrailer) {
  v1::OpenSessionRequest request = SampleRequest();
  request.mutable_config()->set_max_num_seqs(-5);
  const Answer answer = Call(&v1::Planner::Stub::OpenSession, request);
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(answer.details.has_value());
  const auto bad = Find<BadRequest>(*answer.details);
  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(bad->field_violations(0).field(), "max_num_seqs");
  EXPECT_EQ(bad->field_violations(0).description(), "must be in 1..65536 (got -5)");
  EXPECT_FALSE(Find<RetryInfo>(*answer.details).has_value());
}

// Text from the request is cut anywhere, and must still be text.
TEST_F(ErrorDetailsLiveTest, ALongNameStaysReadable) {
  v1::OpenSessionRequest request = SampleRequest();
  request.add_devices(absl::StrCat(std::string(63, 'x'), "\u00e9"));
  const Answer answer = Call(&v1::Planner::Stub::OpenSession, request);
  ASSERT_TRUE(answer.details.has_value());
  const auto bad = Find<BadRequest>(*answer.details);
  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(bad->field_violations(0).field(), "devices[0]");
  EXPECT_THAT(bad->field_violations(0).description(), HasSubstr("x\\xc3)"));
}

TEST_F(ErrorDetailsLiveTest, ABusySlotSaysHowLongToWait) {
  v1::OpenSessionRequest open = SampleRequest();
  open.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  open.set_slot_wait_ms(5);
  v1::OpenSessionResponse opened;
  ASSERT_TRUE(Call(&v1::Planner::Stub::OpenSession, open, &opened).status.ok());
  v1::PlanRequest request;
  request.set_session_id(opened.session().session_id());
  Fill(SampleBatch(), *request.mutable_batch());
  const Answer first = Call(&v1::Planner::Stub::Plan, request);
  EXPECT_TRUE(first.status.ok());
  EXPECT_FALSE(first.details.has_value());
  const Answer second = Call(&v1::Planner::Stub::Plan, request);
  EXPECT_EQ(second.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(second.details.has_value());
  const auto retry = Find<RetryInfo>(*second.details);
  ASSERT_TRUE(retry.has_value());
  EXPECT_EQ(retry->retry_delay().nanos(), 5'000'000);
}

TEST_F(ErrorDetailsLiveTest, ADrainingServerSaysWhenToComeBack) {
  server_->registry().StopOpening();
  const Answer refused = Call(&v1::Planner::Stub::OpenSession, SampleRequest());
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  ASSERT_TRUE(refused.details.has_value());
  EXPECT_EQ(Find<RetryInfo>(*refused.details).value().retry_delay().seconds(), 1);
}

TEST_F(ErrorDetailsLiveTest, AWatchOfAServerThatEndsIsTold) {
  v1::OpenSessionResponse opened;
  ASSERT_TRUE(Call(&v1::Planner::Stub::OpenSession, SampleRequest(), &opened).status.ok());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  v1::WatchPlansRequest request;
  request.set_session_id(opened.session().session_id());
  const auto watch = stub_->WatchPlans(&context, request);
  v1::WatchPlansResponse response;
  ASSERT_TRUE(watch->Read(&response));
  server_->registry().CloseAll();
  EXPECT_FALSE(watch->Read(&response));
  const Answer answer = Read(context, watch->Finish());
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  ASSERT_TRUE(answer.details.has_value());
  EXPECT_TRUE(Find<RetryInfo>(*answer.details).has_value());
}

}  // namespace
}  // namespace gdnplan::test
