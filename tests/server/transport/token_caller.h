#ifndef EPSLEDGER_TESTS_SERVER_TRANSPORT_TOKEN_CALLER_H_
#define EPSLEDGER_TESTS_SERVER_TRANSPORT_TOKEN_CALLER_H_

// Callers with tokens, and a server that they call.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "epsledger/v1/access_service.pb.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "server/access/access_control.h"
#include "server/core/grant.h"
#include "tests/server/storage/waiting_client.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {

inline std::string RequestFromText(const google::protobuf::MethodDescriptor& method,
                                   const std::string& text) {
  std::unique_ptr<google::protobuf::Message> request(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(method.input_type())
          ->New());
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, request.get())) << text;
  return request->SerializeAsString();
}

// Makes calls with a token: like a test client, but with metadata.
class Caller {
 public:
  Caller(std::shared_ptr<grpc::Channel> channel, std::string authorization)
      : channel_(std::move(channel)), authorization_(std::move(authorization)) {}

  // Returns the answer to the bytes of a request; for a stream, its first answer.
  grpc::Status Call(const google::protobuf::MethodDescriptor& method, const std::string& bytes,
                    std::string* answer = nullptr) const {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    if (!authorization_.empty()) context.AddMetadata("authorization", authorization_);
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::CompletionQueue queue;
    const auto wait = [&] {
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      return ok;
    };
    const std::string path = absl::StrCat("/", method.service()->full_name(), "/", method.name());
    auto stream = stub.PrepareCall(&context, path, &queue);
    stream->StartCall(nullptr);
    wait();
    stream->Write(request, nullptr);
    if (wait()) {
      stream->WritesDone(nullptr);
      wait();
    }
    grpc::ByteBuffer response;
    stream->Read(&response, nullptr);
    if (wait()) {
      std::vector<grpc::Slice> slices;
      if (response.Dump(&slices).ok() && answer != nullptr) {
        answer->clear();
        for (const grpc::Slice& s : slices) {
          answer->append(reinterpret_cast<const char*>(s.begin()), s.size());
        }
      }
      // A stream that stays open was admitted.
      if (method.server_streaming()) context.TryCancel();
    }
    grpc::Status status;
    stream->Finish(&status, nullptr);
    wait();
    return status;
  }

  template <class Response>
  Reply<Response> Call(const std::string& method, const std::string& request_text) const {
    const auto* descriptor = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
        "epsledger.v1." + method);
    Reply<Response> reply;
    std::string answer;
    reply.status = Call(*descriptor, RequestFromText(*descriptor, request_text), &answer);
    if (reply.ok()) {
      EXPECT_TRUE(reply.response.ParseFromString(answer));
    }
    return reply;
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::string authorization_;
};

class TokenServer : public ::testing::Test {
 protected:
  TokenServer() = default;
  explicit TokenServer(const ServerOptions& options) : server_(options) {}

  std::string MakeToken(const std::string& tenant, core::Role role,
                        absl::Duration life = absl::Hours(1),
                        const std::vector<core::Grant>& grants = {}) {
    const absl::Time now = absl::Now();
    // Created with that time, so that the token may have expired by now.
    auto made = access::DraftToken(core::Tenant{tenant}, role, "of a test", now + absl::Hours(1),
                                   now, grants);
    EXPECT_TRUE(made.ok()) << made.status();
    made->token.spec.expire_time_micros = absl::ToUnixMicros(now + life);
    const auto outcome = WaitingClient(*server_.ledger)
                             .Run(core::AccessCommand{core::CreateToken{
                                 .spec = made->token.spec, .grants = made->token.grants}});
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    last_token_id_ = made->token.spec.id;
    return "Bearer " + made->secret;
  }
  void Revoke(const std::string& tenant, const std::string& id) {
    EXPECT_TRUE(WaitingClient(*server_.ledger)
                    .Run(core::AccessCommand{core::RevokeToken{{tenant}, id}})
                    .ok());
  }
  Caller As(const std::string& authorization) {
    return Caller(ChannelTo(*server_.server), authorization);
  }

  void MakeBudget(const Caller& admin, const std::string& id, const std::string& parent = "",
                  const std::string& cap = "pure_epsilon { epsilon: 8 }") {
    const auto made = admin.Call<v1::Budget>(
        "BudgetService.CreateBudget",
        absl::StrCat("budget_id: '", id, "' budget { cap { ", cap,
                     " } neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'person' ",
                     parent.empty() ? "" : "parent: 'budgets/" + parent + "'", " }"));
    EXPECT_TRUE(made.ok()) << made.status.error_message();
  }
  void MakeSession(const Caller& trainer, const std::string& budget, const std::string& id = "s") {
    const auto made = trainer.Call<v1::Session>(
        "SessionService.CreateSession",
        "parent: 'budgets/" + budget + "' session_id: '" + id +
            "' session { neighboring_relation: ADD_OR_REMOVE_ONE mode: ADAPTIVE "
            "no_own_cap: true }");
    EXPECT_TRUE(made.ok()) << made.status.error_message();
    EXPECT_TRUE(trainer
                    .Call<v1::Attempt>("SessionService.OpenAttempt",
                                       "session: 'budgets/" + budget + "/sessions/" + id + "'")
                    .ok());
  }

  TestServer server_;
  std::string last_token_id_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_TESTS_SERVER_TRANSPORT_TOKEN_CALLER_H_
