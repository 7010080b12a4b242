// Runs as published: budgets that promise nothing, sessions whose claim is not proven, and what
// audits found.

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/describe.h"
#include "server/core/limits.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

BudgetSpec NoGuaranteeBudget(const std::string& id, const std::string& parent = "") {
  return {.id = id, .parent_id = parent, .cap = NoGuaranteeCap{}, .privacy_unit = "person"};
}

SessionSpec AsPublished(const std::string& budget, ClaimStatus status) {
  SessionSpec spec = AdaptiveSession(budget, "s");
  spec.claim = Claim{.status = status, .epsilon = 1, .delta = 1e-5, .source = "Theorem 3.3"};
  return spec;
}

class AsPublishedTest : public ::testing::Test {
 protected:
  // A session of that claim with an attempt.
  void Open(const BudgetSpec& budget, ClaimStatus status) {
    ASSERT_TRUE(harness_.Run(CreateBudget{budget}).ok());
    ASSERT_TRUE(harness_.Run(CreateSession{AsPublished(budget.id, status)}).ok());
    session_ = {budget.id, "s"};
    ASSERT_TRUE(harness_.Run(OpenAttempt{session_, "", {}}).ok());
  }
  ChargeRecord Charge(const std::string& id, accounting::MechanismEvent event, int64_t count = 1) {
    return harness_.Decide(session_, 1, id, std::move(event), count);
  }

  LedgerHarness harness_;
  SessionName session_;
};

TEST_F(AsPublishedTest, ABudgetWithoutAGuaranteeTakesEverythingAndSpendsNothing) {
  Open(NoGuaranteeBudget("b"), ClaimStatus::kNotProven);
  EXPECT_EQ(Charge("start", accounting::NonPrivate{"as published"}).row.decision,
            ChargeDecision::kAccepted);
  EXPECT_EQ(Charge("steps", accounting::Gaussian{0.01}, 1'000'000).row.decision,
            ChargeDecision::kAccepted);
  const BudgetState& budget = *harness_.ledger.FindBudget("b");
  EXPECT_EQ(budget.accepted_charge_count, 2);
  EXPECT_EQ(budget.balance.SpentFraction(), 0);
  ASSERT_EQ(budget.balance.filter().cells.size(), 1u);
  EXPECT_EQ(budget.balance.filter().cells[0].quantity, accounting::CellQuantity::kNoGuarantee);
  EXPECT_THAT(budget.balance.filter().theorem, HasSubstr("promises nothing"));
  EXPECT_EQ(Describe(budget.spec.cap), "no guarantee");
  // The history keeps it, so that every accountant answers infinity.
  const auto history = HistoryOf(*harness_.ledger.FindSession(session_));
  ASSERT_EQ(history.size(), 2u);
  EXPECT_NE(history[0].event->As<accounting::NonPrivate>(), nullptr);
}

TEST_F(AsPublishedTest, EveryCapRefusesANonPrivateEvent) {
  const auto orders = accounting::ApproximateDpFilter::kRenyiOrders;
  const auto basic = accounting::ApproximateDpFilter::kBasic;
  int number = 0;
  for (const Cap& cap : {Cap(PureEpsilonCap{1e6}), Cap(ApproximateDpCap{1e6, 0.5, orders}),
                         Cap(ApproximateDpCap{1e6, 0.5, basic}), Cap(ZcdpCap{1e6}),
                         Cap(GaussianDpCap{1e6}), Cap(RenyiCap{2, 1e6})}) {
    LedgerHarness harness;
    const std::string id = "b" + std::to_string(number++);
    ASSERT_TRUE(harness.Run(CreateBudget{{.id = id, .cap = cap, .privacy_unit = "person"}}).ok());
    ASSERT_TRUE(harness.Run(CreateSession{AsPublished(id, ClaimStatus::kNotProven)}).ok());
    ASSERT_TRUE(harness.Run(OpenAttempt{{id, "s"}, "", {}}).ok());
    const ChargeRecord record = harness.Decide({id, "s"}, 1, "c", accounting::NonPrivate{"x"});
    EXPECT_EQ(record.row.decision, ChargeDecision::kRefused) << Describe(cap);
    EXPECT_EQ(record.row.refusal->reason, RefusalReason::kEventNotChargeable) << Describe(cap);
  }
}

TEST_F(AsPublishedTest, BudgetsAboveKeepTheirCaps) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("root", 10)}).ok());
  Open(NoGuaranteeBudget("b", "root"), ClaimStatus::kNotProven);
  const ChargeRecord record = Charge("start", accounting::NonPrivate{"as published"});
  EXPECT_EQ(record.row.decision, ChargeDecision::kRefused);
  EXPECT_EQ(record.row.refusal->limiting_budget_id, "root");
  // A proven session of the same budget is held to the cap above, and to nothing else.
  ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession("b", "proven")}).ok());
  ASSERT_TRUE(harness_.Run(OpenAttempt{{"b", "proven"}, "", {}}).ok());
  EXPECT_EQ(harness_.Decide({"b", "proven"}, 1, "a", accounting::PureDp{10}).row.decision,
            ChargeDecision::kAccepted);
  EXPECT_EQ(harness_.Decide({"b", "proven"}, 1, "b", accounting::PureDp{1}).row.decision,
            ChargeDecision::kRefused);
}

TEST_F(AsPublishedTest, NothingIsChargedBeforeTheNonPrivateEvent) {
  for (const ClaimStatus status : {ClaimStatus::kNotProven, ClaimStatus::kCounterexampleKnown}) {
    harness_ = LedgerHarness();
    Open(NoGuaranteeBudget("b"), status);
    const ChargeRecord early = Charge("early", accounting::Gaussian{4});
    EXPECT_EQ(early.row.decision, ChargeDecision::kRefused);
    EXPECT_EQ(early.row.refusal->reason, RefusalReason::kPolicyViolation);
    EXPECT_THAT(early.row.refusal->remedy, HasSubstr("as published; claimed guarantee not proven"));
    EXPECT_EQ(early.row.refusal->remedy.find("counterexample_known") != std::string::npos,
              status == ClaimStatus::kCounterexampleKnown);
    EXPECT_EQ(harness_.PreviewOf(session_, accounting::Gaussian{4}, 1)->refusal->reason,
              RefusalReason::kPolicyViolation);
    EXPECT_FALSE(harness_.PreviewOf(session_, accounting::NonPrivate{"x"}, 1)->refusal.has_value());
    EXPECT_EQ(Charge("start", accounting::NonPrivate{"x"}).row.decision, ChargeDecision::kAccepted);
    EXPECT_EQ(Charge("step", accounting::Gaussian{4}).row.decision, ChargeDecision::kAccepted);
    // The outcome of a key is for ever.
    EXPECT_EQ(Charge("early", accounting::Gaussian{4}).row.decision, ChargeDecision::kRefused);
  }
}

TEST_F(AsPublishedTest, ABatchMayStartWithTheNonPrivateEvent) {
  Open(NoGuaranteeBudget("b"), ClaimStatus::kCounterexampleKnown);
  const absl::StatusOr<Outcome> outcome = harness_.Run(
      core::Charge{.session = session_,
                   .attempt = 1,
                   .mode = BatchMode::kPerItem,
                   .items = {{.charge_id = "a", .event = accounting::Gaussian{4}, .count = 1},
                             {.charge_id = "b", .event = accounting::NonPrivate{"x"}, .count = 1},
                             {.charge_id = "c", .event = accounting::Gaussian{4}, .count = 1}}});
  const auto& records = std::get<ChargeOutcome>(outcome.value()).records;
  EXPECT_EQ(records[0].row.decision, ChargeDecision::kRefused);
  EXPECT_EQ(records[1].row.decision, ChargeDecision::kAccepted);
  EXPECT_EQ(records[2].row.decision, ChargeDecision::kAccepted);
}

TEST_F(AsPublishedTest, AProvenSessionNeedsNoSuchEvent) {
  Open(NoGuaranteeBudget("b"), ClaimStatus::kProven);
  EXPECT_EQ(Charge("step", accounting::Gaussian{4}).row.decision, ChargeDecision::kAccepted);
}

TEST_F(AsPublishedTest, WhatIsNotProvenHasNoPlanAndNoCapOfItsOwn) {
  ASSERT_TRUE(harness_.Run(CreateBudget{NoGuaranteeBudget("b")}).ok());
  const accounting::MechanismEvent gaussian = accounting::Gaussian{4};
  SessionSpec declared = DeclaredSession("b", "d", {{gaussian, 1}});
  EXPECT_TRUE(harness_.Run(CreateSession{declared}).ok());
  declared.id = "unproven";
  declared.claim = Claim{.status = ClaimStatus::kNotProven};
  absl::Status status = harness_.Run(CreateSession{declared}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("session.mode: got DECLARED"));
  const accounting::MechanismEvent nothing = accounting::NonPrivate{"x"};
  status = harness_.Run(CreateSession{DeclaredSession("b", "infinite", {{nothing, 1}})}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no finite epsilon"));
  status = harness_.Run(CreateSession{AdaptiveSession("b", "own", Cap(NoGuaranteeCap{}))}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("session.ownCap: got noGuarantee"));
}

TEST_F(AsPublishedTest, APromiseIsNeverReplacedByNone) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("b", 1)}).ok());
  const absl::Status status =
      harness_.Run(SupersedeBudget{"b", "c", NoGuaranteeCap{}, "x"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cap: got noGuarantee"));
}

TEST_F(AsPublishedTest, NothingUnprovenIsCarriedIntoAPromise) {
  Open(NoGuaranteeBudget("b"), ClaimStatus::kNotProven);
  Charge("start", accounting::NonPrivate{"x"});
  EXPECT_EQ(harness_.Run(SupersedeBudget{"b", "c", PureEpsilonCap{1e9}, "x"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

AuditRecord Found(double epsilon) {
  return {.method = accounting::AuditMethod::kTwoArmGdp,
          .hypothesis = accounting::AuditHypothesis::kGaussianTradeOff,
          .epsilon_lower = epsilon,
          .delta = 1e-5,
          .confidence = 0.95,
          .trials = 20000,
          .mu_lower = 0.5,
          .source = "a\nb"};
}

TEST_F(AsPublishedTest, AuditsAreEntriesAndTheNewestStay) {
  Open(NoGuaranteeBudget("b"), ClaimStatus::kNotProven);
  ASSERT_TRUE(harness_.Run(CloseSession{session_, "done"}).ok());
  for (int i = 0; i < kMaxShownAudits + 5; ++i) {
    ASSERT_TRUE(harness_.Run(RecordAudit{session_, Found(i)}).ok()) << i;
    // Once more changes nothing.
    const size_t entries = harness_.entries.size();
    ASSERT_TRUE(harness_.Run(RecordAudit{session_, Found(i)}).ok()) << i;
    EXPECT_EQ(harness_.entries.size(), entries);
  }
  const SessionState& session = *harness_.ledger.FindSession(session_);
  EXPECT_EQ(session.audit_count, kMaxShownAudits + 5);
  ASSERT_EQ(static_cast<int64_t>(session.audits.size()), kMaxShownAudits);
  EXPECT_EQ(session.audits.front().audit.epsilon_lower, 5);
  EXPECT_EQ(session.audits.back().sequence, harness_.ledger.head().sequence);
  EXPECT_EQ(Describe(harness_.entries.back().body, harness_.ledger),
            "b/s audited: epsilon is at least 104 at delta 1e-05, confidence 0.95 (TWO_ARM_GDP, "
            "20000 trials), if the trade-off function is Gaussian: \"a\\nb\"");
  EXPECT_EQ(harness_.Run(RecordAudit{{"b", "nobody"}, Found(1)}).status().code(),
            absl::StatusCode::kNotFound);

  // A restart gives the same state, hash for hash.
  LedgerHarness restarted;
  for (const Entry& entry : harness_.entries) ASSERT_TRUE(restarted.Restore(entry));
  EXPECT_EQ(restarted.ledger.head(), harness_.ledger.head());
  EXPECT_EQ(restarted.ledger.FindSession(session_)->audit_count, kMaxShownAudits + 5);
  EXPECT_EQ(restarted.ledger.FindSession(session_)->audits.back().audit.source, "a\nb");
}

TEST(Claims, HaveTheirLabelsVerbatim) {
  EXPECT_STREQ(LabelOf(ClaimStatus::kProven), "proven");
  EXPECT_STREQ(LabelOf(ClaimStatus::kNotProven), "as published; claimed guarantee not proven");
  EXPECT_STREQ(LabelOf(ClaimStatus::kCounterexampleKnown),
               "as published; claimed guarantee not proven");
  EXPECT_EQ(LabelAndFlag(ClaimStatus::kNotProven), "as published; claimed guarantee not proven");
  EXPECT_EQ(LabelAndFlag(ClaimStatus::kCounterexampleKnown),
            "as published; claimed guarantee not proven (counterexample_known)");
  EXPECT_FALSE(IsUnproven(std::nullopt));
  EXPECT_FALSE(IsUnproven(Claim{}));
  EXPECT_TRUE(IsUnproven(Claim{.status = ClaimStatus::kNotProven}));
}

TEST(Claims, AreExceededOnlyWhereTheyAreClaimed) {
  AuditRecord audit = Found(1.5);
  EXPECT_FALSE(ExceedsClaim(audit, std::nullopt));
  audit.claimed_epsilon = 1.5;
  EXPECT_FALSE(ExceedsClaim(audit, std::nullopt));
  audit.claimed_epsilon = 1.4;
  EXPECT_TRUE(ExceedsClaim(audit, std::nullopt));
  audit.claimed_epsilon.reset();
  EXPECT_TRUE(ExceedsClaim(audit, Claim{.epsilon = 1, .delta = 1e-6}));
  // Claimed at a larger delta: nothing is said of this one.
  EXPECT_FALSE(ExceedsClaim(audit, Claim{.epsilon = 1, .delta = 1e-4}));
  EXPECT_FALSE(ExceedsClaim(audit, Claim{.epsilon = kInfinity, .delta = 1e-6}));
}

}  // namespace
}  // namespace epsledger::core
