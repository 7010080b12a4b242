#ifndef EPSLEDGER_TESTS_SERVER_TRANSPORT_TEST_SERVER_H_
#define EPSLEDGER_TESTS_SERVER_TRANSPORT_TEST_SERVER_H_

// A real server on a real socket over a ledger in memory, and the ways to call it.

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "epsledger/v1/accounting_service.grpc.pb.h"
#include "epsledger/v1/audit_service.grpc.pb.h"
#include "epsledger/v1/budget_service.grpc.pb.h"
#include "epsledger/v1/charge_service.grpc.pb.h"
#include "epsledger/v1/session_service.grpc.pb.h"
#include "google/protobuf/text_format.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "server/core/durable_ledger.h"
#include "server/storage/group_commit_ledger.h"
#include "server/transport/grpc/server.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "tests/server/storage/memory_store.h"

namespace epsledger::transport {

// Returns a message from its text form. Text that does not parse fails the test.
template <class Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// The result of a call.
template <class Response>
struct Reply {
  grpc::Status status;
  Response response;
  bool ok() const { return status.ok(); }
  grpc::StatusCode code() const { return status.error_code(); }
};

template <class Detail>
bool FindDetail(const grpc::Status& status, Detail* detail) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return false;
  for (const auto& any : details.details()) {
    if (any.UnpackTo(detail)) return true;
  }
  return false;
}

// The stubs of one channel. A call without an answer fails after 60 seconds.
class TestClient {
 public:
  explicit TestClient(std::shared_ptr<grpc::Channel> to)
      : channel(std::move(to)),
        budgets(v1::BudgetService::NewStub(channel)),
        sessions(v1::SessionService::NewStub(channel)),
        charges(v1::ChargeService::NewStub(channel)),
        accounting(v1::AccountingService::NewStub(channel)),
        audit(v1::AuditService::NewStub(channel)) {}

  // One call: Call<v1::Budget>(*client.budgets, &v1::BudgetService::Stub::GetBudget, request).
  template <class Response, class Stub, class Request>
  static Reply<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    Reply<Response> reply;
    reply.status = (stub.*method)(&context, request, &reply.response);
    return reply;
  }

  // Sends the bytes of a request to a method, given its full name,
  // "epsledger.v1.BudgetService.GetBudget".
  grpc::Status CallBytes(const std::string& method, const std::string& bytes,
                         grpc_compression_algorithm compression = GRPC_COMPRESS_NONE) const;
  // Does the same on a stream, and cancels the stream after the first answer. Returns OK and the
  // answer, or the status if the stream ended before it.
  grpc::Status StreamBytes(const std::string& method, const std::string& bytes,
                           std::string* answer) const;

  Reply<v1::Budget> CreateBudget(const std::string& id, const std::string& cap,
                                 const std::string& more = "") {
    return Call(*budgets, &v1::BudgetService::Stub::CreateBudget,
                Parse<v1::CreateBudgetRequest>("budget_id: '" + id + "' budget { cap { " + cap +
                                               " } neighboring_relation: ADD_OR_REMOVE_ONE "
                                               "privacy_unit: 'person' " +
                                               more + " }"));
  }
  // Creates a session. `session` has its fields without the relation.
  Reply<v1::Session> CreateSession(const std::string& budget, const std::string& id,
                                   const std::string& session = "mode: ADAPTIVE no_own_cap: true") {
    return Call(
        *sessions, &v1::SessionService::Stub::CreateSession,
        Parse<v1::CreateSessionRequest>("parent: 'budgets/" + budget + "' session_id: '" + id +
                                        "' session { neighboring_relation: "
                                        "ADD_OR_REMOVE_ONE " +
                                        session + " }"));
  }
  Reply<v1::Attempt> OpenAttempt(const std::string& session) {
    return Call(*sessions, &v1::SessionService::Stub::OpenAttempt,
                Parse<v1::OpenAttemptRequest>("session: '" + session + "'"));
  }
  Reply<v1::Charge> Charge(const std::string& attempt, const std::string& charge_id,
                           const std::string& event, int64_t count) {
    return Call(
        *charges, &v1::ChargeService::Stub::Charge,
        Parse<v1::ChargeRequest>("attempt: '" + attempt + "' charge_id: '" + charge_id +
                                 "' event { " + event + " } count: " + std::to_string(count)));
  }
  Reply<v1::Budget> GetBudget(const std::string& name) {
    return Call(*budgets, &v1::BudgetService::Stub::GetBudget,
                Parse<v1::GetBudgetRequest>("name: '" + name + "'"));
  }
  Reply<v1::Session> GetSession(const std::string& name) {
    return Call(*sessions, &v1::SessionService::Stub::GetSession,
                Parse<v1::GetSessionRequest>("name: '" + name + "'"));
  }

  // Creates a budget "b" with this cap, its session "s" (ADAPTIVE, no cap of its own) and one
  // attempt.
  void MakeSession(const std::string& cap) {
    ASSERT_TRUE(CreateBudget("b", cap).ok());
    ASSERT_TRUE(CreateSession("b", "s").ok());
    ASSERT_TRUE(OpenAttempt("budgets/b/sessions/s").ok());
  }

  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<v1::BudgetService::Stub> budgets;
  const std::unique_ptr<v1::SessionService::Stub> sessions;
  const std::unique_ptr<v1::ChargeService::Stub> charges;
  const std::unique_ptr<v1::AccountingService::Stub> accounting;
  const std::unique_ptr<v1::AuditService::Stub> audit;
};

// Returns a separate connection whose streams accept at most 64 KiB of unread data.
inline std::shared_ptr<grpc::Channel> NarrowChannelTo(const Server& server) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 16);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return grpc::CreateCustomChannel(server.addresses()[0], grpc::InsecureChannelCredentials(),
                                   arguments);
}

inline constexpr char kAttempt[] = "budgets/b/sessions/s/attempts/1";
inline constexpr char kOneEpsilon[] = "pure_dp { epsilon: 1 }";

inline grpc::Status TestClient::CallBytes(const std::string& method, const std::string& bytes,
                                          grpc_compression_algorithm compression) const {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  if (compression != GRPC_COMPRESS_NONE) context.set_compression_algorithm(compression);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  grpc::CompletionQueue queue;
  const size_t dot = method.rfind('.');
  auto call = stub.PrepareUnaryCall(
      &context, "/" + method.substr(0, dot) + "/" + method.substr(dot + 1), request, &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

inline grpc::Status TestClient::StreamBytes(const std::string& method, const std::string& bytes,
                                            std::string* answer) const {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  grpc::CompletionQueue queue;
  const auto succeeds = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return ok;
  };
  const size_t dot = method.rfind('.');
  auto call = stub.PrepareCall(&context, "/" + method.substr(0, dot) + "/" + method.substr(dot + 1),
                               &queue);
  call->StartCall(nullptr);
  succeeds();
  call->WriteLast(request, {}, nullptr);
  succeeds();
  call->Read(&response, nullptr);
  const bool answered = succeeds();
  if (answered) {
    grpc::Slice whole;
    if (response.DumpToSingleSlice(&whole).ok()) {
      answer->assign(reinterpret_cast<const char*>(whole.begin()), whole.size());
    }
    context.TryCancel();
  }
  call->Finish(&status, nullptr);
  succeeds();
  return answered ? grpc::Status::OK : status;
}

inline std::shared_ptr<grpc::Channel> ChannelTo(const Server& server) {
  return grpc::CreateChannel(server.addresses()[0], grpc::InsecureChannelCredentials());
}

// A server with its ledger and a client.
class TestServer {
 public:
  explicit TestServer(const ServerOptions& options = {.addresses = {"127.0.0.1:0"}})
      : ledger(*storage::GroupCommitLedger::Open(std::make_unique<storage::MemoryStore>(),
                                                 storage::GroupCommitLedger::Options())),
        server(*Server::Start(options, *ledger)),
        client(ChannelTo(*server)) {}

  const std::unique_ptr<core::DurableLedger> ledger;
  const std::unique_ptr<Server> server;
  TestClient client;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_TESTS_SERVER_TRANSPORT_TEST_SERVER_H_
