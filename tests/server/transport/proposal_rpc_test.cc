// Changes that two people make, over the wire.

#include <string>

#include "absl/strings/str_cat.h"
#include "epsledger/v1/audit_service.pb.h"
#include "epsledger/v1/budget_service.pb.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "tests/server/transport/test_server.h"
#include "tests/server/transport/token_caller.h"

namespace epsledger::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProposalRpc : public TokenServer {
 protected:
  ProposalRpc() {
    MakeBudget(alice_, "root");
    MakeBudget(alice_, "team", "root");
  }

  static Reply<v1::Proposal> Propose(const Caller& caller, const std::string& budget,
                                     const std::string& id, const std::string& change) {
    return caller.Call<v1::Proposal>(
        "ProposalService.CreateProposal",
        absl::StrCat("parent: 'budgets/", budget, "' proposal_id: '", id,
                     "' proposal { reason: 'we are done' ", change, " }"));
  }
  // Approving: of the proposal that bears the name now.
  Reply<v1::Proposal> Resolve(const Caller& caller, const std::string& verb,
                              const std::string& name) {
    std::string request = absl::StrCat("name: '", name, "' reason: 'seen'");
    if (verb == "Approve") absl::StrAppend(&request, " sequence: ", SequenceOf(name));
    return caller.Call<v1::Proposal>(absl::StrCat("ProposalService.", verb, "Proposal"), request);
  }
  // 1 if there is none.
  int64_t SequenceOf(const std::string& name) {
    const auto got =
        alice_.Call<v1::Proposal>("ProposalService.GetProposal", "name: '" + name + "'");
    return got.ok() ? got.response.sequence() : 1;
  }
  v1::Budget Get(const std::string& budget) {
    return alice_.Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/" + budget + "'")
        .response;
  }
  void Guard(const std::string& budget, const std::string& changes) {
    const auto guarded = alice_.Call<v1::Budget>(
        "BudgetService.SetApprovalPolicy",
        absl::StrCat("name: 'budgets/", budget, "' policy { guarded: [", changes, "] }"));
    ASSERT_TRUE(guarded.ok()) << guarded.status.error_message();
  }
  std::vector<std::string> Names(const std::string& request) {
    std::vector<std::string> names;
    const auto list =
        alice_.Call<v1::ListProposalsResponse>("ProposalService.ListProposals", request);
    for (const v1::Proposal& proposal : list.response.proposals()) names.push_back(proposal.name());
    return names;
  }

  const Caller alice_ = As(MakeToken("acme", core::Role::kAdmin));
  const std::string alice_name_ = "tokens/" + last_token_id_;
  const Caller bob_ = As(MakeToken("acme", core::Role::kAdmin));
  const std::string bob_name_ = "tokens/" + last_token_id_;
  const Caller trainer_ = As(MakeToken("acme", core::Role::kTrainer));
};

TEST_F(ProposalRpc, AGuardedChangeIsMadeByTwo) {
  Guard("root", "CLOSE, SUPERSEDE");
  EXPECT_EQ(Get("root").approval_policy().guarded_size(), 2);
  const auto alone =
      alice_.Call<v1::Budget>("BudgetService.CloseBudget", "name: 'budgets/team' reason: 'x'");
  EXPECT_EQ(alone.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(alone.status), "APPROVAL_REQUIRED");
  EXPECT_THAT(alone.status.error_message(), HasSubstr("epsctl proposal"));

  const auto proposed = Propose(alice_, "team", "done", "close {}");
  ASSERT_TRUE(proposed.ok()) << proposed.status.error_message();
  EXPECT_EQ(proposed.response.name(), "budgets/team/proposals/done");
  EXPECT_EQ(proposed.response.state(), v1::Proposal::PENDING);
  EXPECT_EQ(proposed.response.proposed_by(), alice_name_);
  const auto own = Resolve(alice_, "Approve", proposed.response.name());
  EXPECT_EQ(ReasonOf(own.status), "SECOND_PERSON_REQUIRED");
  EXPECT_EQ(Get("team").state(), v1::Budget::ACTIVE);

  const auto approved = Resolve(bob_, "Approve", proposed.response.name());
  ASSERT_TRUE(approved.ok()) << approved.status.error_message();
  EXPECT_EQ(approved.response.state(), v1::Proposal::APPROVED);
  EXPECT_EQ(approved.response.resolved_by(), bob_name_);
  EXPECT_EQ(approved.response.resolve_reason(), "seen");
  EXPECT_EQ(Get("team").state(), v1::Budget::CLOSED);
  EXPECT_EQ(Get("team").state_reason(), "we are done");
  // Who did it: alice proposed, bob approved and made it.
  const auto entries = alice_.Call<v1::ListAuditEntriesResponse>(
      "AuditService.ListAuditEntries", "budget: 'budgets/root' page_size: 100");
  std::vector<std::string> who;
  for (const v1::AuditEntry& entry : entries.response.entries()) {
    who.push_back(entry.actor().principal());
  }
  ASSERT_GE(who.size(), 3u);
  EXPECT_THAT(std::vector<std::string>(who.end() - 3, who.end()),
              ElementsAre(alice_name_, bob_name_, bob_name_));
}

TEST_F(ProposalRpc, AnApprovalSaysWhatItApproves) {
  const auto proposed = Propose(alice_, "team", "p", "close {}");
  const int64_t sequence = proposed.response.sequence();
  const auto head =
      alice_.Call<v1::LedgerHead>("AuditService.GetLedgerHead", "budget: 'budgets/root'");
  EXPECT_EQ(sequence, head.response.sequence());
  const auto approve = [&](const std::string& more) {
    return bob_.Call<v1::Proposal>("ProposalService.ApproveProposal",
                                   "name: 'budgets/team/proposals/p' reason: 'seen' " + more);
  };
  for (const char* bad : {"", "sequence: 0", "sequence: -1"}) {
    const auto refused = approve(bad);
    EXPECT_EQ(refused.code(), grpc::StatusCode::INVALID_ARGUMENT) << bad;
    EXPECT_THAT(refused.status.error_message(), HasSubstr("sequence: got ")) << bad;
  }
  for (const int64_t other : {sequence - 1, sequence + 1}) {
    const auto refused = approve(absl::StrCat("sequence: ", other));
    EXPECT_EQ(refused.code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(refused.status.error_message(), HasSubstr(absl::StrCat("want ", sequence)));
  }
  EXPECT_EQ(Get("team").state(), v1::Budget::ACTIVE);
  EXPECT_TRUE(approve(absl::StrCat("sequence: ", sequence)).ok());
  EXPECT_EQ(Get("team").state(), v1::Budget::CLOSED);
}

TEST_F(ProposalRpc, ATokenOfTheProposersOwnMakingIsNoSecondPerson) {
  const auto made = alice_.Call<v1::CreateTokenResponse>(
      "AccessService.CreateToken",
      absl::StrCat("token { role: ADMIN description: 'x' expire_time { seconds: ",
                   absl::ToUnixSeconds(absl::Now() + absl::Hours(1)), " } }"));
  ASSERT_TRUE(made.ok());
  const Caller puppet = As("Bearer " + made.response.secret());
  ASSERT_TRUE(Propose(alice_, "team", "p", "close {}").ok());
  EXPECT_EQ(ReasonOf(Resolve(puppet, "Approve", "budgets/team/proposals/p").status),
            "SECOND_PERSON_REQUIRED");
  ASSERT_TRUE(Propose(puppet, "team", "q", "close {}").ok());
  EXPECT_EQ(ReasonOf(Resolve(alice_, "Approve", "budgets/team/proposals/q").status),
            "SECOND_PERSON_REQUIRED");
  // Nor is a login.
  const auto login = puppet.Call<v1::CreateTokenResponse>("AccessService.CreateLogin", "");
  EXPECT_EQ(ReasonOf(Resolve(As("Bearer " + login.response.secret()), "Approve",
                             "budgets/team/proposals/q")
                         .status),
            "SECOND_PERSON_REQUIRED");
  EXPECT_EQ(Get("team").state(), v1::Budget::ACTIVE);
}

// Who made two tokens could use both.
TEST_F(ProposalRpc, TwoTokensOfOneMakerAreOnePerson) {
  std::vector<Caller> made;
  for (const char* role : {"TRAINER", "ADMIN"}) {
    const auto token = alice_.Call<v1::CreateTokenResponse>(
        "AccessService.CreateToken",
        absl::StrCat("token { role: ", role, " description: 'x' expire_time { seconds: ",
                     absl::ToUnixSeconds(absl::Now() + absl::Hours(1)), " } }"));
    ASSERT_TRUE(token.ok()) << token.status.error_message();
    made.push_back(As("Bearer " + token.response.secret()));
  }
  ASSERT_TRUE(Propose(made[0], "team", "p", "close {}").ok());
  const auto approved = Resolve(made[1], "Approve", "budgets/team/proposals/p");
  EXPECT_EQ(ReasonOf(approved.status), "SECOND_PERSON_REQUIRED");
  EXPECT_EQ(Get("team").state(), v1::Budget::ACTIVE);
  EXPECT_TRUE(Resolve(bob_, "Approve", "budgets/team/proposals/p").ok());
}

TEST_F(ProposalRpc, WhoMayNotCreateBudgetsAsksForThem) {
  const std::string child =
      "create_child { budget_id: 'share' budget { cap { approximate_dp { epsilon: 1 delta: 1e-6 "
      "reference { poisson_sampled { sampling_probability: .01 event { gaussian { "
      "noise_multiplier: 1 } } } } } } neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: "
      "'person' } }";
  MakeBudget(alice_, "wide", "", "approximate_dp { epsilon: 4 delta: 1e-5 filter: RENYI_ORDERS }");
  const auto asked = Propose(trainer_, "wide", "more", child);
  ASSERT_TRUE(asked.ok()) << asked.status.error_message();
  EXPECT_TRUE(asked.response.create_child().budget().cap().approximate_dp().has_reference());
  EXPECT_EQ(Resolve(trainer_, "Approve", asked.response.name()).code(),
            grpc::StatusCode::PERMISSION_DENIED);
  const auto approved = Resolve(bob_, "Approve", asked.response.name());
  ASSERT_TRUE(approved.ok()) << approved.status.error_message();
  EXPECT_EQ(Get("share").parent(), "budgets/wide");
  EXPECT_TRUE(Get("share").cap().approximate_dp().has_reference());

  const auto successor = Propose(trainer_, "team", "raise",
                                 "supersede { successor_id: 'team-2' cap { pure_epsilon { "
                                 "epsilon: 9 } } }");
  ASSERT_TRUE(successor.ok()) << successor.status.error_message();
  ASSERT_TRUE(Resolve(alice_, "Approve", successor.response.name()).ok());
  EXPECT_EQ(Get("team").superseded_by(), "budgets/team-2");
}

TEST_F(ProposalRpc, ListsOfABudgetAndAllBelowInPages) {
  for (const char* budget : {"team", "root"}) {
    for (const char* id : {"b", "a"}) ASSERT_TRUE(Propose(alice_, budget, id, "close {}").ok());
  }
  ASSERT_TRUE(Resolve(bob_, "Reject", "budgets/team/proposals/a").ok());
  EXPECT_THAT(Names("parent: 'budgets/root'"),
              ElementsAre("budgets/root/proposals/a", "budgets/root/proposals/b",
                          "budgets/team/proposals/a", "budgets/team/proposals/b"));
  EXPECT_THAT(Names("parent: 'budgets/root' pending_only: true"),
              ElementsAre("budgets/root/proposals/a", "budgets/root/proposals/b",
                          "budgets/team/proposals/b"));
  EXPECT_THAT(Names("parent: 'budgets/team'"),
              ElementsAre("budgets/team/proposals/a", "budgets/team/proposals/b"));
  const auto first = alice_.Call<v1::ListProposalsResponse>("ProposalService.ListProposals",
                                                            "parent: 'budgets/root' page_size: 3");
  ASSERT_EQ(first.response.proposals_size(), 3);
  EXPECT_THAT(Names(absl::StrCat("parent: 'budgets/root' page_size: 3 page_token: '",
                                 first.response.next_page_token(), "'")),
              ElementsAre("budgets/team/proposals/b"));
  EXPECT_EQ(first.response.proposals(2).state(), v1::Proposal::REJECTED);
}

TEST_F(ProposalRpc, BadProposalsAreRefusedByField) {
  const struct {
    const char* proposal;
    const char* want;
  } rows[] = {
      {"", "proposal: got no change, want one of createChild"},
      {"close {} state: APPROVED", "proposal.state"},
      {"close {} expire_time { seconds: 1 }", "proposal.expireTime"},
      {"close {} expire_time { seconds: 99999999999 }", "at most 90 days away"},
      {"close {} name: 'budgets/root/proposals/p'", "proposal.name"},
      {"supersede { successor_id: 'x' }", "proposal.supersede.cap"},
      {"supersede { successor_id: 'X' cap { pure_epsilon { epsilon: 1 } } }",
       "proposal.supersede.successorId"},
      {"create_child { budget_id: 'x' }", "proposal.createChild.budget: unset"},
      {"create_child { budget_id: 'x' budget { parent: 'budgets/root' cap { pure_epsilon { "
       "epsilon: 1 } } neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'person' } }",
       "proposal.createChild.budget.parent"},
      {"set_approval_policy { guarded: [CLOSE, CLOSE] }",
       "proposal.setApprovalPolicy.guarded[1]: got CLOSE, want each change once"},
      {"set_approval_policy { guarded: [CHANGE_UNSPECIFIED] }",
       "proposal.setApprovalPolicy.guarded[0]"},
  };
  for (const auto& row : rows) {
    const auto refused = Propose(alice_, "team", "p", row.proposal);
    EXPECT_EQ(refused.code(), grpc::StatusCode::INVALID_ARGUMENT) << row.proposal;
    EXPECT_THAT(refused.status.error_message(), HasSubstr(row.want)) << row.proposal;
  }
  EXPECT_EQ(Resolve(bob_, "Approve", "budgets/team/proposals/p").code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Resolve(bob_, "Reject", "budgets/none/proposals/p").code(),
            grpc::StatusCode::NOT_FOUND);
}

// A child's name may be taken in another tree before it is approved.
TEST_F(ProposalRpc, ANameThatWasTakenMeanwhileIsTold) {
  ASSERT_TRUE(Propose(alice_, "team", "p",
                      "create_child { budget_id: 'taken' budget { cap { pure_epsilon { epsilon: 1 "
                      "} } neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'person' } }")
                  .ok());
  MakeBudget(alice_, "taken");
  const auto approved = Resolve(bob_, "Approve", "budgets/team/proposals/p");
  EXPECT_EQ(approved.code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(approved.status.error_message(), HasSubstr("budgets/taken"));
  EXPECT_EQ(Get("taken").parent(), "");
}

}  // namespace
}  // namespace epsledger::transport
