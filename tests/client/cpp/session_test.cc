#include "epsledger/session.h"

#include <sys/wait.h>
#include <unistd.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "epsledger/client.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A clock that stands still but for what is slept, so that no test waits.
struct FakeClock {
  std::chrono::steady_clock::time_point now;
  std::vector<std::chrono::nanoseconds> sleeps;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.address = ledger_.address();
    options_.retry.max_tries = 4;
    options_.retry.sleep = [this](std::chrono::nanoseconds duration) {
      clock_.sleeps.push_back(duration);
      clock_.now += duration;
    };
    options_.retry.now = [this] { return clock_.now; };
  }

  Session Open() {
    auto client = Client::Connect(options_);
    EXPECT_TRUE(client.ok()) << client.status();
    SessionOptions session{.budget = "adult", .session = "run-1"};
    session.create = NewSession{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                                .no_own_cap = true};
    auto opened = client->OpenSession(session);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  // The keys that the server was asked for, one entry a try.
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const v1::ChargeRequest& request : ledger_.charge_requests()) {
      keys.push_back(request.charge_id());
    }
    return keys;
  }

  FakeLedger ledger_;
  FakeClock clock_;
  ClientOptions options_;
  const Mechanism gaussian_ = Mechanism::Gaussian(1.5);
};

TEST_F(SessionTest, AcceptedChargeGivesAPermitForThatCharge) {
  Session session = Open();
  absl::StatusOr<Permit> permit = session.Charge(gaussian_, 3);
  ASSERT_TRUE(permit.ok()) << permit.status();
  EXPECT_EQ(permit->charge_name(), "budgets/adult/sessions/run-1/attempts/1/charges/step-1");
  EXPECT_EQ(permit->sequence(), 1);
  EXPECT_EQ(permit->mechanism(), gaussian_);
  EXPECT_EQ(permit->uses_left(), 3);
  EXPECT_EQ(ledger_.spent(), 3);
}

TEST_F(SessionTest, EveryChargeHasItsOwnKey) {
  Session session = Open();
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(session.Charge(gaussian_).ok());
  EXPECT_THAT(Keys(), ElementsAre("step-1", "step-2", "step-3"));
}

TEST_F(SessionTest, KeysAreUniqueAmongThreads) {
  Session session = Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 20; ++step) EXPECT_TRUE(session.Charge(gaussian_).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> keys = Keys();
  EXPECT_EQ(keys.size(), 160);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 160);
  EXPECT_EQ(ledger_.spent(), 160);
}

TEST_F(SessionTest, SettlingIsTriedAgainWithTheSameCount) {
  Session session = Open();
  absl::StatusOr<Lease> lease = session.AcquireLease(gaussian_, 5, std::chrono::seconds(60));
  ASSERT_TRUE(lease.ok()) << lease.status();
  ASSERT_TRUE(lease->Take().ok());
  ledger_.Script({Fault::kUnavailable, Fault::kCommitThenUnavailable});
  ASSERT_TRUE(lease->Settle().ok());
  ASSERT_EQ(ledger_.settle_requests().size(), 3);
  for (const v1::SettleLeaseRequest& request : ledger_.settle_requests()) {
    EXPECT_EQ(request.used_count(), 1);
  }
}

TEST_F(SessionTest, ALeaseThatCouldNotBeSettledGivesNoMorePermitsAndCanBeSettledLater) {
  Session session = Open();
  {
    absl::StatusOr<Lease> lease = session.AcquireLease(gaussian_, 5, std::chrono::seconds(60));
    ASSERT_TRUE(lease.ok()) << lease.status();
    ASSERT_TRUE(lease->Take().ok());
    ledger_.Script(std::vector<Fault>(4, Fault::kUnavailable));
    EXPECT_EQ(lease->Settle().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(lease->Take().status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(lease->Settle().ok());
  }
  EXPECT_EQ(ledger_.settle_requests().size(), 5);  // the destructor had nothing to do
  EXPECT_EQ(ledger_.spent(), 5);
}

TEST_F(SessionTest, ADroppedLeaseIsSettledWithOneTry) {
  Session session = Open();
  ledger_.Script({Fault::kUnavailable});
  {
    const absl::StatusOr<Lease> lease =
        session.AcquireLease(gaussian_, 5, std::chrono::seconds(60));
  }
  EXPECT_EQ(ledger_.settle_requests().size(), 1);
  EXPECT_EQ(ledger_.spent(), 5);
}

class LostAnswerTest : public SessionTest, public ::testing::WithParamInterface<Fault> {};

TEST_P(LostAnswerTest, IsAskedForAgainWithTheSameKeyAndChargedOnce) {
  Session session = Open();
  ledger_.Script({GetParam(), GetParam()});
  absl::StatusOr<Permit> permit = session.Charge(gaussian_);
  ASSERT_TRUE(permit.ok()) << permit.status();
  EXPECT_THAT(Keys(), ElementsAre("step-1", "step-1", "step-1"));
  EXPECT_EQ(ledger_.spent(), 1);
  EXPECT_THAT(session.unknown_charges(), IsEmpty());
}

TEST_P(LostAnswerTest, IsUnknownAndCountsAsSpentWhenTriesAreUsedUp) {
  Session session = Open();
  ledger_.Script(std::vector<Fault>(4, GetParam()));
  absl::StatusOr<Permit> permit = session.Charge(gaussian_);
  ASSERT_FALSE(permit.ok());
  EXPECT_EQ(UnknownCharge(permit.status()), "step-1");
  EXPECT_THAT(std::string(permit.status().message()),
              AllOf(HasSubstr("unknown"), HasSubstr("counts as spent"), HasSubstr("4 tries")));
  EXPECT_THAT(session.unknown_charges(), ElementsAre("step-1"));

  // Another step is another key; the unknown one is only ever asked for again.
  ASSERT_TRUE(session.Charge(gaussian_).ok());
  EXPECT_EQ(Keys().back(), "step-2");
  absl::StatusOr<Permit> again = session.RetryCharge("step-1");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->charge_name(), "budgets/adult/sessions/run-1/attempts/1/charges/step-1");
  EXPECT_EQ(Keys().back(), "step-1");
  EXPECT_EQ(ledger_.spent(), 2);
  EXPECT_THAT(session.unknown_charges(), IsEmpty());
  EXPECT_EQ(session.RetryCharge("step-1").status().code(), absl::StatusCode::kNotFound)
      << "one charge must not give two permits";
}

INSTANTIATE_TEST_SUITE_P(AllLosses, LostAnswerTest,
                         ::testing::Values(Fault::kUnavailable, Fault::kCommitThenUnavailable,
                                           Fault::kCommitThenDeadlineExceeded,
                                           Fault::kCommitThenCancelled, Fault::kCommitThenUnknown));

TEST_F(SessionTest, RefusalAfterALostAnswerIsARefusal) {
  Session session = Open();
  ledger_.set_capacity(0);
  ledger_.Script({Fault::kCommitThenUnavailable});
  const absl::Status status = session.Charge(gaussian_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(RefusalOf(status).has_value());
  EXPECT_FALSE(UnknownCharge(status).has_value());
}

TEST_F(SessionTest, DefiniteErrorAfterALostAnswerLeavesTheOutcomeUnknown) {
  Session session = Open();
  ledger_.Script({Fault::kCommitThenUnavailable, Fault::kPermissionDenied});
  const absl::Status status = session.Charge(gaussian_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(UnknownCharge(status), "step-1");
  EXPECT_EQ(ledger_.spent(), 1);

  ledger_.Script({Fault::kPermissionDenied});
  EXPECT_EQ(UnknownCharge(session.RetryCharge("step-1").status()), "step-1");
  EXPECT_THAT(session.unknown_charges(), ElementsAre("step-1"));
  EXPECT_TRUE(session.RetryCharge("step-1").ok());
}

TEST_F(SessionTest, DefiniteErrorAtFirstIsKnown) {
  Session session = Open();
  ledger_.Script({Fault::kPermissionDenied});
  const absl::Status status = session.Charge(gaussian_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_FALSE(UnknownCharge(status).has_value());
  EXPECT_THAT(session.unknown_charges(), IsEmpty());
}

TEST_F(SessionTest, InternalErrorIsUnknownAndNotRetried) {
  Session session = Open();
  ledger_.Script({Fault::kCommitThenInternal});
  EXPECT_EQ(UnknownCharge(session.Charge(gaussian_).status()), "step-1");
  EXPECT_THAT(Keys(), ElementsAre("step-1"));
}

class WrongAnswerTest : public SessionTest, public ::testing::WithParamInterface<Fault> {};

TEST_P(WrongAnswerTest, IsInternalAndNeverAPermit) {
  Session session = Open();
  ledger_.Script({GetParam()});
  absl::StatusOr<Permit> permit = session.Charge(gaussian_);
  EXPECT_EQ(permit.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(permit.status().message()), HasSubstr("is not one to"));
  EXPECT_FALSE(RefusalOf(permit.status()).has_value());
  EXPECT_EQ(UnknownCharge(permit.status()), "step-1");
}

INSTANTIATE_TEST_SUITE_P(AllDifferences, WrongAnswerTest,
                         ::testing::Values(Fault::kWrongName, Fault::kUnspecifiedDecision,
                                           Fault::kRefusedWithOk, Fault::kWrongCount,
                                           Fault::kWrongEvent, Fault::kNoSequence,
                                           Fault::kRefusalOfAnotherKey));

TEST_F(SessionTest, RefusalSaysWhichCapAndHowManyStepsFit) {
  Session session = Open();
  ledger_.set_capacity(10);
  ASSERT_TRUE(session.Charge(gaussian_, 7).ok());
  absl::StatusOr<Permit> permit = session.Charge(gaussian_, 4);
  ASSERT_EQ(permit.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::optional<RefusalDetails> refusal = RefusalOf(permit.status());
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->charge_name, "budgets/adult/sessions/run-1/attempts/1/charges/step-2");
  EXPECT_EQ(refusal->reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ(RefusalReasonName(refusal->reason), "BUDGET_EXHAUSTED");
  EXPECT_EQ(refusal->limiting_resource, "budgets/adult");
  EXPECT_EQ(refusal->quantity, "RENYI_DIVERGENCE");
  EXPECT_EQ(refusal->order, 16);
  EXPECT_EQ(refusal->cap, 10);
  EXPECT_EQ(refusal->spent, 7);
  EXPECT_EQ(refusal->requested, 4);
  EXPECT_EQ(refusal->steps_that_fit, 3);
  EXPECT_EQ(ledger_.spent(), 7);
}

TEST(RefusalText, SaysTooLargeApartFromSpent) {
  RefusalDetails refusal{.reason = RefusalReason::kBudgetExhausted,
                         .limiting_resource = "budgets/adult",
                         .quantity = "EPSILON",
                         .cap = 1,
                         .spent = 0,
                         .requested = 2};
  EXPECT_THAT(RefusalText(refusal), HasSubstr("larger than the whole cap"));
  // What is asked for is rounded up.
  refusal.spent = 1;
  refusal.requested = 1 + 0x1p-52;
  EXPECT_THAT(RefusalText(refusal), HasSubstr("no step of this size fits any more"));
  refusal.spent = 0.9;
  refusal.requested = 0.5;
  EXPECT_THAT(RefusalText(refusal), HasSubstr("no step of this size fits any more"));
  refusal.steps_that_fit = 3;
  refusal.requested = 4;
  EXPECT_THAT(RefusalText(refusal), HasSubstr("ask for at most 3 of it"));
}

TEST_F(SessionTest, RefusalIsNotRetried) {
  Session session = Open();
  ledger_.set_capacity(0);
  EXPECT_FALSE(session.Charge(gaussian_).ok());
  EXPECT_THAT(Keys(), ElementsAre("step-1"));
  EXPECT_THAT(clock_.sleeps, IsEmpty());
}

TEST_F(SessionTest, RefusalWithoutDetailsIsStillNoPermit) {
  Session session = Open();
  ledger_.Script({Fault::kRefusalWithoutDetails});
  const absl::Status status = session.Charge(gaussian_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(RefusalOf(status).has_value());
}

TEST_F(SessionTest, FencedAttemptIsAborted) {
  Session session = Open();
  ledger_.Script({Fault::kFenced});
  const absl::Status status = session.Charge(gaussian_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  ASSERT_TRUE(RefusalOf(status).has_value());
  EXPECT_EQ(RefusalOf(status)->reason, RefusalReason::kAttemptFenced);
}

TEST_F(SessionTest, BackoffDoublesWithJitterUpToItsMaximum) {
  options_.retry.max_tries = 9;
  Session session = Open();
  ledger_.Script(std::vector<Fault>(8, Fault::kUnavailable));
  ASSERT_TRUE(session.Charge(gaussian_).ok());
  ASSERT_EQ(clock_.sleeps.size(), 8);
  std::chrono::milliseconds backoff = options_.retry.initial_backoff;
  for (const std::chrono::nanoseconds sleep : clock_.sleeps) {
    EXPECT_GE(sleep, backoff / 2);
    EXPECT_LE(sleep, backoff);
    backoff = std::min(2 * backoff, options_.retry.max_backoff);
  }
}

TEST_F(SessionTest, WaitsAtLeastAsLongAsTheServerAsks) {
  Session session = Open();
  ledger_.Script({Fault::kUnavailableWithRetryInfo});
  ASSERT_TRUE(session.Charge(gaussian_).ok());
  EXPECT_THAT(clock_.sleeps, ElementsAre(std::chrono::seconds(5)));
}

TEST_F(SessionTest, TellsOfEveryWait) {
  std::vector<RetryWait> waits;
  options_.retry.on_wait = [&](const RetryWait& wait) { waits.push_back(wait); };
  Session session = Open();
  ledger_.Script({Fault::kUnavailableWithRetryInfo, Fault::kUnavailableWithRetryInfo});
  ASSERT_TRUE(session.Charge(gaussian_).ok());
  ASSERT_EQ(waits.size(), 2);
  for (const RetryWait& wait : waits) {
    EXPECT_EQ(wait.last.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(wait.elapsed + wait.left, options_.retry.overall_timeout);
  }
  EXPECT_EQ(waits[0].elapsed, std::chrono::seconds(0));
  EXPECT_EQ(waits[1].elapsed, std::chrono::seconds(5));
}

TEST_F(SessionTest, GivesUpAtTheOverallDeadline) {
  options_.retry.max_tries = 0;
  options_.retry.overall_timeout = std::chrono::seconds(30);
  Session session = Open();
  ledger_.Script(std::vector<Fault>(1000, Fault::kUnavailable));
  EXPECT_EQ(UnknownCharge(session.Charge(gaussian_).status()), "step-1");
  std::chrono::nanoseconds slept{0};
  for (const std::chrono::nanoseconds sleep : clock_.sleeps) slept += sleep;
  EXPECT_LT(slept, std::chrono::seconds(30));
  EXPECT_GT(slept, std::chrono::seconds(25)) << "it gave up long before its time";
}

TEST_F(SessionTest, CountOutsideItsDomainIsNotSent) {
  Session session = Open();
  for (const int64_t count : {int64_t{0}, int64_t{-1}, INT64_MAX}) {
    EXPECT_EQ(session.Charge(gaussian_, count).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_F(SessionTest, ForkedChildCannotCharge) {
  Session session = Open();
  const pid_t child = fork();
  if (child == 0) {
    const bool refused =
        session.Charge(gaussian_).status().code() == absl::StatusCode::kFailedPrecondition;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_F(SessionTest, PreviewTellsWithoutCharging) {
  Session session = Open();
  ledger_.set_capacity(5);
  absl::StatusOr<ChargePreview> fits = session.Preview(gaussian_, 5);
  ASSERT_TRUE(fits.ok()) << fits.status();
  EXPECT_TRUE(fits->accepted);
  EXPECT_EQ(fits->steps_that_fit, 5);
  absl::StatusOr<ChargePreview> refused = session.Preview(gaussian_, 6);
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_FALSE(refused->accepted);
  EXPECT_EQ(refused->refusal->reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ(ledger_.spent(), 0);
}

TEST_F(SessionTest, ABudgetIsPreviewedWithoutASession) {
  absl::StatusOr<Client> client = Client::Connect(options_);
  ASSERT_TRUE(client.ok()) << client.status();
  ASSERT_TRUE(client
                  ->CreateBudget({.id = "adult",
                                  .cap = ZcdpCap{.rho = 1},
                                  .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                                  .privacy_unit = "person"})
                  .ok());
  ledger_.set_capacity(5);
  const absl::StatusOr<ChargePreview> fits = client->Preview("adult", gaussian_, 5);
  ASSERT_TRUE(fits.ok()) << fits.status();
  EXPECT_TRUE(fits->accepted);
  EXPECT_EQ(fits->steps_that_fit, 5);
  EXPECT_EQ(client->Preview("budgets/none", gaussian_).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(client->Preview("adult", gaussian_, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(SessionTest, GuaranteesKeepTheirKindAndReasons) {
  Session session = Open();
  absl::StatusOr<SessionGuarantees> guarantees = session.Guarantees(1e-5);
  ASSERT_TRUE(guarantees.ok()) << guarantees.status();
  ASSERT_EQ(guarantees->readings.size(), 2);
  EXPECT_EQ(guarantees->readings[0].accountant, "RENYI");
  EXPECT_EQ(guarantees->readings[0].kind, GuaranteeKind::kUpperBound);
  EXPECT_EQ(guarantees->readings[0].upper, 0.1234561);
  EXPECT_EQ(guarantees->readings[0].lower, std::nullopt);
  EXPECT_EQ(guarantees->readings[1].upper, std::nullopt);
  EXPECT_EQ(guarantees->readings[1].reason_unavailable, "not in this version");
}

}  // namespace
}  // namespace epsledger
