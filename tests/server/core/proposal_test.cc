// Two people: what one proposes is done when another one approves it, and not otherwise.

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/access_ledger.h"
#include "server/core/codec.h"
#include "server/core/limits.h"
#include "server/core/proposal.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kLater = 1'000'000;
const Person kAlice{"alice", {}};
const Person kBob{"bob", {}};

class Proposals : public ::testing::Test {
 protected:
  Proposals() {
    Make("root", "");
    Make("team", "root");
  }

  void Make(const std::string& id, const std::string& parent) {
    BudgetSpec spec = PureBudget(id, 8);
    spec.parent_id = parent;
    ASSERT_TRUE(h_.Run(CreateBudget{spec}).ok());
  }
  absl::Status Guard(const std::string& id, std::vector<GuardedChange> guarded) {
    return h_.Run(SetApprovalPolicy{id, std::move(guarded)}).status();
  }
  absl::Status Propose(const std::string& budget, const std::string& id, ProposedChange change,
                       const Person& person = kAlice, int64_t expire = kLater) {
    return h_.Run(ProposeChange{budget, id, std::move(change), "why", person, expire}).status();
  }
  absl::StatusOr<Outcome> Approve(const std::string& budget, const std::string& id,
                                  const Person& person = kBob, int64_t now = 1'000) {
    return ApproveWhatWasRead(Get(budget, id), person, now);
  }
  // `read` may be another one than that of its name now.
  absl::StatusOr<Outcome> ApproveWhatWasRead(const Proposal& read, const Person& person = kBob,
                                             int64_t now = 1'000) {
    return h_.Run(Command{.time_micros = now,
                          .approval = Approval{.proposal_id = read.asked.proposal_id,
                                               .sequence = read.sequence,
                                               .approver = person,
                                               .reason = "seen"},
                          .body = CommandFor(read.asked)});
  }
  const Proposal& Get(const std::string& budget, const std::string& id) {
    return h_.ledger.FindBudget(budget)->proposals.at(id);
  }
  absl::Status Close(const std::string& id) {
    return h_.Run(ChangeBudgetPhase{id, BudgetPhase::kClosed, "x"}).status();
  }
  BudgetPhase PhaseOf(const std::string& id) { return h_.ledger.FindBudget(id)->phase; }

  LedgerHarness h_;
};

TEST_F(Proposals, WhatIsGuardedIsNotDoneByOneAlone) {
  ASSERT_TRUE(Guard("root", {GuardedChange::kSupersede, GuardedChange::kClose}).ok());
  const LedgerHead before = h_.ledger.head();
  for (const char* id : {"root", "team"}) {
    const absl::Status closed = Close(id);
    EXPECT_TRUE(IsApprovalRequired(closed)) << closed;
    EXPECT_THAT(std::string(closed.message()), HasSubstr("budgets/root guards CLOSE"));
    SupersedeBudget supersede{.budget_id = id, .successor_id = "next", .reason = "x"};
    supersede.cap = PureEpsilonCap{9};
    EXPECT_TRUE(IsApprovalRequired(h_.Run(supersede).status()));
  }
  EXPECT_EQ(h_.ledger.head(), before);
  // What is not guarded is free, and what stops charges always is.
  EXPECT_TRUE(h_.Run(ChangeBudgetPhase{"root", BudgetPhase::kFrozen, "x"}).ok());
  EXPECT_TRUE(h_.Run(ChangeBudgetPhase{"root", BudgetPhase::kActive, "x"}).ok());
  // Above the guard nothing is guarded.
  ASSERT_TRUE(Guard("team", {GuardedChange::kThaw}).ok());
  EXPECT_TRUE(h_.Run(ChangeBudgetPhase{"root", BudgetPhase::kFrozen, "x"}).ok());
  EXPECT_TRUE(h_.Run(ChangeBudgetPhase{"root", BudgetPhase::kActive, "x"}).ok());
  // Thawing what is not frozen changes nothing, and is told so.
  EXPECT_TRUE(h_.Run(ChangeBudgetPhase{"team", BudgetPhase::kActive, "x"}).ok());
}

// A budget that is superseded takes no more charges, and a frozen one goes on as its successor.
TEST_F(Proposals, SupersedingIsNoWayRoundAnotherGuard) {
  const auto supersede = [&](const std::string& id) {
    SupersedeBudget body{.budget_id = id, .successor_id = id + "-2", .reason = "x"};
    body.cap = PureEpsilonCap{9};
    return h_.Run(body).status();
  };
  Make("open", "root");
  Make("paused", "root");
  ASSERT_TRUE(Guard("team", {GuardedChange::kClose}).ok());
  ASSERT_TRUE(Guard("open", {GuardedChange::kThaw}).ok());
  ASSERT_TRUE(Guard("paused", {GuardedChange::kThaw}).ok());
  const absl::Status ends = supersede("team");
  EXPECT_TRUE(IsApprovalRequired(ends)) << ends;
  EXPECT_THAT(std::string(ends.message()), HasSubstr("budgets/team guards CLOSE"));
  ASSERT_TRUE(h_.Run(ChangeBudgetPhase{"paused", BudgetPhase::kFrozen, "x"}).ok());
  const absl::Status thaws = supersede("paused");
  EXPECT_TRUE(IsApprovalRequired(thaws)) << thaws;
  EXPECT_THAT(std::string(thaws.message()), HasSubstr("budgets/paused guards THAW"));
  EXPECT_TRUE(supersede("open").ok());
}

TEST_F(Proposals, ASecondPersonMakesTheChange) {
  ASSERT_TRUE(Guard("root", {GuardedChange::kClose}).ok());
  ASSERT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}).ok());
  EXPECT_EQ(PhaseOf("team"), BudgetPhase::kActive);
  const absl::Status alone = Approve("team", "p", kAlice).status();
  EXPECT_TRUE(IsSecondPersonRequired(alone)) << alone;
  EXPECT_EQ(PhaseOf("team"), BudgetPhase::kActive);
  const size_t before = h_.entries.size();
  ASSERT_TRUE(Approve("team", "p").ok());
  EXPECT_EQ(PhaseOf("team"), BudgetPhase::kClosed);
  EXPECT_EQ(h_.ledger.FindBudget("team")->phase_reason, "why");
  ASSERT_EQ(h_.entries.size(), before + 2);
  EXPECT_TRUE(std::holds_alternative<ProposalResolved>(h_.entries[before].body));
  EXPECT_EQ(Get("team", "p").state, ProposalState::kApproved);
  EXPECT_EQ(Get("team", "p").resolved_by, "bob");
  // Once.
  EXPECT_THAT(std::string(Approve("team", "p").status().message()), HasSubstr("approved by bob"));
}

TEST_F(Proposals, WhoMadeATokenIsItsHolder) {
  const Person mallory{"tokens/m", {}};
  const Person puppet{"tokens/p", {"tokens/x", "tokens/m"}};
  const Person friend_of{"tokens/f", {"tokens/y"}};
  // Who made both could use either.
  const Person sibling{"tokens/s", {"tokens/x"}};
  EXPECT_FALSE(AreTwoPeople(puppet, sibling));
  EXPECT_FALSE(AreTwoPeople(sibling, puppet));
  EXPECT_FALSE(AreTwoPeople(mallory, mallory));
  EXPECT_FALSE(AreTwoPeople(mallory, puppet));
  EXPECT_FALSE(AreTwoPeople(puppet, mallory));
  EXPECT_TRUE(AreTwoPeople(puppet, friend_of));
  EXPECT_TRUE(AreTwoPeople(mallory, friend_of));
  // Authorities compare names without case.
  EXPECT_FALSE(AreTwoPeople({"Alice", {}}, {"alice", {}}));
  EXPECT_FALSE(AreTwoPeople({"tokens/a", {"Alice"}}, {"alice", {}}));
  // Whose maker is forgotten may be anybody's.
  const Person forgotten{.principal = "tokens/forgotten", .makers = {"tokens/b", kUnknownMaker}};
  EXPECT_FALSE(AreTwoPeople(mallory, forgotten));
  EXPECT_FALSE(AreTwoPeople(forgotten, mallory));
  ASSERT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}, mallory).ok());
  EXPECT_TRUE(IsSecondPersonRequired(Approve("team", "p", puppet).status()));
  ASSERT_TRUE(Propose("team", "q", ProposedPhase{BudgetPhase::kClosed}, puppet).ok());
  EXPECT_TRUE(IsSecondPersonRequired(Approve("team", "q", mallory).status()));
  EXPECT_TRUE(Approve("team", "p", friend_of).ok());
}

TEST_F(Proposals, GuardingLessIsGuardedItself) {
  ASSERT_TRUE(Guard("root", {GuardedChange::kSupersede}).ok());
  ASSERT_TRUE(Guard("root", {GuardedChange::kSupersede, GuardedChange::kClose}).ok());
  for (const std::vector<GuardedChange>& less :
       {std::vector<GuardedChange>{}, {GuardedChange::kClose}, {GuardedChange::kThaw}}) {
    EXPECT_TRUE(IsApprovalRequired(Guard("root", less)));
  }
  ASSERT_TRUE(Propose("root", "p", ProposedPolicy{{}}).ok());
  EXPECT_TRUE(IsSecondPersonRequired(Approve("root", "p", kAlice).status()));
  ASSERT_TRUE(Approve("root", "p").ok());
  EXPECT_TRUE(h_.ledger.FindBudget("root")->guarded.empty());
  EXPECT_TRUE(Close("root").ok());
}

TEST_F(Proposals, ASuccessorHasThePolicyAndIsProposedToo) {
  ASSERT_TRUE(Guard("root", {GuardedChange::kSupersede}).ok());
  ASSERT_TRUE(Propose("root", "p", ProposedSuccessor{"root-2", PureEpsilonCap{9}, false}).ok());
  ASSERT_TRUE(
      Propose("root", "other", ProposedSuccessor{"root-3", PureEpsilonCap{10}, false}).ok());
  ASSERT_TRUE(Approve("root", "p").ok());
  EXPECT_EQ(h_.ledger.FindBudget("root")->superseded_by, "root-2");
  EXPECT_THAT(h_.ledger.FindBudget("root-2")->guarded, ElementsAre(GuardedChange::kSupersede));
  SupersedeBudget next{.budget_id = "root-2", .successor_id = "root-4", .reason = "x"};
  next.cap = PureEpsilonCap{11};
  EXPECT_TRUE(IsApprovalRequired(h_.Run(next).status()));
  // What can be done no more stays as it is, and can be rejected.
  EXPECT_EQ(Approve("root", "other").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Get("root", "other").state, ProposalState::kPending);
  ASSERT_TRUE(h_.Run(RejectProposal{"root", "other", kAlice, "late"}).ok());
  EXPECT_EQ(Get("root", "other").state, ProposalState::kRejected);
}

TEST_F(Proposals, AChildIsMadeAsItWasAskedFor) {
  BudgetSpec spec = PureBudget("share", 2);
  spec.parent_id = "team";
  ASSERT_TRUE(Propose("team", "p", ProposedChild{spec, std::nullopt, false}).ok());
  EXPECT_EQ(h_.ledger.FindBudget("share"), nullptr);
  const absl::StatusOr<Outcome> made = Approve("team", "p");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(std::get<BudgetOutcome>(*made).created);
  ASSERT_NE(h_.ledger.FindBudget("share"), nullptr);
  EXPECT_EQ(h_.ledger.FindBudget("share")->spec.parent_id, "team");
}

TEST_F(Proposals, WhatCannotBeDoneIsNoProposal) {
  const LedgerHead before = h_.ledger.head();
  EXPECT_EQ(Propose("team", "p", ProposedPhase{BudgetPhase::kActive}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Propose("nowhere", "p", ProposedPhase{BudgetPhase::kClosed}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Propose("team", "p", ProposedSuccessor{"root", PureEpsilonCap{9}, false}).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(h_.ledger.head(), before);
}

TEST_F(Proposals, TheSameAgainIsTheSameProposal) {
  ASSERT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}).ok());
  const LedgerHead before = h_.ledger.head();
  EXPECT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}, kAlice, kLater + 1).ok());
  EXPECT_EQ(h_.ledger.head(), before);
  EXPECT_EQ(Get("team", "p").asked.expire_time_micros, kLater);
  EXPECT_EQ(Propose("team", "p", ProposedPolicy{{GuardedChange::kClose}}).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}, kBob).code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(Proposals, OneThatHasExpiredIsNotApproved) {
  ASSERT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}, kAlice, 500).ok());
  EXPECT_THAT(std::string(Approve("team", "p", kBob, 500).status().message()),
              HasSubstr("has expired"));
  EXPECT_EQ(PhaseOf("team"), BudgetPhase::kActive);
  EXPECT_TRUE(Approve("team", "p", kBob, 499).ok());
}

TEST_F(Proposals, TheirNumberIsBoundedAndEndedOnesMakeRoom) {
  const ProposedPhase close{BudgetPhase::kClosed};
  for (int64_t i = 0; i < kMaxPendingProposalsOfOne; ++i) {
    ASSERT_TRUE(Propose("team", "p" + std::to_string(i), close).ok()) << i;
  }
  EXPECT_EQ(Propose("team", "more", close).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Propose("team", "bobs", close, kBob).ok());
  ASSERT_TRUE(h_.Run(RejectProposal{"team", "p0", kBob, "no"}).ok());
  EXPECT_TRUE(Propose("team", "more", close).ok());
  // For ever, one after the other.
  for (size_t i = 0; i < 2 * kMaxResolvedProposals; ++i) {
    const std::string id = "r" + std::to_string(i);
    ASSERT_TRUE(Propose("team", id, close, kBob).ok());
    ASSERT_TRUE(h_.Run(RejectProposal{"team", id, kAlice, "no"}).ok());
  }
  EXPECT_EQ(h_.ledger.FindBudget("team")->proposals.size(),
            kMaxResolvedProposals + kMaxPendingProposalsOfOne + 1);
}

// A name comes back once its proposal is forgotten; whoever read the first one approves no other.
TEST_F(Proposals, AnApprovalIsOfWhatWasRead) {
  ASSERT_TRUE(Propose("team", "p", ProposedPolicy{{GuardedChange::kClose}}).ok());
  const Proposal read = Get("team", "p");
  EXPECT_EQ(read.sequence, h_.entries.back().sequence);
  ASSERT_TRUE(h_.Run(RejectProposal{"team", "p", kAlice, "a mistake"}).ok());
  for (size_t i = 0; i < kMaxResolvedProposals; ++i) {
    const std::string id = "r" + std::to_string(i);
    ASSERT_TRUE(Propose("team", id, ProposedPhase{BudgetPhase::kClosed}).ok());
    ASSERT_TRUE(h_.Run(RejectProposal{"team", id, kAlice, "no"}).ok());
  }
  ASSERT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}).ok());
  const LedgerHead before = h_.ledger.head();
  const absl::Status late = ApproveWhatWasRead(read).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition) << late;
  EXPECT_THAT(std::string(late.message()), HasSubstr("another one bears the name"));
  EXPECT_EQ(h_.ledger.head(), before);
  EXPECT_EQ(PhaseOf("team"), BudgetPhase::kActive);
  EXPECT_EQ(Get("team", "p").state, ProposalState::kPending);
  EXPECT_TRUE(ApproveWhatWasRead(Get("team", "p")).ok());
  EXPECT_EQ(PhaseOf("team"), BudgetPhase::kClosed);
}

TEST_F(Proposals, ComeBackFromTheEntries) {
  ASSERT_TRUE(Guard("root", {GuardedChange::kClose}).ok());
  ASSERT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}).ok());
  ASSERT_TRUE(Propose("team", "expires", ProposedPhase{BudgetPhase::kClosed}, kAlice, 20).ok());
  ASSERT_TRUE(Approve("team", "p").ok());
  LedgerHarness again;
  for (const Entry& entry : h_.entries) {
    const absl::StatusOr<Entry> decoded = DecodeEntry(entry.content, entry.hash);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_TRUE(again.Restore(*decoded));
  }
  EXPECT_EQ(again.ledger.head(), h_.ledger.head());
  EXPECT_THAT(again.ledger.FindBudget("root")->guarded, ElementsAre(GuardedChange::kClose));
  const Proposal& back = again.ledger.FindBudget("team")->proposals.at("p");
  EXPECT_EQ(back.state, ProposalState::kApproved);
  EXPECT_EQ(back.asked.proposer.principal, "alice");
  EXPECT_EQ(back.sequence, Get("team", "p").sequence);
  EXPECT_EQ(back.resolved_by, "bob");
}

// An entry that no decision makes is damage.
TEST_F(Proposals, AStoredApprovalByTheProposerIsDamage) {
  ASSERT_TRUE(Propose("team", "p", ProposedPhase{BudgetPhase::kClosed}).ok());
  const auto apply = [&](EntryBody body) {
    return h_.ledger.Apply(h_.ledger.Seal(std::move(body), 9)).code();
  };
  EXPECT_EQ(apply(ProposalResolved{"team", "p", true, kAlice, "x"}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(apply(ProposalResolved{"team", "q", true, kBob, "x"}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(apply(ApprovalPolicySet{"none", {}}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(apply(ApprovalPolicySet{"team", {GuardedChange::kThaw, GuardedChange::kClose}}),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(apply(ChangeProposed{"team", "p", ProposedPhase{}, "x", kBob, kLater}),
            absl::StatusCode::kDataLoss);
}

class GuardedQuarantine : public ::testing::Test {
 protected:
  absl::StatusOr<AccessOutcome> Run(AccessCommand command) {
    return ledger_.Execute(command, now_, std::nullopt, [&](const Entry& entry) {
      entries_.push_back(entry);
      return absl::OkStatus();
    });
  }
  absl::StatusOr<AccessOutcome> Lift(const Person& person, bool is_guarded = true) {
    return Run({LiftQuarantine{"root", person, "seen to", is_guarded}});
  }
  void Begin() {
    ASSERT_TRUE(Run({BeginQuarantine{{"root", 9, std::string(32, 'h'), ""}}}).ok());
    ASSERT_TRUE(ledger_.IsInQuarantine("root"));
  }

  AccessLedger ledger_;
  std::vector<Entry> entries_;
  int64_t now_ = 1'000;
};

TEST_F(GuardedQuarantine, IsLiftedByTwoPeople) {
  Begin();
  const auto first = Lift(kAlice);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->is_proposed);
  const size_t count = entries_.size();
  EXPECT_TRUE(Lift(kAlice)->is_proposed);
  EXPECT_TRUE(Lift({"tokens/p", {"alice"}})->is_proposed);
  EXPECT_EQ(entries_.size(), count);
  EXPECT_TRUE(ledger_.IsInQuarantine("root"));
  const auto second = Lift(kBob);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->is_proposed);
  EXPECT_FALSE(ledger_.IsInQuarantine("root"));
  // The next quarantine begins without anybody's word.
  Begin();
  EXPECT_TRUE(Lift(kBob)->is_proposed);
  AccessLedger again;
  for (const Entry& entry : entries_) {
    const absl::StatusOr<Entry> decoded = DecodeEntry(entry.content, entry.hash);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_TRUE(again.Apply(*decoded).ok());
  }
  EXPECT_EQ(again.head(), ledger_.head());
}

TEST_F(GuardedQuarantine, AWordHoldsForAWeek) {
  Begin();
  ASSERT_TRUE(Lift(kAlice)->is_proposed);
  now_ += int64_t{7} * 24 * 60 * 60 * 1'000'000;
  EXPECT_TRUE(Lift(kBob)->is_proposed) << "bob's is the first now";
  EXPECT_FALSE(Lift(kAlice)->is_proposed);
}

TEST_F(GuardedQuarantine, IsLiftedByOneWhereItIsNotGuarded) {
  Begin();
  EXPECT_FALSE(Lift(kAlice, false)->is_proposed);
  EXPECT_FALSE(ledger_.IsInQuarantine("root"));
}

// Somebody alone makes a token with a token, and so on, until the first one is out of sight.
TEST_F(GuardedQuarantine, ALongChainOfTokensIsNoSecondPerson) {
  for (size_t i = 0; i < kMaxMakers + 3; ++i) {
    std::string hash = std::to_string(i);
    hash.resize(32, 'x');
    const TokenSpec spec{.id = "t" + std::to_string(i),
                         .tenant = "acme",
                         .role = Role::kAdmin,
                         .expire_time_micros = INT64_MAX,
                         .secret_hash = hash};
    const std::string by = i == 0 ? "operator" : "tokens/t" + std::to_string(i - 1);
    ASSERT_TRUE(ledger_
                    .Execute({CreateToken{.spec = spec}}, ++now_, Actor{.principal = by},
                             [](const Entry&) { return absl::OkStatus(); })
                    .ok());
  }
  const auto person = [&](size_t i) {
    return ledger_.PersonOf({"acme"}, "tokens/t" + std::to_string(i));
  };
  EXPECT_EQ(person(kMaxMakers + 2).makers.size(), kMaxMakers + 1);
  EXPECT_FALSE(AreTwoPeople(person(0), person(kMaxMakers + 2)));
  EXPECT_FALSE(AreTwoPeople(person(kMaxMakers + 2), {.principal = "alice", .makers = {}}));
  EXPECT_TRUE(AreTwoPeople(person(2), {.principal = "alice", .makers = {}}));
}

TEST_F(GuardedQuarantine, ATokenSaysWhoMadeItAsFarAsIsKnown) {
  const auto make = [&](const std::string& id, const std::string& by, Door door = Door::kGrpc) {
    TokenSpec spec{.id = id,
                   .tenant = "acme",
                   .role = Role::kAdmin,
                   .expire_time_micros = INT64_MAX,
                   .secret_hash = std::string(32, id[0])};
    return ledger_
        .Execute({CreateToken{.spec = spec}}, ++now_, Actor{.principal = by, .door = door},
                 [](const Entry&) { return absl::OkStatus(); })
        .ok();
  };
  ASSERT_TRUE(make("a", "operator") && make("b", "tokens/a") && make("c", "tokens/b"));
  EXPECT_THAT(ledger_.PersonOf({"acme"}, "tokens/c").makers,
              ElementsAre("tokens/b", "tokens/a", "operator"));
  EXPECT_THAT(ledger_.PersonOf({"rival"}, "tokens/c").makers, ElementsAre(kUnknownMaker));
  // The offline program makes everybody's tokens.
  ASSERT_TRUE(make("d", "epsledgerd token", Door::kOffline) &&
              make("e", "epsledgerd token", Door::kOffline) && make("f", "tokens/e"));
  EXPECT_THAT(ledger_.PersonOf({"acme"}, "tokens/d").makers, ElementsAre());
  EXPECT_TRUE(
      AreTwoPeople(ledger_.PersonOf({"acme"}, "tokens/d"), ledger_.PersonOf({"acme"}, "tokens/e")));
  EXPECT_FALSE(
      AreTwoPeople(ledger_.PersonOf({"acme"}, "tokens/e"), ledger_.PersonOf({"acme"}, "tokens/f")));
  EXPECT_THAT(ledger_.PersonOf({"acme"}, "a certificate").makers, ElementsAre());
}

}  // namespace
}  // namespace epsledger::core
