// What a refused charge leaves behind: a row, and nothing of the event that its sender chose.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>
#include <utility>
#include <vector>

#include "server/core/codec.h"
#include "server/core/limits.h"
#include "server/core/sha256.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::MechanismEvent;
using accounting::PureDp;
using ::testing::HasSubstr;

constexpr double kRefusedStep = 1.0 / 128;
const SessionName kRefusedRun{.budget_id = "adult", .session_id = "run"};

class RefusedCharges : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget("adult", 4 * kRefusedStep)}).ok());
    ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession("adult", "run")}).ok());
    ASSERT_TRUE(harness_.Run(OpenAttempt{kRefusedRun, "test"}).ok());
  }
  const SessionState& session() const { return *harness_.ledger.FindSession(kRefusedRun); }
  template <class Body>
  size_t Count() const {
    size_t count = 0;
    for (const Entry& entry : harness_.entries) count += std::holds_alternative<Body>(entry.body);
    return count;
  }
  // Every entry follows from those before it, and gives the same state.
  void ExpectRestartable() const {
    LedgerHarness restarted;
    for (const Entry& entry : harness_.entries) ASSERT_TRUE(restarted.Restore(entry));
    const SessionState& again = *restarted.ledger.FindSession(kRefusedRun);
    EXPECT_EQ(again.events.size(), session().events.size());
    EXPECT_EQ(again.event_bytes, session().event_bytes);
    EXPECT_EQ(again.refused_charge_count, session().refused_charge_count);
    EXPECT_EQ(again.last_charge_id, session().last_charge_id);
    EXPECT_EQ(restarted.ledger.FindBudget("adult")->recent_refusals.size(),
              harness_.ledger.FindBudget("adult")->recent_refusals.size());
  }

  LedgerHarness harness_;
};

TEST_F(RefusedCharges, LeaveADigestAndWordsInTheLedgerAndNothingInTheSession) {
  for (int i = 0; i < 20; ++i) {
    const MechanismEvent event = PureDp{1.0 + i};
    const ChargeRecord refused = harness_.Decide(kRefusedRun, 1, std::to_string(i), event);
    EXPECT_EQ(refused.row.refusal->reason, RefusalReason::kBudgetExhausted);
    const auto& row = std::get<ChargeRefused>(harness_.entries.back().body);
    EXPECT_EQ(row.event.digest, BytesOf(Sha256({EncodeEvent(event)})));
    EXPECT_EQ(row.event.words, accounting::Describe(event));
    EXPECT_FALSE(harness_.ledger.ToRecord(harness_.entries.back())->event.has_value());
  }
  EXPECT_EQ(Count<EventPriced>(), 0u);
  EXPECT_TRUE(session().events.empty());
  EXPECT_EQ(session().event_bytes, 0);
  EXPECT_EQ(session().refused_charge_count, 20);
  ExpectRestartable();
}

TEST_F(RefusedCharges, OfAKnownEventNameIt) {
  ASSERT_FALSE(harness_.Decide(kRefusedRun, 1, "a", PureDp{kRefusedStep}).row.refusal.has_value());
  EXPECT_TRUE(
      harness_.Decide(kRefusedRun, 1, "b", PureDp{kRefusedStep}, 4).row.refusal.has_value());
  EXPECT_EQ(std::get<ChargeDecided>(harness_.entries.back().body).event_index, 0);
  EXPECT_TRUE(*harness_.ledger.ToRecord(harness_.entries.back())->event == PureDp{kRefusedStep});
}

TEST_F(RefusedCharges, AreTheSameWhenTheyAreRepeated) {
  const MechanismEvent event = PureDp{1};
  const ChargeRecord first = harness_.Decide(kRefusedRun, 1, "a", event, 3);
  const LedgerHead head = harness_.ledger.head();
  const ChargeRecord again = harness_.Decide(kRefusedRun, 1, "a", event, 3);
  EXPECT_EQ(harness_.ledger.head(), head);
  EXPECT_EQ(again.sequence, first.sequence);
  EXPECT_EQ(again.row.refusal->requested, first.row.refusal->requested);
  EXPECT_TRUE(*again.event == *first.event);
  EXPECT_EQ(again.outline->digest, first.outline->digest);
  const auto repeat = [&](double epsilon, int64_t count) {
    return harness_
        .Run(Charge{.session = kRefusedRun, .attempt = 1, .items = {{"a", PureDp{epsilon}, count}}})
        .status();
  };
  EXPECT_EQ(repeat(2, 3).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(repeat(2, 3).message()),
              AllOf(HasSubstr("another event"), HasSubstr("pureDp{epsilon: 2}"),
                    HasSubstr("pureDp{epsilon: 1}")));
  EXPECT_EQ(repeat(1, 2).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(harness_.ledger.head(), head);
}

// Whatever the event would cost: nobody computes it.
TEST_F(RefusedCharges, OfAFencedAttemptOrABlockedBudgetAreNotPriced) {
  ASSERT_TRUE(harness_.Run(OpenAttempt{kRefusedRun, "second"}).ok());
  const auto decided_at_once = [&](int64_t attempt) {
    const absl::StatusOr<Outcome> outcome =
        harness_.Once({.body = Charge{.session = kRefusedRun,
                                      .attempt = attempt,
                                      .items = {{"a", PureDp{kRefusedStep}, 1}}}});
    const auto* charged = std::get_if<ChargeOutcome>(&*outcome);
    return charged == nullptr ? RefusalReason::kNotInPlan : charged->records[0].row.refusal->reason;
  };
  EXPECT_EQ(decided_at_once(1), RefusalReason::kAttemptFenced);
  ASSERT_TRUE(
      harness_.Run(ChangeBudgetPhase{"adult", BudgetPhase::kFrozen, "because"}).status().ok());
  EXPECT_EQ(decided_at_once(2), RefusalReason::kBudgetFrozen);
  EXPECT_TRUE(session().events.empty());
  ExpectRestartable();
}

TEST_F(RefusedCharges, LeaveNoGapAmongTheEventsOfABatch) {
  const auto outcome = harness_.Run(Charge{.session = kRefusedRun,
                                           .attempt = 1,
                                           .mode = BatchMode::kPerItem,
                                           .items = {{"a", PureDp{1}, 1},
                                                     {"b", PureDp{kRefusedStep}, 1},
                                                     {"c", PureDp{1}, 2},
                                                     {"d", PureDp{2 * kRefusedStep}, 1},
                                                     {"e", PureDp{kRefusedStep}, 2}}});
  const auto& records = std::get<ChargeOutcome>(*outcome).records;
  const std::vector<int64_t> places = {kNotHeld, 0, kNotHeld, 1, 0};
  for (size_t i = 0; i < places.size(); ++i) EXPECT_EQ(records[i].row.event_index, places[i]) << i;
  EXPECT_TRUE(records[4].row.refusal.has_value());
  ASSERT_EQ(session().events.size(), 2u);
  EXPECT_TRUE(*session().events[0].event == PureDp{kRefusedStep});
  EXPECT_EQ(session().events[0].accepted_count, 1);
  EXPECT_TRUE(*session().events[1].event == PureDp{2 * kRefusedStep});
  EXPECT_EQ(Count<ChargeRefused>(), 2u);
  ExpectRestartable();
}

TEST_F(RefusedCharges, OfALargeEventAreALineForPeople) {
  accounting::Composed composed;
  for (int i = 0; i < 1'000; ++i) composed.events.push_back({MechanismEvent(PureDp{1.0 + i}), 1});
  const MechanismEvent event(std::move(composed));
  const size_t bytes = EncodeEvent(event).size();
  ASSERT_TRUE(harness_.Decide(kRefusedRun, 1, "a", event).row.refusal.has_value());
  const auto& row = std::get<ChargeRefused>(harness_.entries.back().body);
  EXPECT_EQ(row.event.words, "composed of " + std::to_string(bytes) + " bytes");
  EXPECT_LT(harness_.entries.back().content.size(), 500u);
  // Text of the client's is cut between characters.
  int cut = 0;
  for (size_t length = 150; length < 180; ++length) {
    std::string text(length, 'x');
    for (int i = 0; i < 20; ++i) text += "\u00e9";
    const MechanismEvent one(accounting::NonPrivate{std::move(text)});
    ASSERT_TRUE(
        harness_.Decide(kRefusedRun, 1, std::to_string(length), one).row.refusal.has_value());
    const std::string& words = std::get<ChargeRefused>(harness_.entries.back().body).event.words;
    EXPECT_LE(words.size(), kMaxEventWordsBytes);
    const std::string whole = accounting::Describe(one);
    if (words == whole) continue;
    ++cut;
    const std::string kept = words.substr(0, words.size() - 3);
    ASSERT_EQ(whole.substr(0, kept.size()), kept);
    EXPECT_NE(static_cast<unsigned char>(whole[kept.size()]) & 0xC0, 0x80) << words;
  }
  EXPECT_GT(cut, 10);
}

TEST_F(RefusedCharges, AForgedRowIsNoRow) {
  const auto take = [&](ChargeRefused row) {
    return harness_.ledger.Apply(harness_.ledger.Seal(std::move(row), 1)).code();
  };
  const ChargeRefused good{.session_number = 1,
                           .attempt = 1,
                           .charge_id = "a",
                           .event = {.digest = std::string(32, 'x'), .words = "?"},
                           .count = 1};
  for (const auto& spoil : std::vector<void (*)(ChargeRefused&)>{
           [](ChargeRefused& row) { row.session_number = 2; },
           [](ChargeRefused& row) { row.attempt = 2; }, [](ChargeRefused& row) { row.attempt = 0; },
           [](ChargeRefused& row) { row.count = 0; },
           [](ChargeRefused& row) { row.event.digest.pop_back(); }}) {
    ChargeRefused bad = good;
    spoil(bad);
    EXPECT_EQ(take(bad), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(take(good), absl::StatusCode::kOk);
}

TEST_F(RefusedCharges, ASessionHoldsEventsOfSoManyBytes) {
  harness_ = LedgerHarness();
  BudgetSpec spec = PureBudget("large", 1);
  spec.cap = RenyiCap{.order = 2, .divergence = 1e9};
  ASSERT_TRUE(harness_.Run(CreateBudget{spec}).ok());
  ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession("large", "s")}).ok());
  const SessionName name{"large", "s"};
  ASSERT_TRUE(harness_.Run(OpenAttempt{name, "test"}).ok());
  const auto large = [](int i) {
    accounting::Composed composed;
    for (int k = 0; k < 9'900; ++k) {
      composed.events.push_back({MechanismEvent(accounting::Gaussian{100.0 + i}), 1 + k});
    }
    return MechanismEvent(std::move(composed));
  };
  const auto bytes = static_cast<int64_t>(EncodeEvent(large(0)).size());
  const auto charge = [&](int i) {
    return harness_
        .Run(Charge{.session = name, .attempt = 1, .items = {{std::to_string(i), large(i), 1}}})
        .status();
  };
  int held = 0;
  while (harness_.ledger.FindSession(name)->event_bytes + bytes <= kMaxEventBytes) {
    ASSERT_TRUE(charge(held++).ok());
  }
  EXPECT_EQ(harness_.ledger.FindSession(name)->event_bytes, held * bytes);
  const absl::Status full = charge(held);
  EXPECT_EQ(full.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(full.message()), HasSubstr("budgets/large/sessions/s holds distinct"));
  EXPECT_FALSE(harness_.Decide(name, 1, "known", large(0)).row.refusal.has_value());
}

}  // namespace
}  // namespace epsledger::core
