// Every method against every kind of caller. The methods come from the descriptors, so that a new
// one is held to its role the day it is added, and fails here if it has none.

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
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
#include "server/access/method_rules.h"
#include "tests/server/storage/memory_store.h"
#include "tests/server/transport/good_requests.h"
#include "tests/server/transport/test_server.h"
#include "tests/server/transport/token_caller.h"

namespace epsledger::transport {
namespace {

using google::protobuf::MethodDescriptor;
using ::testing::HasSubstr;
using ::testing::Not;

class Authorisation : public TokenServer {};

TEST(MethodRules, EveryServiceOfTheSchemaIsAmongTheMethods) {
  std::vector<std::string> walked;
  for (const google::protobuf::FileDescriptor* file : ServiceFiles()) {
    walked.push_back(std::filesystem::path(file->name()).filename());
  }
  std::vector<std::string> files;
  for (const auto& file :
       std::filesystem::directory_iterator(EPSLEDGER_SOURCE_DIR "/proto/epsledger/v1")) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("service ", 0) == 0) files.push_back(file.path().filename());
    }
  }
  EXPECT_THAT(files, ::testing::UnorderedElementsAreArray(walked));
}

TEST(MethodRules, EveryMethodHasARoleAndARequestOfItsOwn) {
  std::map<std::string, std::string> method_of_request;
  for (const MethodDescriptor* method : AllMethods()) {
    EXPECT_TRUE(access::FindMethodRule(method->full_name()) != nullptr)
        << method->full_name() << " is missing in server/access/method_rules.cc: it is denied";
    if (method->client_streaming()) continue;
    const auto [other, is_new] =
        method_of_request.emplace(method->input_type()->full_name(), method->full_name());
    EXPECT_TRUE(is_new) << method->full_name() << " and " << other->second
                        << " take the same request: admission could not tell them apart";
  }
  EXPECT_GT(method_of_request.size(), 40u);
}

TEST(MethodRules, AMethodThatIsNotInTheTableIsOpenToNobody) {
  for (const char* method : {"", "epsledger.v1.BudgetService.Nothing", "BudgetService.GetBudget",
                             "epsledger.v2.BudgetService.GetBudget", "epsledger.v1."}) {
    EXPECT_EQ(access::FindMethodRule(method), nullptr) << method;
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
    const int least = static_cast<int>(access::FindMethodRule(method->full_name())->least);
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

// Every method that names a resource, asked for another tenant's and for one that nobody has: the
// same answer to the byte, but for the name.
TEST_F(Authorisation, AnotherTenantsResourcesDoNotExist) {
  const Caller acme = As(MakeToken("acme", core::Role::kAdmin));
  const Caller other = As(MakeToken("other", core::Role::kAdmin));
  for (const char* budget : {"b", "spare"}) {
    MakeBudget(acme, budget);
    MakeSession(acme, budget);
  }
  const auto heads = [&] {
    std::string all;
    for (const char* budget : {"b", "spare"}) {
      all += acme.Call<v1::LedgerHead>("AuditService.GetLedgerHead",
                                       absl::StrCat("budget: 'budgets/", budget, "'"))
                 .response.SerializeAsString();
    }
    return all;
  };
  const std::string before = heads();
  int methods = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const auto good = GoodRequests().find(ShortName(*method));
    if (good == GoodRequests().end() || !absl::StrContains(good->second, "budgets/")) continue;
    const auto answer = [&](const std::string& text) {
      std::string first;
      grpc::Status status = other.Call(*method, RequestFromText(*method, text), &first);
      v1::ChargeResult result;  // of a stream of charges: each has its own error
      if (method->client_streaming() && result.ParseFromString(first) && result.has_error()) {
        status = grpc::Status(static_cast<grpc::StatusCode>(result.error().code()),
                              result.error().message(), result.error().SerializeAsString());
      }
      return absl::StrCat(status.error_code(), " ", status.error_message(), " ",
                          status.error_details());
    };
    const std::string hidden = answer(good->second);
    const std::string absent = answer(absl::StrReplaceAll(
        good->second, {{"budgets/b", "budgets/q"}, {"budgets/spare", "budgets/quiet"}}));
    EXPECT_EQ(hidden, absl::StrReplaceAll(
                          absent, {{"budgets/quiet", "budgets/spare"}, {"budgets/q", "budgets/b"}}))
        << ShortName(*method);
    EXPECT_THAT(hidden, HasSubstr("there is no such")) << ShortName(*method);
    EXPECT_THAT(hidden, Not(HasSubstr("acme"))) << ShortName(*method);
    ++methods;
  }
  EXPECT_GT(methods, 30);
  EXPECT_EQ(heads(), before);
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
