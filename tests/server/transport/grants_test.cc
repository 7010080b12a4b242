// Tokens that are limited to parts of a tenant: every method, inside and outside of what is
// granted.

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/method_rules.h"
#include "server/core/limits.h"
#include "tests/server/transport/good_requests.h"
#include "tests/server/transport/test_server.h"
#include "tests/server/transport/token_caller.h"

namespace epsledger::transport {
namespace {

using access::Subject;
using google::protobuf::MethodDescriptor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOutside[] = "there is nothing of that name in what this caller is limited to";

class Grants : public TokenServer {
 protected:
  Caller Limited(std::vector<core::Grant> grants, core::Role role = core::Role::kAdmin) {
    return As(MakeToken("acme", role, absl::Hours(1), grants));
  }
  // What a method answers to a request; of a stream of charges, its first result.
  static grpc::Status Answer(const Caller& caller, const MethodDescriptor& method,
                             const std::string& text) {
    std::string first;
    grpc::Status status = caller.Call(method, RequestFromText(method, text), &first);
    // A stream that goes on was let in.
    if (status.error_code() == grpc::StatusCode::CANCELLED && !first.empty()) {
      status = grpc::Status::OK;
    }
    v1::ChargeResult result;
    if (method.client_streaming() && result.ParseFromString(first) && result.has_error()) {
      status = grpc::Status(static_cast<grpc::StatusCode>(result.error().code()),
                            result.error().message(), result.error().SerializeAsString());
    }
    return status;
  }
  static std::string TextOf(const grpc::Status& status) {
    return absl::StrCat(status.error_code(), " ", status.error_message(), " ",
                        status.error_details());
  }
  // Two roots as the good requests want them.
  void MakeRoots(const std::string& first, const std::string& second) {
    for (const std::string& root : {first, second}) {
      MakeBudget(admin_, root, "", "zcdp { rho: 100 }");
      MakeSession(admin_, root);
    }
    MakeSession(admin_, first, "other");
    EXPECT_TRUE(admin_
                    .Call<v1::Proposal>("ProposalService.CreateProposal",
                                        absl::StrCat("parent: 'budgets/", second,
                                                     "' proposal_id: 'q' proposal { reason: 'x' "
                                                     "set_approval_policy { guarded: THAW } }"))
                    .ok());
  }
  std::string HeadsOf(const std::vector<std::string>& budgets) {
    std::string all;
    for (const std::string& budget : budgets) {
      all += admin_
                 .Call<v1::LedgerHead>("AuditService.GetLedgerHead",
                                       absl::StrCat("budget: 'budgets/", budget, "'"))
                 .response.SerializeAsString();
    }
    return all;
  }
  grpc::StatusCode CodeOfGet(const Caller& caller, const std::string& budget) {
    return caller.Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/" + budget + "'")
        .code();
  }

  const Caller admin_ = As(MakeToken("acme", core::Role::kAdmin));
};

// The matrix: each method, asked for what is granted, for what is not, and for what is not there.
TEST_F(Grants, EveryMethodFindsWhatIsGrantedAndNothingElse) {
  MakeRoots("b", "spare");
  MakeRoots("c", "d");
  const Caller limited = Limited({{"b", "", {}}, {"spare", "", {}}});
  const std::string before = HeadsOf({"c", "d"});
  std::map<Subject, int> methods;
  for (const MethodDescriptor* method : AllMethods()) {
    const access::MethodRule& rule = *access::FindMethodRule(method->full_name());
    ++methods[rule.subject];
    // The proposal here comes after an attempt more than there.
    const std::string good = absl::StrReplaceAll(GoodRequests().at(ShortName(*method)),
                                                 {{"'x' sequence: 3", "'x' sequence: 4"}});
    const grpc::Status inside = Answer(limited, *method, good);
    if (rule.subject == Subject::kTenant) {
      EXPECT_EQ(inside.error_code(), grpc::StatusCode::PERMISSION_DENIED) << ShortName(*method);
      EXPECT_THAT(inside.error_message(), HasSubstr("whole tenant")) << ShortName(*method);
      continue;
    }
    // Nobody signed the statement of the good request.
    const auto want = ShortName(*method) == "AuditService.RecordSignOff"
                          ? grpc::StatusCode::INVALID_ARGUMENT
                          : grpc::StatusCode::OK;
    EXPECT_EQ(inside.error_code(), want) << ShortName(*method) << ": " << inside.error_message();
    if (!absl::StrContains(good, "budgets/")) continue;
    const std::string outside = TextOf(Answer(
        limited, *method,
        absl::StrReplaceAll(good, {{"budgets/b", "budgets/c"}, {"budgets/spare", "budgets/d"}})));
    const std::string absent = TextOf(Answer(
        limited, *method,
        absl::StrReplaceAll(good, {{"budgets/b", "budgets/q"}, {"budgets/spare", "budgets/r"}})));
    EXPECT_EQ(outside,
              absl::StrReplaceAll(absent, {{"budgets/q", "budgets/c"}, {"budgets/r", "budgets/d"}}))
        << ShortName(*method);
    EXPECT_THAT(outside, HasSubstr(kOutside)) << ShortName(*method);
    EXPECT_THAT(outside, HasSubstr("budgets/b, budgets/spare")) << ShortName(*method);
    EXPECT_EQ(outside.substr(0, 2), "5 ") << ShortName(*method);  // NOT_FOUND
  }
  EXPECT_EQ(HeadsOf({"c", "d"}), before);
  EXPECT_GT(methods[Subject::kNamed], 30);
  EXPECT_EQ(methods[Subject::kParent], 1);
  EXPECT_EQ(methods[Subject::kLedger], 3);
  EXPECT_EQ(methods[Subject::kTenant], 5);
}

// The table of server/access/README.md has a row for each (tests/server/access holds the rows).
TEST(MethodRules, TheReadmeHasEveryMethod) {
  std::ifstream in(EPSLEDGER_SOURCE_DIR "/server/access/README.md");
  const std::string readme((std::istreambuf_iterator<char>(in)), {});
  for (const MethodDescriptor* method : AllMethods()) {
    EXPECT_THAT(readme, HasSubstr("\n| " + ShortName(*method) + " | ")) << ShortName(*method);
  }
}

TEST_F(Grants, OfOneSessionAreOfNothingBesideIt) {
  MakeRoots("b", "spare");
  const Caller limited = Limited({{"b", "s", {}}, {"b", "new", {}}});
  int of_session = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const access::MethodRule& rule = *access::FindMethodRule(method->full_name());
    const std::string& good = GoodRequests().at(ShortName(*method));
    if (!absl::StrContains(good, "budgets/") || rule.subject == Subject::kTenant) continue;
    const bool names_it = absl::StrContains(good, "budgets/b/sessions/s") ||
                          absl::StrContains(good, "session_id: 'new'");
    const grpc::Status status = Answer(limited, *method, good);
    if (names_it) {
      ++of_session;
      EXPECT_TRUE(status.ok()) << ShortName(*method) << ": " << status.error_message();
      const grpc::Status other =
          Answer(limited, *method,
                 absl::StrReplaceAll(good, {{"/sessions/s", "/sessions/other"},
                                            {"session_id: 'new'", "session_id: 'newer'"},
                                            {"sessions/new'", "sessions/newer'"}}));
      EXPECT_THAT(other.error_message(), HasSubstr(kOutside)) << ShortName(*method);
    } else {
      EXPECT_THAT(status.error_message(), HasSubstr(kOutside)) << ShortName(*method);
    }
  }
  EXPECT_GT(of_session, 15);
}

TEST_F(Grants, WithMethodsAllowThoseAlone) {
  MakeRoots("b", "spare");
  const Caller limited = Limited({{"b", "", {"ChargeService.Charge", "SessionService.OpenAttempt"}},
                                  {"spare", "", {"BudgetService.GetBudget"}}});
  const std::string name = "tokens/" + last_token_id_;
  for (const MethodDescriptor* method : AllMethods()) {
    const std::string& good = GoodRequests().at(ShortName(*method));
    const grpc::Status status = Answer(limited, *method, good);
    const std::string short_name = ShortName(*method);
    if (short_name == "ChargeService.Charge" || short_name == "SessionService.OpenAttempt" ||
        access::FindMethodRule(method->full_name())->subject == Subject::kCaller) {
      EXPECT_TRUE(status.ok()) << short_name << ": " << status.error_message();
    } else if (short_name == "BudgetService.GetBudget") {
      EXPECT_THAT(status.error_message(), HasSubstr("limited to: budgets/spare"));
    } else {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << short_name;
      EXPECT_THAT(status.error_message(), HasSubstr(name)) << short_name;
    }
  }
  EXPECT_EQ(CodeOfGet(limited, "spare"), grpc::StatusCode::OK);
  // What was denied by a grant is a denial as others are.
  const auto denials =
      admin_.Call<v1::ListDenialsResponse>("AuditService.ListDenials", "page_size: 1000");
  ASSERT_TRUE(denials.ok());
  int not_granted = 0;
  for (const auto& denial : denials.response.denials()) {
    not_granted += denial.reason() == "METHOD_NOT_GRANTED" && denial.principal() == name;
  }
  EXPECT_GT(not_granted, 10);
}

TEST_F(Grants, DoNotWidenARole) {
  MakeRoots("b", "spare");
  const Caller viewer = Limited({{"b", "", {"ChargeService.Charge", "BudgetService.GetBudget"}}},
                                core::Role::kViewer);
  EXPECT_EQ(CodeOfGet(viewer, "b"), grpc::StatusCode::OK);
  EXPECT_EQ(
      viewer.Call<v1::Charge>("ChargeService.Charge", GoodRequests().at("ChargeService.Charge"))
          .code(),
      grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(Grants, OfABudgetAreOfAllBelowItAndOfItsSuccessors) {
  MakeBudget(admin_, "root");
  MakeBudget(admin_, "team", "root");
  MakeBudget(admin_, "run", "team");
  MakeBudget(admin_, "sibling", "root");
  const Caller limited = Limited({{"team", "", {}}});
  EXPECT_EQ(CodeOfGet(limited, "team"), grpc::StatusCode::OK);
  EXPECT_EQ(CodeOfGet(limited, "run"), grpc::StatusCode::OK);
  EXPECT_EQ(CodeOfGet(limited, "root"), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(CodeOfGet(limited, "sibling"), grpc::StatusCode::NOT_FOUND);
  // A child is made within the grant, and is within it.
  MakeBudget(limited, "made", "run");
  MakeSession(limited, "made");
  // A root is nobody's part of the tenant.
  EXPECT_EQ(
      limited
          .Call<v1::Budget>("BudgetService.CreateBudget",
                            "budget_id: 'mine' budget { cap { pure_epsilon { epsilon: 8 } } "
                            "neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'person' }")
          .code(),
      grpc::StatusCode::NOT_FOUND);
  const std::string superseded =
      "name: 'budgets/team' successor_id: 'team-2' reason: 'x' cap { pure_epsilon { epsilon: 6 } }";
  ASSERT_TRUE(admin_.Call<v1::Budget>("BudgetService.SupersedeBudget", superseded).ok());
  EXPECT_EQ(CodeOfGet(limited, "team-2"), grpc::StatusCode::OK);
  MakeBudget(limited, "run-2", "team-2");
  EXPECT_EQ(CodeOfGet(limited, "run-2"), grpc::StatusCode::OK);
  EXPECT_EQ(CodeOfGet(limited, "sibling"), grpc::StatusCode::NOT_FOUND);
}

// The entries of a ledger tell of everything in it.
TEST_F(Grants, OfAChildDoNotOpenTheLedger) {
  MakeBudget(admin_, "root");
  MakeBudget(admin_, "team", "root");
  const Caller limited = Limited({{"team", "", {}}});
  for (const char* method : {"AuditService.ListAuditEntries", "AuditService.ExportLedger",
                             "AuditService.VerifyLedger"}) {
    const auto* descriptor = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
        absl::StrCat("epsledger.v1.", method));
    EXPECT_THAT(Answer(limited, *descriptor, "budget: 'budgets/team'").error_message(),
                HasSubstr(kOutside))
        << method;
    EXPECT_TRUE(Answer(Limited({{"root", "", {}}}), *descriptor, "budget: 'budgets/team'").ok())
        << method;
  }
}

TEST_F(Grants, ANameOutsideIsNotToldOfWhereASuccessorWouldTakeIt) {
  for (const char* id : {"a", "a-1", "b"}) MakeBudget(admin_, id);
  const Caller limited = Limited({{"a", "", {}}});
  const auto supersede = [&](const Caller& caller, const char* successor) {
    return caller
        .Call<v1::Budget>("BudgetService.SupersedeBudget",
                          absl::StrCat("name: 'budgets/a' successor_id: '", successor,
                                       "' cap { pure_epsilon { epsilon: 9 } } reason: 'x' "
                                       "validate_only: true"))
        .status;
  };
  EXPECT_EQ(supersede(admin_, "b").error_code(), grpc::StatusCode::ALREADY_EXISTS);
  const grpc::Status taken = supersede(limited, "b");
  EXPECT_EQ(taken.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(taken.error_message(), HasSubstr(kOutside));
}

TEST_F(Grants, OfTheServerTellNothingOfWhatIsOutside) {
  for (const char* id : {"a", "b"}) MakeBudget(admin_, id);
  const auto info = [](const Caller& caller) {
    return caller.Call<v1::ServerInfo>("ServerService.GetServerInfo", "").response;
  };
  EXPECT_EQ(info(admin_).budget_count(), 2);
  EXPECT_GT(info(admin_).entry_count(), 0);
  EXPECT_TRUE(info(admin_).access_control());
  const v1::ServerInfo limited = info(Limited({{"a", "", {}}}));
  EXPECT_FALSE(limited.version().empty());
  EXPECT_EQ(limited.budget_count(), 0);
  EXPECT_EQ(limited.entry_count(), 0);
}

TEST_F(Grants, AListHoldsWhatIsGranted) {
  for (const char* id : {"a", "b", "c"}) MakeBudget(admin_, id);
  for (int i = 0; i < 60; ++i) MakeBudget(admin_, absl::StrCat("a-", i), "a");
  for (const char* id : {"b-1", "b-2"}) MakeBudget(admin_, id, "b");
  const Caller limited = Limited({{"b", "", {}}, {"a-7", "", {}}, {"c", "some", {}}});
  std::vector<std::string> names;
  std::string token;
  int pages = 0;
  do {
    const auto page = limited.Call<v1::ListBudgetsResponse>(
        "BudgetService.ListBudgets", "page_size: 2 page_token: '" + token + "'");
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    for (const auto& budget : page.response.budgets()) names.push_back(budget.name());
    token = page.response.next_page_token();
    ++pages;
  } while (!token.empty());
  EXPECT_THAT(names, ElementsAre("budgets/a-7", "budgets/b", "budgets/b-1", "budgets/b-2"));
  EXPECT_LE(pages, 3);
}

TEST_F(Grants, AreMadeOverTheWireShownAndChecked) {
  MakeBudget(admin_, "b");
  const auto create = [&](const std::string& grants, const Caller& caller) {
    return caller.Call<v1::CreateTokenResponse>(
        "AccessService.CreateToken",
        absl::StrCat("token { role: TRAINER expire_time { seconds: ",
                     absl::ToUnixSeconds(absl::Now()) + 3600, " } ", grants, " }"));
  };
  const std::string good =
      "grants { resource: 'budgets/b' methods: 'ChargeService.Charge' } grants { resource: "
      "'budgets/b/sessions/first' }";
  const auto made = create(good, admin_);
  ASSERT_TRUE(made.ok()) << made.status.error_message();
  const auto shown = [](const auto& message) {
    std::string text;
    for (const v1::Grant& grant : message.grants())
      absl::StrAppend(&text, grant.ShortDebugString(), "; ");
    return text;
  };
  const std::string both =
      "resource: \"budgets/b\" methods: \"ChargeService.Charge\"; resource: "
      "\"budgets/b/sessions/first\"; ";
  EXPECT_EQ(shown(made.response.token()), both);
  const Caller limited = As("Bearer " + made.response.secret());
  EXPECT_EQ(shown(limited.Call<v1::Caller>("AccessService.GetCaller", "").response), both);
  bool listed = false;
  const auto tokens =
      admin_.Call<v1::ListTokensResponse>("AccessService.ListTokens", "page_size: 1000");
  for (const v1::Token& token : tokens.response.tokens()) {
    if (token.name() != made.response.token().name()) continue;
    listed = true;
    EXPECT_EQ(shown(token), both);
  }
  EXPECT_TRUE(listed);
  EXPECT_TRUE(admin_.Call<v1::Caller>("AccessService.GetCaller", "").response.grants().empty());

  struct Bad {
    std::string grants;
    grpc::StatusCode code;
    std::string names;
  };
  std::string many;
  for (size_t i = 0; i <= core::kMaxGrants; ++i) many += "grants { resource: 'budgets/b' } ";
  std::string long_one = "grants { resource: 'budgets/b' ";
  for (int i = 0; i < 250; ++i) long_one += "methods: 'ChargeService.Charge' ";
  for (const Bad& bad : std::vector<Bad>{
           {"grants {}", grpc::StatusCode::INVALID_ARGUMENT, "token.grants[0].resource: got \"\""},
           {"grants { resource: 'budgets/B' }", grpc::StatusCode::INVALID_ARGUMENT,
            "token.grants[0].resource"},
           {"grants { resource: 'budgets/b/sessions/s/attempts/1' }",
            grpc::StatusCode::INVALID_ARGUMENT, "token.grants[0].resource"},
           {"grants { resource: 'budgets/absent' }", grpc::StatusCode::NOT_FOUND,
            "token.grants[0].resource: budgets/absent: there is no such budget"},
           {"grants { resource: 'budgets/b' methods: 'Charge' }",
            grpc::StatusCode::INVALID_ARGUMENT, "token.grants.methods: got \"Charge\""},
           {"grants { resource: 'budgets/b' methods: 'AccessService.CreateToken' }",
            grpc::StatusCode::INVALID_ARGUMENT, "AccessService.CreateToken"},
           {many, grpc::StatusCode::INVALID_ARGUMENT, "token.grants: got 33"},
           {long_one + "}", grpc::StatusCode::INVALID_ARGUMENT, "want at most 32 with 4096"},
       }) {
    const auto refused = create(bad.grants, admin_);
    EXPECT_EQ(refused.code(), bad.code) << bad.grants << refused.status.error_message();
    EXPECT_THAT(refused.status.error_message(), HasSubstr(bad.names));
  }
}

// A lease's settlement, a replayed key and a head that was seen are found by their owners alone.
TEST_F(Grants, AStreamOfChargesLooksAtEachOne) {
  MakeRoots("b", "c");
  const Caller limited = Limited({{"b", "", {}}}, core::Role::kTrainer);
  const auto* method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      "epsledger.v1.ChargeService.StreamCharges");
  const std::string good = GoodRequests().at("ChargeService.StreamCharges");
  EXPECT_TRUE(Answer(limited, *method, good).ok());
  const std::string outside = absl::StrReplaceAll(good, {{"budgets/b", "budgets/c"}});
  EXPECT_THAT(Answer(limited, *method, outside).error_message(), HasSubstr(kOutside));
  // Also where the key is known already.
  ASSERT_TRUE(Answer(admin_, *method, outside).ok());
  EXPECT_THAT(Answer(limited, *method, outside).error_message(), HasSubstr(kOutside));
  const auto budget = admin_.Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/c'");
  EXPECT_EQ(budget.response.accepted_charge_count(), 1);
}

// What somebody saw of another ledger tells nothing of whether there is one.
TEST_F(Grants, AHeadOfAnotherLedgerIsOutside) {
  MakeRoots("b", "c");
  const Caller limited = Limited({{"b", "", {}}}, core::Role::kTrainer);
  const auto charge = [&](const std::string& root, int sequence) {
    return limited.Call<v1::Charge>(
        "ChargeService.Charge",
        absl::StrCat("attempt: 'budgets/b/sessions/s/attempts/1' charge_id: 'c' count: 1 event { "
                     "gaussian { noise_multiplier: 9 } } last_seen_head { root_budget: 'budgets/",
                     root, "' sequence: ", sequence, " }"));
  };
  const std::string absent = TextOf(charge("q", 1).status);
  EXPECT_THAT(absent, HasSubstr(kOutside));
  for (const int sequence : {1, 2, 1'000}) {
    EXPECT_EQ(TextOf(charge("c", sequence).status), absent) << sequence;
  }
  EXPECT_TRUE(charge("b", 1).ok());
}

}  // namespace
}  // namespace epsledger::transport
