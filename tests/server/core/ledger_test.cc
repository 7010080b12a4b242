#include "server/core/ledger.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "accounting/event/validation.h"
#include "server/core/codec.h"
#include "server/core/limits.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::ApproximateDp;
using accounting::Gaussian;
using accounting::GaussianDp;
using accounting::MechanismEvent;
using accounting::NeighboringRelation;
using accounting::PureDp;
using ::testing::HasSubstr;

// Dyadic, so that sums are exact and "exactly full" means what it says.
constexpr double kStep = 1.0 / 128;
const SessionName kRun{.budget_id = "adult", .session_id = "run"};

class LedgerTest : public ::testing::Test {
 protected:
  // A budget "adult" of `steps` steps with an open session "run", attempt 1.
  void Open(int steps) {
    ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("adult", steps * kStep)}).ok());
    ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession("adult", "run")}).ok());
    ASSERT_TRUE(harness_.Run(OpenAttempt{kRun, "test"}).ok());
  }
  Cost Spent(const std::string& budget) {
    return harness_.ledger.FindBudget(budget)->balance.spent()[0];
  }
  bool Accepted(const std::string& charge_id, int64_t count = 1, int64_t attempt = 1) {
    return harness_.Decide(kRun, attempt, charge_id, PureDp{kStep}, count).row.decision ==
           ChargeDecision::kAccepted;
  }

  LedgerHarness harness_;
};

TEST_F(LedgerTest, AcceptsExactlyTheCapAndThenRefuses) {
  Open(100);
  int accepted = 0;
  for (int i = 0; i < 150; ++i) accepted += Accepted("step-" + std::to_string(i));
  EXPECT_EQ(accepted, 100);
  EXPECT_EQ(Spent("adult"), harness_.ledger.FindBudget("adult")->balance.filter().cells[0].cap);
}

TEST_F(LedgerTest, RefusalSaysWhichCapAndHowManyStepsWouldFit) {
  Open(10);
  ASSERT_TRUE(Accepted("a", 7));
  const ChargeRecord record = harness_.Decide(kRun, 1, "b", PureDp{kStep}, 4);
  ASSERT_EQ(record.row.decision, ChargeDecision::kRefused);
  const Refusal& refusal = *record.row.refusal;
  EXPECT_EQ(refusal.reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ(refusal.limiting_budget_id, "adult");
  EXPECT_EQ(refusal.limiting_session_id, "");
  EXPECT_EQ(refusal.spent, Cost::RoundUp(7 * kStep));
  EXPECT_EQ(refusal.requested, Cost::RoundUp(4 * kStep));
  EXPECT_EQ(refusal.steps_that_fit, 3);
  EXPECT_TRUE(Accepted("c", 3));
}

TEST_F(LedgerTest, SameKeyAHundredTimesChargesOnce) {
  Open(10);
  const ChargeRecord first = harness_.Decide(kRun, 1, "step", PureDp{kStep});
  const LedgerHead head = harness_.ledger.head();
  for (int i = 0; i < 100; ++i) {
    const ChargeRecord again = harness_.Decide(kRun, 1, "step", PureDp{kStep});
    EXPECT_EQ(again.sequence, first.sequence);
    EXPECT_EQ(again.time_micros, first.time_micros);
    EXPECT_EQ(again.row.decision, ChargeDecision::kAccepted);
  }
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(kStep));
  EXPECT_EQ(harness_.ledger.head(), head);
}

// Ids that come after all before them are known to be new without a look-up: never wrongly.
TEST_F(LedgerTest, KeysInAnyOrderChargeOnceInEachAttempt) {
  Open(100);
  const std::vector<std::string> ids = {"2", "10", "1", "a", "10-", "B", "9", "00", "11"};
  std::map<std::pair<int64_t, std::string>, int64_t> sequences;
  for (const int64_t attempt : {1, 2}) {
    if (attempt == 2) {
      ASSERT_TRUE(harness_.Run(OpenAttempt{kRun, ""}).ok());
    }
    for (const std::string& id : ids) {
      sequences[{attempt, id}] = harness_.Decide(kRun, attempt, id, PureDp{kStep}).sequence;
    }
    for (const auto& [key, sequence] : sequences) {
      EXPECT_EQ(harness_.Decide(kRun, key.first, key.second, PureDp{kStep}).sequence, sequence);
    }
  }
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(kStep).Times(2 * static_cast<int64_t>(ids.size())));
}

TEST_F(LedgerTest, SameKeyWithOtherContentNamesTheDifferenceAndChargesNothing) {
  Open(10);
  ASSERT_TRUE(Accepted("step"));
  const auto run = [&](MechanismEvent event, int64_t count) {
    return harness_
        .Run(Charge{.session = kRun, .attempt = 1, .items = {{"step", std::move(event), count}}})
        .status();
  };
  EXPECT_EQ(run(PureDp{kStep}, 2).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(run(PureDp{kStep}, 2).message()),
              HasSubstr("another count: got 2, stored 1"));
  EXPECT_THAT(std::string(run(PureDp{2 * kStep}, 1).message()), HasSubstr("another event"));
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(kStep));
}

TEST_F(LedgerTest, ARefusalIsStickyEvenWhenThereIsRoomAgainForIt) {
  Open(10);
  EXPECT_FALSE(Accepted("big", 11));
  EXPECT_FALSE(Accepted("big", 11));
  EXPECT_TRUE(Accepted("small", 10));
  EXPECT_FALSE(Accepted("big", 11));
}

TEST_F(LedgerTest, ANewAttemptFencesTheOneBefore) {
  Open(10);
  ASSERT_TRUE(Accepted("one"));
  ASSERT_TRUE(harness_.Run(OpenAttempt{kRun, "restarted"}).ok());
  // A stored key replays for ever; only a new key of the fenced attempt is refused.
  EXPECT_TRUE(Accepted("one", 1, 1));
  const ChargeRecord fenced = harness_.Decide(kRun, 1, "two", PureDp{kStep});
  EXPECT_EQ(fenced.row.decision, ChargeDecision::kRefused);
  EXPECT_EQ(fenced.row.refusal->reason, RefusalReason::kAttemptFenced);
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(kStep));
  // The same charge id in the new attempt is another key: fresh noise, charged again.
  EXPECT_TRUE(Accepted("one", 1, 2));
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(2 * kStep));
}

TEST_F(LedgerTest, AnAttemptThatWasNeverOpenedIsNotFound) {
  Open(10);
  for (int64_t attempt : {int64_t{0}, int64_t{-1}, int64_t{2}, int64_t{1} << 62}) {
    EXPECT_EQ(
        harness_.Run(Charge{.session = kRun, .attempt = attempt, .items = {{"x", PureDp{1}, 1}}})
            .status()
            .code(),
        absl::StatusCode::kNotFound);
  }
}

TEST_F(LedgerTest, AChargeEntersAllAncestorsOrNone) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("org", 5 * kStep)}).ok());
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("data", 100 * kStep, "org")}).ok());
  const SessionName run{.budget_id = "data", .session_id = "run"};
  ASSERT_TRUE(
      harness_.Run(CreateSession{AdaptiveSession("data", "run", PureEpsilonCap{50 * kStep})}).ok());
  ASSERT_TRUE(harness_.Run(OpenAttempt{run, ""}).ok());
  EXPECT_EQ(harness_.Decide(run, 1, "a", PureDp{kStep}, 4).row.decision, ChargeDecision::kAccepted);
  const ChargeRecord refused = harness_.Decide(run, 1, "b", PureDp{kStep}, 2);
  EXPECT_EQ(refused.row.refusal->limiting_budget_id, "org");
  EXPECT_EQ(refused.row.refusal->steps_that_fit, 1);
  for (const char* budget : {"org", "data"}) EXPECT_EQ(Spent(budget), Cost::RoundUp(4 * kStep));
  EXPECT_EQ(harness_.ledger.FindSession(run)->own_balance->spent()[0], Cost::RoundUp(4 * kStep));
}

TEST_F(LedgerTest, TwoSessionsShareOneCap) {
  Open(3);
  ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession("adult", "other")}).ok());
  const SessionName other{.budget_id = "adult", .session_id = "other"};
  ASSERT_TRUE(harness_.Run(OpenAttempt{other, ""}).ok());
  EXPECT_TRUE(Accepted("a", 2));
  EXPECT_EQ(harness_.Decide(other, 1, "a", PureDp{kStep}, 2).row.decision,
            ChargeDecision::kRefused);
  EXPECT_EQ(harness_.Decide(other, 1, "b", PureDp{kStep}, 1).row.decision,
            ChargeDecision::kAccepted);
}

TEST_F(LedgerTest, TheSessionsOwnCapRefusesFirst) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("adult", 100 * kStep)}).ok());
  ASSERT_TRUE(
      harness_.Run(CreateSession{AdaptiveSession("adult", "run", PureEpsilonCap{2 * kStep})}).ok());
  ASSERT_TRUE(harness_.Run(OpenAttempt{kRun, ""}).ok());
  const ChargeRecord refused = harness_.Decide(kRun, 1, "a", PureDp{kStep}, 3);
  EXPECT_EQ(refused.row.refusal->limiting_session_id, "run");
  EXPECT_EQ(refused.row.refusal->steps_that_fit, 2);
}

TEST_F(LedgerTest, AnEventWithoutACostInTheCurrencyIsRefusedNotGuessed) {
  Open(10);
  const ChargeRecord record = harness_.Decide(kRun, 1, "gauss", Gaussian{1000});
  EXPECT_EQ(record.row.decision, ChargeDecision::kRefused);
  EXPECT_EQ(record.row.refusal->reason, RefusalReason::kEventNotChargeable);
  EXPECT_EQ(record.row.refusal->steps_that_fit, 0);
  EXPECT_TRUE(Spent("adult").is_zero());
}

TEST_F(LedgerTest, HugeCountsSaturateAndAreRefused) {
  Open(10);
  EXPECT_FALSE(Accepted("huge", int64_t{1} << 53));
  EXPECT_FALSE(Accepted("largest", std::numeric_limits<int64_t>::max()));
  EXPECT_TRUE(Spent("adult").is_zero());
}

// More uses than a history can hold were added up past the end of 64 bits: the history then forgot
// the event, and a successor of the budget began with less than was spent.
TEST_F(LedgerTest, UsesOfOneEventAreCountedOrTheChargeIsAnError) {
  Open(100);
  const int64_t most = accounting::kMaxEventCount;
  const PureDp tiny{0x1p-64};
  const auto charge = [&](std::vector<ChargeItem> items) {
    return harness_.Run(Charge{.session = kRun, .attempt = 1, .items = std::move(items)}).status();
  };
  const LedgerHead head = harness_.ledger.head();
  EXPECT_EQ(charge({{"a", tiny, most}, {"b", tiny, 1}}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(harness_.ledger.head(), head);
  EXPECT_TRUE(charge({{"a", tiny, most - 1}, {"b", tiny, 1}}).ok());
  for (const int64_t count : {int64_t{1}, most, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(charge({{"c", tiny, count}}).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(harness_.PreviewOf(kRun, tiny, count).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(HistoryOf(*harness_.ledger.FindSession(kRun)).at(0).count, most);
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(0x1p-64).Times(most));
  EXPECT_TRUE(Accepted("another event"));
  // Nor does a replay take such a row.
  ChargeDecided forged{.session_number = 1,
                       .attempt = 1,
                       .charge_id = "forged",
                       .event_index = 0,
                       .count = 1,
                       .decision = ChargeDecision::kAccepted};
  EXPECT_EQ(harness_.ledger.Apply(harness_.ledger.Seal(forged, 1)).code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(LedgerTest, AnAllOrNothingBatchIsOneDecision) {
  Open(3);
  const auto batch = [&](BatchMode mode, std::vector<ChargeItem> items) {
    return std::get<ChargeOutcome>(
               harness_.Run(Charge{.session = kRun, .attempt = 1, .mode = mode, .items = items})
                   .value())
        .records;
  };
  auto records = batch(BatchMode::kAllOrNothing,
                       {{"a", PureDp{kStep}, 2}, {"b", PureDp{kStep}, 2}, {"c", PureDp{kStep}, 1}});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].row.refusal->reason, RefusalReason::kBatchRefused);
  EXPECT_EQ(records[1].row.refusal->reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ(records[2].row.refusal->reason, RefusalReason::kBatchRefused);
  EXPECT_TRUE(Spent("adult").is_zero());

  records = batch(BatchMode::kPerItem,
                  {{"d", PureDp{kStep}, 2}, {"e", PureDp{kStep}, 2}, {"f", PureDp{kStep}, 1}});
  EXPECT_EQ(records[0].row.decision, ChargeDecision::kAccepted);
  EXPECT_EQ(records[1].row.decision, ChargeDecision::kRefused);
  EXPECT_EQ(records[2].row.decision, ChargeDecision::kAccepted);
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(3 * kStep));
  // A refused item that is replayed refuses the new ones beside it.
  records = batch(BatchMode::kAllOrNothing, {{"e", PureDp{kStep}, 2}, {"g", PureDp{kStep}, 1}});
  EXPECT_EQ(records[1].row.refusal->reason, RefusalReason::kBatchRefused);
}

TEST_F(LedgerTest, ADeclaredPlanIsChargedOnceInFullAndStepsDrawTickets) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("adult", 10 * kStep)}).ok());
  const MechanismEvent event = PureDp{kStep};
  ASSERT_TRUE(harness_.Run(CreateSession{DeclaredSession("adult", "run", {{event, 6}})}).ok());
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(6 * kStep));
  ASSERT_TRUE(harness_.Run(OpenAttempt{kRun, ""}).ok());
  EXPECT_TRUE(Accepted("a", 4));
  const ChargeRecord refused = harness_.Decide(kRun, 1, "b", event, 3);
  EXPECT_EQ(refused.row.refusal->reason, RefusalReason::kNotInPlan);
  EXPECT_EQ(refused.row.refusal->steps_that_fit, 2);
  EXPECT_TRUE(Accepted("c", 2));
  EXPECT_EQ(harness_.Decide(kRun, 1, "d", PureDp{kStep / 2}).row.refusal->reason,
            RefusalReason::kNotInPlan);
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(6 * kStep));  // steps cost nothing more
  EXPECT_EQ(harness_.ledger.FindSession(kRun)->TicketsLeft(0), 0);
}

TEST_F(LedgerTest, APlanThatDoesNotFitMakesNoSessionAndIsRecorded) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("adult", 10 * kStep)}).ok());
  const absl::StatusOr<Outcome> outcome = harness_.Run(
      CreateSession{DeclaredSession("adult", "run", {{MechanismEvent(PureDp{kStep}), 11}})});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(std::get<SessionOutcome>(*outcome).refusal.has_value());
  EXPECT_EQ(harness_.ledger.FindSession(kRun), nullptr);
  EXPECT_TRUE(Spent("adult").is_zero());
  EXPECT_TRUE(std::holds_alternative<SessionRefused>(harness_.entries.back().body));
}

// 100 pure events of 0.01 compose to less than epsilon = 1 at a delta; a budget whose filter counts
// epsilon and delta takes the composed plan, not the sum.
TEST_F(LedgerTest, APlanEntersAnEpsilonDeltaBudgetAsOneMechanism) {
  BudgetSpec budget = PureBudget("adult", 1);
  budget.cap = ApproximateDpCap{
      .epsilon = 10, .delta = 1e-5, .filter = accounting::ApproximateDpFilter::kBasic};
  ASSERT_TRUE(harness_.Run(CreateBudget{budget}).ok());
  ASSERT_TRUE(harness_
                  .Run(CreateSession{
                      DeclaredSession("adult", "run", {{MechanismEvent(GaussianDp{0.1}), 100}})})
                  .ok());
  const Balance& balance = harness_.ledger.FindBudget("adult")->balance;
  // mu = 1 at delta 1e-6: epsilon 4.8922 (reference/gaussian_delta.csv has 4.377 at 1e-5).
  EXPECT_NEAR(balance.spent()[0].ToDoubleUp(), 4.8922, 0.01);
  EXPECT_GE(balance.spent()[1], Cost::RoundUp(1e-6));
}

TEST_F(LedgerTest, RelationAndUnitMustMatchTheParents) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("org", 1)}).ok());
  BudgetSpec child = PureBudget("data", 1, "org");
  child.relation = NeighboringRelation::kReplaceOne;
  EXPECT_EQ(harness_.Run(CreateBudget{child}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  child = PureBudget("data", 1, "org");
  child.privacy_unit = "household";
  EXPECT_EQ(harness_.Run(CreateBudget{child}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  SessionSpec session = AdaptiveSession("org", "run");
  session.relation = NeighboringRelation::kReplaceSpecial;
  EXPECT_EQ(harness_.Run(CreateSession{session}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(harness_.ledger.head().sequence, 1);
}

TEST_F(LedgerTest, TreesHaveALargestDepth) {
  ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("b1", 1)}).ok());
  for (int i = 2; i <= kMaxBudgetDepth; ++i) {
    ASSERT_TRUE(
        harness_
            .Run(CreateBudget{PureBudget("b" + std::to_string(i), 1, "b" + std::to_string(i - 1))})
            .ok());
  }
  EXPECT_EQ(
      harness_.Run(CreateBudget{PureBudget("deeper", 1, "b" + std::to_string(kMaxBudgetDepth))})
          .status()
          .code(),
      absl::StatusCode::kFailedPrecondition);
}

TEST_F(LedgerTest, CreatingAgainWithTheSameContentChangesNothing) {
  Open(10);
  const LedgerHead head = harness_.ledger.head();
  const auto budget = harness_.Run(CreateBudget{PureBudget("adult", 10 * kStep)});
  ASSERT_TRUE(budget.ok());
  EXPECT_FALSE(std::get<BudgetOutcome>(*budget).created);
  EXPECT_EQ(harness_.ledger.head(), head);
  EXPECT_EQ(harness_.Run(CreateBudget{PureBudget("adult", 11 * kStep)}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(
      std::string(harness_.Run(CreateSession{AdaptiveSession("adult", "run", PureEpsilonCap{1})})
                      .status()
                      .message()),
      HasSubstr("another ownCap"));
}

TEST_F(LedgerTest, ValidateOnlyWritesNothing) {
  Open(10);
  const LedgerHead head = harness_.ledger.head();
  const absl::StatusOr<Outcome> outcome = harness_.Run(
      Command{.validate_only = true, .body = CreateBudget{PureBudget("child", 1, "adult")}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(harness_.ledger.head(), head);
  EXPECT_EQ(harness_.ledger.FindBudget("child"), nullptr);
}

TEST_F(LedgerTest, PreviewTellsWithoutCharging) {
  Open(10);
  const LedgerHead head = harness_.ledger.head();
  const absl::StatusOr<Preview> fits = harness_.PreviewOf(kRun, PureDp{kStep}, 10);
  EXPECT_FALSE(fits->refusal.has_value());
  EXPECT_EQ(fits->steps_that_fit, 10);
  const absl::StatusOr<Preview> not_fits = harness_.PreviewOf(kRun, PureDp{kStep}, 11);
  EXPECT_TRUE(not_fits->refusal.has_value());
  EXPECT_EQ(not_fits->steps_that_fit, 10);
  EXPECT_EQ(harness_.ledger.head(), head);
}

TEST_F(LedgerTest, ReplayRejectsWhatWasTamperedWith) {
  Open(10);
  ASSERT_TRUE(Accepted("a", 3));
  ASSERT_TRUE(Accepted("b", 3));
  const std::vector<Entry>& entries = harness_.entries;
  for (size_t bad = 0; bad < entries.size(); ++bad) {
    Ledger replay;
    for (size_t i = 0; i < bad; ++i) ASSERT_TRUE(replay.Apply(entries[i]).ok());
    Entry tampered = entries[bad];
    tampered.content.back() = static_cast<char>(tampered.content.back() ^ 1);
    EXPECT_EQ(replay.Apply(tampered).code(), absl::StatusCode::kDataLoss) << bad;
    if (bad + 1 < entries.size()) {
      EXPECT_EQ(replay.Apply(entries[bad + 1]).code(), absl::StatusCode::kDataLoss) << bad;
    }
    EXPECT_EQ(replay.head().sequence, static_cast<int64_t>(bad));
  }
}

// A chain can be forged by whoever writes the file; a cap still cannot be exceeded unnoticed.
TEST_F(LedgerTest, ReplayRejectsAWellFormedEntryBeyondTheCap) {
  Open(10);
  ASSERT_TRUE(Accepted("a", 10));
  ChargeDecided forged = std::get<ChargeDecided>(harness_.entries.back().body);
  forged.charge_id = "forged";
  const Entry entry = harness_.ledger.Seal(forged, 1);
  EXPECT_EQ(harness_.ledger.Apply(entry).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Spent("adult"), Cost::RoundUp(10 * kStep));
}

// Rows whose hashes follow and that no ledger ever wrote. Each hung or crashed a replay.
TEST_F(LedgerTest, ReplayRejectsBudgetsWithoutANameAndSessionsOfTwoModes) {
  const CellFilter filter{.cells = {Cell{.cap = Cost::RoundDown(1)}}};
  Ledger empty;
  const BudgetCreated nameless_root{.spec = PureBudget("", 1), .filter = filter};
  EXPECT_EQ(empty.Apply(empty.Seal(nameless_root, 1)).code(), absl::StatusCode::kDataLoss);
  Open(10);
  const auto rejected = [&](EntryBody body) {
    const LedgerHead head = harness_.ledger.head();
    const absl::Status status = harness_.ledger.Apply(harness_.ledger.Seal(std::move(body), 1));
    return status.code() == absl::StatusCode::kDataLoss && harness_.ledger.head() == head;
  };
  EXPECT_TRUE(rejected(BudgetCreated{.spec = PureBudget("", 1, "adult"), .filter = filter}));
  EXPECT_TRUE(rejected(BudgetSuperseded{.budget_id = "adult",
                                        .successor = PureBudget("", 1),
                                        .filter = filter,
                                        .carried = {Cost()}}));
  SessionCreated declared{
      .spec = DeclaredSession("adult", "two", {{MechanismEvent(PureDp{kStep}), 1}}),
      .session_number = 2,
      .own_filter = filter,
      .plan_charge = PlanCharge{.costs = {{Cost()}}}};
  EXPECT_TRUE(rejected(declared));
  SessionCreated adaptive{.spec = declared.spec, .session_number = 2};
  adaptive.spec.mode = SessionMode::kAdaptive;
  EXPECT_TRUE(rejected(adaptive)) << "its planned events have no price";
}

}  // namespace
}  // namespace epsledger::core
