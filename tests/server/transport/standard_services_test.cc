// Health and reflection, as any gRPC client asks for them.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "gtest/gtest.h"
#include "server/transport/grpc/standard/health_service.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using ::testing::Contains;
using ::testing::UnorderedElementsAre;

// A stream to a method without a stub, which fails after 60 seconds.
class ByteStream {
 public:
  ByteStream(TestClient& client, const std::string& path) : stub_(client.channel) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    call_ = stub_.PrepareCall(&context_, path, &queue_);
    call_->StartCall(nullptr);
    Succeeds();
  }

  void Write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    call_->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    EXPECT_TRUE(Succeeds());
  }
  void HalfClose() {
    call_->WritesDone(nullptr);
    Succeeds();
  }
  template <class Message>
  bool Read(Message* message) {
    grpc::ByteBuffer bytes;
    call_->Read(&bytes, nullptr);
    if (!Succeeds()) return false;
    grpc::Slice whole;
    EXPECT_TRUE(bytes.DumpToSingleSlice(&whole).ok());
    return message->ParseFromArray(whole.begin(), static_cast<int>(whole.size()));
  }
  grpc::Status End() {
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Succeeds();
    return status;
  }
  void Cancel() { context_.TryCancel(); }

 private:
  bool Succeeds() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    return ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

// What a watch of health tells.
class HealthWatch {
 public:
  HealthWatch(TestClient& client, const std::string& service)
      : stream_(client, "/grpc.health.v1.Health/Watch") {
    HealthCheckRequest request;
    request.set_service(service);
    stream_.Write(request.SerializeAsString());
    stream_.HalfClose();
  }
  HealthCheckResponse::ServingStatus Next() {
    HealthCheckResponse response;
    EXPECT_TRUE(stream_.Read(&response));
    return response.status();
  }
  ByteStream& stream() { return stream_; }

 private:
  ByteStream stream_;
};

TEST(Health, AWatchTellsEveryoneOfAChangeAndOfTheEnd) {
  TestServer server;
  HealthWatch whole(server.client, "");
  HealthWatch charges(server.client, "epsledger.v1.ChargeService");
  HealthWatch unknown(server.client, "epsledger.v1.NoService");
  EXPECT_EQ(whole.Next(), HealthCheckResponse::SERVING);
  EXPECT_EQ(charges.Next(), HealthCheckResponse::SERVING);
  EXPECT_EQ(unknown.Next(), HealthCheckResponse::SERVICE_UNKNOWN);
  // One that its client leaves is no burden to the others.
  {
    HealthWatch left(server.client, "");
    EXPECT_EQ(left.Next(), HealthCheckResponse::SERVING);
    left.stream().Cancel();
    EXPECT_EQ(left.stream().End().error_code(), grpc::StatusCode::CANCELLED);
  }
  server.server->Drain(absl::ZeroDuration());
  EXPECT_EQ(whole.Next(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(charges.Next(), HealthCheckResponse::NOT_SERVING);
}

TEST(Health, AWatchOfNonsenseIsRefused) {
  TestServer server;
  ByteStream stream(server.client, "/grpc.health.v1.Health/Watch");
  stream.Write("\xff");
  HealthCheckResponse response;
  EXPECT_FALSE(stream.Read(&response));
  EXPECT_EQ(stream.End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// A client that takes an answer whenever it is told to.
class SlowClient final : public wire::StreamClient {
 public:
  explicit SlowClient(std::vector<std::string>& answers) : answers_(answers) {}
  void AskForRequest() override {}
  void Answer(std::string message, bool) override { answers_.push_back(std::move(message)); }
  void Wake() override {}
  void End(const grpc::Status&) override {}

 private:
  std::vector<std::string>& answers_;
};

TEST(Health, AWatchSkipsWhatChangedWhileItsClientTookNothing) {
  auto health = std::make_shared<HealthService>(std::vector<std::string>{});
  ServiceMethods methods;
  HealthService::AddTo(methods, health);
  std::vector<std::string> answers;
  const auto watch = methods.FindStream("grpc.health.v1.Health.Watch")(
      wire::StreamRequest{.client = std::make_unique<SlowClient>(answers)});
  const auto told = [&answers] {
    std::vector<HealthCheckResponse::ServingStatus> statuses;
    for (const std::string& bytes : answers) {
      HealthCheckResponse response;
      EXPECT_TRUE(response.ParseFromString(bytes));
      statuses.push_back(response.status());
    }
    return statuses;
  };
  EXPECT_THAT(told(), ::testing::ElementsAre(HealthCheckResponse::NOT_SERVING));
  for (int i = 0; i < 1000; ++i) health->SetServing(i % 2 == 0);
  health->SetServing(true);
  watch->OnAnswerTaken();
  EXPECT_THAT(told(), ::testing::ElementsAre(HealthCheckResponse::NOT_SERVING,
                                             HealthCheckResponse::SERVING));
  watch->OnAnswerTaken();
  EXPECT_EQ(answers.size(), 2);
  watch->OnGone();
  health->SetServing(false);
  EXPECT_EQ(answers.size(), 2);
}

class Reflection : public ::testing::TestWithParam<const char*> {
 protected:
  Reflection() : stream_(server_.client, std::string("/") + GetParam() + "/ServerReflectionInfo") {}

  ServerReflectionResponse Ask(const std::string& text) {
    ServerReflectionResponse response;
    const auto request = Parse<ServerReflectionRequest>(text);
    stream_.Write(request.SerializeAsString());
    EXPECT_TRUE(stream_.Read(&response));
    EXPECT_EQ(response.original_request().SerializeAsString(), request.SerializeAsString());
    return response;
  }

  TestServer server_;
  ByteStream stream_;
};

TEST_P(Reflection, ListsEveryServiceOnce) {
  std::vector<std::string> names;
  const ServerReflectionResponse response = Ask("list_services: '*'");
  for (const auto& service : response.list_services_response().service()) {
    names.push_back(service.name());
  }
  EXPECT_THAT(names,
              UnorderedElementsAre("epsledger.v1.AccessService", "epsledger.v1.AccountingService",
                                   "epsledger.v1.AuditService", "epsledger.v1.BudgetService",
                                   "epsledger.v1.ChargeService", "epsledger.v1.ProposalService",
                                   "epsledger.v1.ServerService", "epsledger.v1.SessionService",
                                   "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"));
}

TEST_P(Reflection, GivesFilesFromWhichAClientBuildsTheService) {
  const std::string file_name =
      v1::ChargeRequest::descriptor()->file()->name();  // of messages that the service imports
  std::vector<ServerReflectionResponse> answers = {
      Ask("file_containing_symbol: 'epsledger.v1.ChargeService'"),
      Ask("file_containing_symbol: 'epsledger.v1.ChargeService.Charge'"),
      Ask("host: 'h' file_by_filename: 'epsledger/v1/charge_service.proto'")};
  EXPECT_EQ(answers[2].valid_host(), "h");
  for (const ServerReflectionResponse& answer : answers) {
    google::protobuf::DescriptorPool pool;
    std::set<std::string> files;
    for (const std::string& bytes : answer.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      ASSERT_TRUE(file.ParseFromString(bytes));
      ASSERT_NE(pool.BuildFile(file), nullptr) << file.name() << " comes before what it imports";
      EXPECT_TRUE(files.insert(file.name()).second) << file.name();
    }
    EXPECT_THAT(files, Contains(file_name));
    const auto* method = pool.FindMethodByName("epsledger.v1.ChargeService.StreamCharges");
    ASSERT_NE(method, nullptr);
    EXPECT_TRUE(method->client_streaming() && method->server_streaming());
    EXPECT_EQ(method->input_type()->full_name(), "epsledger.v1.ChargeRequest");
  }
}

TEST_P(Reflection, SaysWhatThereIsNotAndGoesOn) {
  for (const char* absent :
       {"file_containing_symbol: 'epsledger.v1.NoService'", "file_by_filename: 'no.proto'",
        "file_containing_extension { containing_type: 'epsledger.v1.Budget' extension_number: 1 }",
        "all_extension_numbers_of_type: 'epsledger.v1.NoMessage'"}) {
    EXPECT_EQ(Ask(absent).error_response().error_code(), grpc::StatusCode::NOT_FOUND) << absent;
  }
  EXPECT_EQ(Ask("").error_response().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto numbers = Ask("all_extension_numbers_of_type: 'epsledger.v1.Budget'");
  EXPECT_EQ(numbers.all_extension_numbers_response().base_type_name(), "epsledger.v1.Budget");
  EXPECT_EQ(numbers.all_extension_numbers_response().extension_number_size(), 0);
  stream_.HalfClose();
  ServerReflectionResponse none;
  EXPECT_FALSE(stream_.Read(&none));
  EXPECT_TRUE(stream_.End().ok());
}

TEST_P(Reflection, OfNonsenseIsRefused) {
  stream_.Write("\xff");
  ServerReflectionResponse none;
  EXPECT_FALSE(stream_.Read(&none));
  EXPECT_EQ(stream_.End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Versions, Reflection,
                         ::testing::Values("grpc.reflection.v1.ServerReflection",
                                           "grpc.reflection.v1alpha.ServerReflection"),
                         [](const auto& version) { return version.index == 0 ? "V1" : "V1Alpha"; });

}  // namespace
}  // namespace epsledger::transport
