// Every method against every kind of caller. The methods come from the descriptors, so that a new
// one is held to its role the day it is added, and fails here if it has none.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "epsledger/v1/access_service.grpc.pb.h"
#include "epsledger/v1/server_service.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "server/access/access_control.h"
#include "server/access/method_roles.h"
#include "server/storage/memory_store.h"
#include "tests/server/storage/waiting_client.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using google::protobuf::MethodDescriptor;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<const MethodDescriptor*> AllMethods() {
  // The descriptors of a message keep those of its file in the program.
  const std::vector<const google::protobuf::Descriptor*> one_of_each = {
      v1::GetCallerRequest::descriptor(),   v1::ComputeRequest::descriptor(),
      v1::ListDenialsRequest::descriptor(), v1::GetBudgetRequest::descriptor(),
      v1::ChargeRequest::descriptor(),      v1::GetServerInfoRequest::descriptor(),
      v1::GetSessionRequest::descriptor()};
  std::vector<const MethodDescriptor*> methods;
  for (const auto* message : one_of_each) {
    for (int s = 0; s < message->file()->service_count(); ++s) {
      for (int m = 0; m < message->file()->service(s)->method_count(); ++m) {
        methods.push_back(message->file()->service(s)->method(m));
      }
    }
  }
  return methods;
}

// A channel of calls that show a token: the same as a test client, with metadata.
class Caller {
 public:
  Caller(std::shared_ptr<grpc::Channel> channel, std::string authorization)
      : channel_(std::move(channel)), authorization_(std::move(authorization)) {}

  // The answer to bytes; of a stream, to its first message.
  grpc::Status Call(const MethodDescriptor& method, const std::string& bytes,
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
      // A stream that goes on was let in.
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
    std::unique_ptr<google::protobuf::Message> request(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(descriptor->input_type())
            ->New());
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(request_text, request.get()))
        << request_text;
    Reply<Response> reply;
    std::string answer;
    reply.status = Call(*descriptor, request->SerializeAsString(), &answer);
    if (reply.ok()) {
      EXPECT_TRUE(reply.response.ParseFromString(answer));
    }
    return reply;
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::string authorization_;
};

class Authorisation : public ::testing::Test {
 protected:
  std::string MakeToken(const std::string& tenant, core::Role role,
                        absl::Duration life = absl::Hours(1)) {
    const absl::Time now = absl::Now();
    // Made as of then, so that it may have expired by now.
    auto made =
        access::DraftToken(core::Tenant{tenant}, role, "of a test", now + absl::Hours(1), now);
    EXPECT_TRUE(made.ok()) << made.status();
    made->token.spec.expire_time_micros = absl::ToUnixMicros(now + life);
    const auto outcome = WaitingClient(*server_.ledger)
                             .Run(core::AccessCommand{core::CreateToken{made->token.spec}});
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

  void MakeBudget(const Caller& admin, const std::string& id) {
    const auto made = admin.Call<v1::Budget>("BudgetService.CreateBudget",
                                             "budget_id: '" + id +
                                                 "' budget { cap { pure_epsilon { epsilon: 8 } } "
                                                 "neighboring_relation: ADD_OR_REMOVE_ONE "
                                                 "privacy_unit: 'person' }");
    EXPECT_TRUE(made.ok()) << made.status.error_message();
  }
  void MakeSession(const Caller& trainer, const std::string& budget) {
    const auto made = trainer.Call<v1::Session>(
        "SessionService.CreateSession",
        "parent: 'budgets/" + budget +
            "' session_id: 's' session { neighboring_relation: ADD_OR_REMOVE_ONE mode: ADAPTIVE "
            "no_own_cap: true }");
    EXPECT_TRUE(made.ok()) << made.status.error_message();
    EXPECT_TRUE(trainer
                    .Call<v1::Attempt>("SessionService.OpenAttempt",
                                       "session: 'budgets/" + budget + "/sessions/s'")
                    .ok());
  }

  TestServer server_;
  std::string last_token_id_;
};

TEST(MethodRoles, EveryMethodHasARoleAndARequestOfItsOwn) {
  std::map<std::string, std::string> method_of_request;
  for (const MethodDescriptor* method : AllMethods()) {
    EXPECT_TRUE(access::LeastRoleFor(method->full_name()).has_value())
        << method->full_name() << " is missing in server/access/method_roles.cc: it is denied";
    if (method->client_streaming()) continue;
    const auto [other, is_new] =
        method_of_request.emplace(method->input_type()->full_name(), method->full_name());
    EXPECT_TRUE(is_new) << method->full_name() << " and " << other->second
                        << " take the same request: admission could not tell them apart";
  }
  EXPECT_GT(method_of_request.size(), 40u);
}

TEST(MethodRoles, AMethodThatIsNotInTheTableIsOpenToNobody) {
  for (const char* method : {"", "epsledger.v1.BudgetService.Nothing", "BudgetService.GetBudget",
                             "epsledger.v2.BudgetService.GetBudget", "epsledger.v1."}) {
    EXPECT_FALSE(access::LeastRoleFor(method).has_value()) << method;
  }
  TestServer server;
  access::AccessControl off(*server.ledger, {});
  EXPECT_EQ(off.Admit({}, "epsledger.v1.BudgetService.Nothing").status().code(),
            absl::StatusCode::kPermissionDenied);
}

// The matrix. An empty request is enough: who may call is asked before what. A method that this
// version does not have is UNIMPLEMENTED to everybody, also to an admin.
TEST_F(Authorisation, EveryMethodAnswersEveryKindOfCallerAsItsRoleSays) {
  struct Row {
    const char* who;
    std::string authorization;
    int rank;  // 0: not known
  };
  const std::string revoked = MakeToken("acme", core::Role::kAdmin);
  const std::string revoked_id = last_token_id_;
  const std::vector<Row> rows = {
      {"no token", "", 0},
      {"not a token", "Bearer secret", 0},
      {"another scheme", "Basic YTpi", 0},
      {"a wrong token", "Bearer epsl_" + std::string(43, 'A'), 0},
      {"an expired token", MakeToken("acme", core::Role::kAdmin, -absl::Seconds(1)), 0},
      {"a revoked token", revoked, 0},
      {"a viewer", MakeToken("acme", core::Role::kViewer), 1},
      {"a trainer", MakeToken("acme", core::Role::kTrainer), 2},
      {"an admin", MakeToken("acme", core::Role::kAdmin), 3},
      {"another tenant's viewer", MakeToken("other", core::Role::kViewer), 1},
      {"another tenant's admin", MakeToken("other", core::Role::kAdmin), 3},
  };
  Revoke("acme", revoked_id);
  const std::string admin = MakeToken("acme", core::Role::kAdmin);
  int answers = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const bool exists = As(admin).Call(*method, "").error_code() != grpc::StatusCode::UNIMPLEMENTED;
    const int least = static_cast<int>(access::LeastRoleFor(method->full_name()).value());
    for (const Row& row : rows) {
      const grpc::Status status = As(row.authorization).Call(*method, "");
      const std::string label =
          absl::StrCat(method->full_name(), ", ", row.who, ": ", status.error_message());
      ++answers;
      if (!exists) {
        EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << label;
      } else if (row.rank == 0) {
        EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << label;
        EXPECT_THAT(status.error_message(), HasSubstr("authorization: Bearer SECRET")) << label;
      } else if (row.rank < least) {
        EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << label;
        EXPECT_THAT(status.error_message(), HasSubstr(method->full_name())) << label;
        EXPECT_THAT(status.error_message(), HasSubstr(access::Name(static_cast<core::Role>(least))))
            << label;
      } else {
        EXPECT_NE(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << label;
        EXPECT_NE(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << label;
      }
    }
  }
  EXPECT_GT(answers, 500);
}

TEST_F(Authorisation, AnotherTenantsResourcesDoNotExist) {
  const Caller acme = As(MakeToken("acme", core::Role::kAdmin));
  const Caller other = As(MakeToken("other", core::Role::kAdmin));
  MakeBudget(acme, "secret");
  MakeSession(acme, "secret");
  const std::string event = "event { gaussian { noise_multiplier: 100 } } count: 1";
  const std::map<std::string, std::string> requests = {
      {"BudgetService.GetBudget", "name: 'budgets/B'"},
      {"BudgetService.GetBudgetTree", "name: 'budgets/B'"},
      {"BudgetService.GetBudgetGuarantees", "name: 'budgets/B' delta: 1e-5"},
      {"BudgetService.UpdateBudget",
       "budget { name: 'budgets/B' display_name: 'x' } update_mask { paths: 'display_name' }"},
      {"BudgetService.FreezeBudget", "name: 'budgets/B' reason: 'x'"},
      {"BudgetService.ThawBudget", "name: 'budgets/B' reason: 'x'"},
      {"BudgetService.CloseBudget", "name: 'budgets/B' reason: 'x'"},
      {"BudgetService.SupersedeBudget",
       "name: 'budgets/B' successor_id: 'new' cap { pure_epsilon { epsilon: 9 } } reason: 'x'"},
      {"BudgetService.CreateBudget",
       "budget_id: 'child' budget { parent: 'budgets/B' cap { pure_epsilon { epsilon: 1 } } "
       "neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'person' }"},
      {"SessionService.CreateSession",
       "parent: 'budgets/B' session_id: 'mine' session { neighboring_relation: ADD_OR_REMOVE_ONE "
       "mode: ADAPTIVE no_own_cap: true }"},
      {"SessionService.GetSession", "name: 'budgets/B/sessions/s'"},
      {"SessionService.ListSessions", "parent: 'budgets/B'"},
      {"SessionService.OpenAttempt", "session: 'budgets/B/sessions/s'"},
      {"SessionService.GetSessionGuarantees", "name: 'budgets/B/sessions/s' delta: 1e-5"},
      {"SessionService.GetSessionHistory", "name: 'budgets/B/sessions/s'"},
      {"SessionService.CloseSession", "name: 'budgets/B/sessions/s' reason: 'x'"},
      {"ChargeService.Charge",
       "attempt: 'budgets/B/sessions/s/attempts/1' charge_id: 'c' " + event},
      {"ChargeService.BatchCharge",
       "attempt: 'budgets/B/sessions/s/attempts/1' mode: PER_ITEM items { charge_id: 'c' " + event +
           " }"},
      {"ChargeService.PreviewCharge", "session: 'budgets/B/sessions/s' " + event},
      {"ChargeService.GetCharge", "name: 'budgets/B/sessions/s/attempts/1/charges/c'"},
      {"ChargeService.ListCharges", "parent: 'budgets/B/sessions/s'"},
      {"ChargeService.SettleLease",
       "name: 'budgets/B/sessions/s/attempts/1/leases/c' used_count: 1"},
      {"AuditService.GetLedgerHead", "budget: 'budgets/B'"},
  };
  for (const auto& [method, text] : requests) {
    // clang 14 does not capture structured bindings by themselves.
    const auto of = [&, &method = method, &text = text](const Caller& caller,
                                                        const std::string& budget) {
      const grpc::Status status =
          caller
              .Call<v1::Caller>(method,
                                absl::StrReplaceAll(text, {{"budgets/B", "budgets/" + budget}}))
              .status;
      return absl::StrCat(status.error_code(), " ",
                          absl::StrReplaceAll(status.error_message(), {{budget, "B"}}));
    };
    const std::string hidden = of(other, "secret");
    EXPECT_EQ(hidden, of(other, "absent")) << method;
    EXPECT_THAT(hidden, HasSubstr("there is no such")) << method;
    EXPECT_THAT(hidden, Not(HasSubstr("acme"))) << method;
  }
  // Nothing of it reached the other tenant's budget.
  const auto budget = acme.Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/secret'");
  EXPECT_EQ(budget.response.state(), v1::Budget::ACTIVE);
  EXPECT_EQ(budget.response.accepted_charge_count(), 0);
  EXPECT_EQ(
      acme.Call<v1::ListSessionsResponse>("SessionService.ListSessions", "parent: 'budgets/secret'")
          .response.sessions_size(),
      1);
}

TEST_F(Authorisation, TenantsUseTheSameNamesApart) {
  const Caller acme = As(MakeToken("acme", core::Role::kAdmin));
  const Caller other = As(MakeToken("other", core::Role::kAdmin));
  const Caller nameless = As(MakeToken("", core::Role::kAdmin));
  for (const Caller* tenant : {&acme, &other, &nameless}) {
    MakeBudget(*tenant, "people");
    MakeSession(*tenant, "people");
  }
  const auto charged = acme.Call<v1::Charge>(
      "ChargeService.Charge",
      "attempt: 'budgets/people/sessions/s/attempts/1' charge_id: 'c' event { pure_dp { epsilon: "
      "3 } } count: 1");
  ASSERT_TRUE(charged.ok()) << charged.status.error_message();
  EXPECT_EQ(charged.response.name(), "budgets/people/sessions/s/attempts/1/charges/c");
  const auto count = [&](const Caller& tenant) {
    return tenant.Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/people'")
        .response.accepted_charge_count();
  };
  EXPECT_EQ(count(acme), 1);
  EXPECT_EQ(count(other), 0);
  EXPECT_EQ(count(nameless), 0);
  EXPECT_TRUE(acme.Call<v1::Charge>("ChargeService.GetCharge",
                                    "name: 'budgets/people/sessions/s/attempts/1/charges/c'")
                  .ok());
  EXPECT_EQ(other
                .Call<v1::Charge>("ChargeService.GetCharge",
                                  "name: 'budgets/people/sessions/s/attempts/1/charges/c'")
                .code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(Authorisation, AListHoldsTheTenantsOwnAlsoFromPageToPage) {
  const Caller acme = As(MakeToken("acme", core::Role::kAdmin));
  const Caller other = As(MakeToken("other", core::Role::kAdmin));
  for (const char* id : {"a", "c", "e"}) MakeBudget(acme, id);
  for (const char* id : {"b", "c", "d"}) MakeBudget(other, id);
  std::string token;
  std::string names;
  do {
    const auto page = acme.Call<v1::ListBudgetsResponse>(
        "BudgetService.ListBudgets", "page_size: 1 page_token: '" + token + "'");
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    for (const auto& budget : page.response.budgets()) names += budget.name() + " ";
    token = page.response.next_page_token();
  } while (!token.empty());
  EXPECT_EQ(names, "budgets/a budgets/c budgets/e ");
}

TEST_F(Authorisation, ATokenLivesFromItsMakingToItsRevocation) {
  const Caller admin = As(MakeToken("acme", core::Role::kAdmin));
  const std::string seconds = absl::StrCat(absl::ToUnixSeconds(absl::Now()) + 3600);
  const auto made = admin.Call<v1::CreateTokenResponse>(
      "AccessService.CreateToken",
      "token { role: VIEWER description: 'dashboard' expire_time { seconds: " + seconds + " } }");
  ASSERT_TRUE(made.ok()) << made.status.error_message();
  EXPECT_EQ(made.response.secret().size(), 48u);
  EXPECT_EQ(made.response.token().tenant(), "acme");
  EXPECT_EQ(made.response.token().state(), v1::Token::ACTIVE);
  const Caller viewer = As("Bearer " + made.response.secret());
  const auto caller = viewer.Call<v1::Caller>("AccessService.GetCaller", "");
  ASSERT_TRUE(caller.ok()) << caller.status.error_message();
  EXPECT_EQ(caller.response.tenant(), "acme");
  EXPECT_EQ(caller.response.role(), v1::Role::VIEWER);
  EXPECT_EQ(caller.response.principal(), made.response.token().name());
  const std::string name = "name: '" + made.response.token().name() + "'";

  const Caller other = As(MakeToken("other", core::Role::kAdmin));
  EXPECT_EQ(other.Call<v1::Token>("AccessService.RevokeToken", name).code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(viewer.Call<v1::Caller>("AccessService.GetCaller", "").ok());

  for (int twice = 0; twice < 2; ++twice) {
    const auto revoked = admin.Call<v1::Token>("AccessService.RevokeToken", name);
    ASSERT_TRUE(revoked.ok()) << revoked.status.error_message();
    EXPECT_EQ(revoked.response.state(), v1::Token::REVOKED);
    const auto after = viewer.Call<v1::Caller>("AccessService.GetCaller", "");
    EXPECT_EQ(after.code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_THAT(after.status.error_message(), HasSubstr("was revoked"));
  }
  const auto list = admin.Call<v1::ListTokensResponse>("AccessService.ListTokens", "");
  EXPECT_EQ(list.response.tokens_size(), 2);
  EXPECT_THAT(list.response.ShortDebugString(), Not(HasSubstr("other")));
}

TEST_F(Authorisation, TheFirstTokenTurnsAccessControlOnAndRevokingItDoesNotTurnItOff) {
  const Caller nobody = As("");
  const auto anybody = nobody.Call<v1::Caller>("AccessService.GetCaller", "");
  ASSERT_TRUE(anybody.ok());
  EXPECT_EQ(anybody.response.role(), v1::Role::ADMIN);
  EXPECT_EQ(anybody.response.principal(), "anybody on this machine");
  MakeToken("acme", core::Role::kAdmin);
  EXPECT_EQ(nobody.Call<v1::Caller>("AccessService.GetCaller", "").code(),
            grpc::StatusCode::UNAUTHENTICATED);
  Revoke("acme", last_token_id_);
  EXPECT_EQ(nobody.Call<v1::Caller>("AccessService.GetCaller", "").code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(Authorisation, AWrongTokenIsWrongAlsoWhereNobodyNeedsOne) {
  EXPECT_EQ(As("Bearer epsl_" + std::string(43, 'x'))
                .Call<v1::Caller>("AccessService.GetCaller", "")
                .code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(Authorisation, DenialsAreCountedForTheTenantsAdmins) {
  const Caller admin = As(MakeToken("acme", core::Role::kAdmin));
  const Caller viewer = As(MakeToken("acme", core::Role::kViewer));
  const std::string viewer_name = "tokens/" + last_token_id_;
  const Caller nameless = As(MakeToken("", core::Role::kAdmin));
  for (int i = 0; i < 3; ++i) {
    viewer.Call<v1::Token>("AccessService.ListTokens", "");
    As("").Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/b'");
  }
  // Some may have been recorded by now and others not: the sum is exact either way.
  const auto sum = [](const Caller& caller) {
    std::map<std::string, int64_t> counts;
    std::string token;
    do {
      const auto page = caller.Call<v1::ListDenialsResponse>(
          "AuditService.ListDenials", "page_size: 2 page_token: '" + token + "'");
      EXPECT_TRUE(page.ok()) << page.status.error_message();
      for (const auto& denial : page.response.denials()) {
        counts[absl::StrCat(denial.principal(), "|", denial.method(), "|", denial.reason())] +=
            denial.count();
      }
      token = page.response.next_page_token();
    } while (!token.empty());
    return counts;
  };
  EXPECT_THAT(sum(admin),
              ::testing::ElementsAre(::testing::Pair(
                  viewer_name + "|epsledger.v1.AccessService.ListTokens|ROLE_TOO_SMALL", 3)));
  EXPECT_THAT(sum(nameless),
              ::testing::ElementsAre(::testing::Pair(
                  "a peer on this machine|epsledger.v1.BudgetService.GetBudget|NO_CREDENTIAL", 3)));
  EXPECT_EQ(viewer.Call<v1::ListDenialsResponse>("AuditService.ListDenials", "").code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST(AccessOptions, AnAddressThatOthersCanReachWantsATokenFromTheStart) {
  auto ledger = *storage::GroupCommitLedger::Open(std::make_unique<storage::MemoryStore>(), {});
  const auto code_of = [&](ServerOptions options) {
    auto server = Server::Start(options, *ledger);
    EXPECT_TRUE(server.ok()) << server.status();
    std::string address = (*server)->addresses()[0];
    const auto port = address.substr(address.rfind(':'));
    return Caller(grpc::CreateChannel("127.0.0.1" + port, grpc::InsecureChannelCredentials()), "")
        .Call<v1::Caller>("AccessService.GetCaller", "")
        .code();
  };
  EXPECT_EQ(code_of({.addresses = {"127.0.0.1:0"}}), grpc::StatusCode::OK);
  EXPECT_EQ(code_of({.addresses = {"127.0.0.1:0"}, .require_tokens = true}),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code_of({.addresses = {"0.0.0.0:0"}, .insecure_plaintext = true}),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code_of({.addresses = {"0.0.0.0:0"},
                     .insecure_plaintext = true,
                     .insecure_no_access_control = true}),
            grpc::StatusCode::OK);
  EXPECT_EQ(Server::Start({.addresses = {"127.0.0.1:0"},
                           .require_tokens = true,
                           .insecure_no_access_control = true},
                          *ledger)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::transport
