// Freezing, closing, superseding, partitions, policies, leases and heads that clients saw.

#include "gtest/gtest.h"

#include <cmath>
#include <string>
#include <vector>

#include "server/core/policy.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::Gaussian;
using accounting::MechanismEvent;
using accounting::NeighboringRelation;
using accounting::PoissonSampled;
using accounting::PureDp;

class BudgetLifeTest : public testing::Test {
 protected:
  void Budget(const std::string& id, double epsilon, const std::string& parent = "") {
    ASSERT_TRUE(harness_.Run(CreateBudget{PureBudget(id, epsilon, parent)}).ok());
  }
  void Partition(const std::string& id, double epsilon, NeighboringRelation relation,
                 const std::string& parent = "") {
    BudgetSpec spec = PureBudget(id, epsilon, parent);
    spec.relation = relation;
    spec.partition_function = "hash(person) mod 3";
    ASSERT_TRUE(harness_.Run(CreateBudget{spec}).ok());
  }
  void Part(const std::string& id, double epsilon, NeighboringRelation relation,
            const std::string& parent) {
    BudgetSpec spec = PureBudget(id, epsilon, parent);
    spec.relation = relation;
    ASSERT_TRUE(harness_.Run(CreateBudget{spec}).ok());
  }
  // An open session "s" of the budget.
  SessionName Session(const std::string& budget, Provenance provenance = {},
                      NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne) {
    const SessionName name{budget, "s"};
    SessionSpec spec = AdaptiveSession(budget, "s");
    spec.relation = relation;
    EXPECT_TRUE(harness_.Run(CreateSession{spec}).ok());
    EXPECT_TRUE(harness_.Run(OpenAttempt{name, "", provenance}).ok());
    return name;
  }
  // Charges epsilon once; the reason if it was refused.
  std::optional<RefusalReason> ChargeEpsilon(const SessionName& session, double epsilon) {
    const ChargeRecord record =
        harness_.Decide(session, 1, "c" + std::to_string(next_++), PureDp{epsilon});
    if (!record.row.refusal) return std::nullopt;
    return record.row.refusal->reason;
  }
  double SpentOf(const std::string& budget) {
    return harness_.ledger.FindBudget(budget)->balance.spent()[0].ToDoubleUp();
  }
  absl::Status Phase(const std::string& budget, BudgetPhase phase) {
    return harness_.Run(ChangeBudgetPhase{budget, phase, "because"}).status();
  }

  LedgerHarness harness_;
  int next_ = 0;
};

TEST_F(BudgetLifeTest, AFrozenAncestorRefusesUntilItIsThawed) {
  Budget("top", 1);
  Budget("low", 1, "top");
  const SessionName session = Session("low");
  ASSERT_TRUE(Phase("top", BudgetPhase::kFrozen).ok());
  EXPECT_EQ(ChargeEpsilon(session, 0.25), RefusalReason::kBudgetFrozen);
  EXPECT_EQ(harness_.PreviewOf(session, PureDp{0.25}, 1)->refusal->limiting_budget_id, "top");
  ASSERT_TRUE(Phase("top", BudgetPhase::kActive).ok());
  EXPECT_EQ(ChargeEpsilon(session, 0.25), std::nullopt);
  EXPECT_EQ(SpentOf("top"), 0.25);
}

TEST_F(BudgetLifeTest, ARefusalByAFreezeOutlastsIt) {
  Budget("b", 1);
  const SessionName session = Session("b");
  ASSERT_TRUE(Phase("b", BudgetPhase::kFrozen).ok());
  ASSERT_TRUE(harness_.Decide(session, 1, "early", PureDp{0.25}).row.refusal.has_value());
  ASSERT_TRUE(Phase("b", BudgetPhase::kActive).ok());
  EXPECT_TRUE(harness_.Decide(session, 1, "early", PureDp{0.25}).row.refusal.has_value());
  EXPECT_EQ(SpentOf("b"), 0);
}

TEST_F(BudgetLifeTest, ClosingIsForGood) {
  Budget("b", 1);
  const SessionName session = Session("b");
  ASSERT_TRUE(Phase("b", BudgetPhase::kClosed).ok());
  ASSERT_TRUE(Phase("b", BudgetPhase::kClosed).ok());
  EXPECT_EQ(ChargeEpsilon(session, 0.25), RefusalReason::kClosed);
  EXPECT_EQ(Phase("b", BudgetPhase::kActive).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(harness_.Run(CreateBudget{PureBudget("child", 1, "b")}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const absl::StatusOr<Outcome> late = harness_.Run(CreateSession{AdaptiveSession("b", "late")});
  EXPECT_EQ(std::get<SessionOutcome>(*late).refusal->reason, RefusalReason::kClosed);
}

TEST_F(BudgetLifeTest, ItIsCreatedAgainAsItWasAndAsItIsAndNotOtherwise) {
  Budget("b", 1);
  const std::vector<Label> labels = {{"team", "ads"}};
  ASSERT_TRUE(harness_.Run(UpdateBudget{"b", "B", labels, std::nullopt}).ok());
  const size_t entries = harness_.entries.size();
  CreateBudget again{PureBudget("b", 1)};
  for (const bool as_updated : {false, true}) {
    again.spec.description = {};
    if (as_updated) again.spec.description = harness_.ledger.FindBudget("b")->description;
    const absl::StatusOr<Outcome> outcome = harness_.Run(again);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_FALSE(std::get<BudgetOutcome>(*outcome).created);
  }
  again.spec.description.display_name = "C";
  EXPECT_EQ(harness_.Run(again).status().code(), absl::StatusCode::kAlreadyExists);
  again.spec = PureBudget("b", 2);
  again.spec.description = harness_.ledger.FindBudget("b")->description;
  EXPECT_EQ(harness_.Run(again).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(harness_.entries.size(), entries);
  EXPECT_EQ(harness_.ledger.FindBudget("b")->description.display_name, "B");
}

TEST_F(BudgetLifeTest, AClosedSessionTakesNothing) {
  Budget("b", 1);
  const SessionName session = Session("b");
  ASSERT_TRUE(harness_.Run(CloseSession{session, "done"}).ok());
  EXPECT_EQ(ChargeEpsilon(session, 0.25), RefusalReason::kClosed);
  EXPECT_EQ(harness_.Run(OpenAttempt{session, "", {}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(BudgetLifeTest, ASuccessorStartsWithWhatWasSpent) {
  Budget("top", 10);
  Budget("old", 1, "top");
  const SessionName session = Session("old");
  ASSERT_EQ(ChargeEpsilon(session, 0.75), std::nullopt);
  const auto supersede = [&](const std::string& id, Cap cap) {
    return harness_.Run(SupersedeBudget{"old", id, cap, "more data"});
  };
  EXPECT_EQ(supersede("small", PureEpsilonCap{0.5}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  // A pure event has no finite cost in squared mu.
  EXPECT_EQ(supersede("other", GaussianDpCap{10}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(supersede("new", PureEpsilonCap{2}).ok());
  EXPECT_EQ(SpentOf("new"), 0.75);
  EXPECT_EQ(SpentOf("top"), 0.75);
  EXPECT_EQ(ChargeEpsilon(session, 0.25), RefusalReason::kBudgetSuperseded);
  const SessionName next = Session("new");
  EXPECT_EQ(ChargeEpsilon(next, 1.25), std::nullopt);
  EXPECT_EQ(ChargeEpsilon(next, 0.25), RefusalReason::kBudgetExhausted);
  EXPECT_EQ(SpentOf("top"), 2);
  const BudgetState& old = *harness_.ledger.FindBudget("old");
  EXPECT_EQ(old.phase, BudgetPhase::kSuperseded);
  EXPECT_EQ(old.superseded_by, "new");
  const size_t entries = harness_.entries.size();
  EXPECT_TRUE(supersede("new", PureEpsilonCap{2}).ok());  // a retry
  EXPECT_EQ(harness_.entries.size(), entries);
  EXPECT_EQ(supersede("new", PureEpsilonCap{3}).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(BudgetLifeTest, DisjointPartsCostTheLargest) {
  const auto relation = NeighboringRelation::kAddOrRemoveOne;
  Budget("organisation", 10);
  Partition("data", 1, relation, "organisation");
  for (const char* part : {"p0", "p1", "p2"}) Part(part, 5, relation, "data");
  const SessionName s0 = Session("p0");
  const SessionName s1 = Session("p1");
  const SessionName s2 = Session("p2");
  EXPECT_EQ(ChargeEpsilon(s0, 0.5), std::nullopt);
  EXPECT_EQ(ChargeEpsilon(s1, 0.75), std::nullopt);
  EXPECT_EQ(ChargeEpsilon(s2, 0.25), std::nullopt);
  EXPECT_EQ(SpentOf("data"), 0.75);
  EXPECT_EQ(SpentOf("organisation"), 0.75);
  EXPECT_EQ(harness_.PreviewOf(s2, PureDp{0.25}, 1)->steps_that_fit, 3);
  EXPECT_EQ(ChargeEpsilon(s1, 0.5), RefusalReason::kBudgetExhausted);
  EXPECT_EQ(ChargeEpsilon(s0, 0.5), std::nullopt);
  EXPECT_EQ(SpentOf("data"), 1);
  EXPECT_EQ(SpentOf("organisation"), 1);
  // A session of the whole data set sees every part's records.
  EXPECT_EQ(ChargeEpsilon(Session("data"), 0.25), RefusalReason::kBudgetExhausted);
}

// Noise that is epsilon-DP under replace-one. Above a partition nothing else is known of a record
// that leaves one part and enters another.
MechanismEvent Noise(double epsilon) { return accounting::Laplace{2 / epsilon}; }

TEST_F(BudgetLifeTest, ReplacingARecordTouchesTheTwoLargestParts) {
  const auto relation = NeighboringRelation::kReplaceOne;
  Partition("data", 4, relation);
  for (const char* part : {"p0", "p1", "p2"}) Part(part, 5, relation, "data");
  const auto charge = [&](const char* part, double epsilon) {
    return harness_.Decide(Session(part, {}, relation), 1, "step", Noise(epsilon)).row.refusal;
  };
  ASSERT_EQ(charge("p0", 1), std::nullopt);
  EXPECT_NEAR(SpentOf("data"), 1, 1e-12);
  ASSERT_EQ(charge("p1", 2), std::nullopt);
  EXPECT_NEAR(SpentOf("data"), 3, 1e-12);
  ASSERT_EQ(charge("p2", 0.5), std::nullopt);
  EXPECT_NEAR(SpentOf("data"), 3, 1e-12);
}

// pureDp{0} under replace-one: the exact size of a part. Two of them tell where a record went.
TEST_F(BudgetLifeTest, WhatIsKnownUnderReplacingAloneIsRefusedAboveAPartition) {
  const auto relation = NeighboringRelation::kReplaceOne;
  Part("organisation", 10, relation, "");
  Partition("data", 4, relation, "organisation");
  Part("p0", 5, relation, "data");
  const SessionName session = Session("p0", {}, relation);
  int number = 0;
  for (const MechanismEvent& event :
       {MechanismEvent(PureDp{0}), MechanismEvent(PureDp{0.1}),
        MechanismEvent(accounting::ExponentialMechanism{0.1}),
        MechanismEvent(accounting::Composed{{{Noise(0.1), 1}, {MechanismEvent(PureDp{0}), 1}}})}) {
    const ChargeRecord record =
        harness_.Decide(session, 1, "box-" + std::to_string(++number), event);
    ASSERT_TRUE(record.row.refusal.has_value()) << accounting::Describe(event);
    EXPECT_EQ(record.row.refusal->reason, RefusalReason::kEventNotChargeable);
    EXPECT_EQ(record.row.refusal->limiting_budget_id, "data");
  }
  SessionSpec plan = DeclaredSession("p0", "plan", {{MechanismEvent(PureDp{0}), 1}});
  plan.relation = relation;
  EXPECT_TRUE(
      std::get<SessionOutcome>(*harness_.Run(CreateSession{.spec = plan})).refusal.has_value());
  EXPECT_NEAR(SpentOf("data"), 0, 1e-12);
  // The data set's own sessions see every part: no record crosses there.
  EXPECT_EQ(ChargeEpsilon(Session("data", {}, relation), 0.5), std::nullopt);
  plan.plan = {{Noise(0.5), 2}};
  plan.id = "noise";
  EXPECT_FALSE(
      std::get<SessionOutcome>(*harness_.Run(CreateSession{.spec = plan})).refusal.has_value());
  EXPECT_NEAR(SpentOf("data"), 1.5, 1e-12);
}

TEST_F(BudgetLifeTest, ASupersededPartIsOnePartWithItsSuccessor) {
  const auto relation = NeighboringRelation::kReplaceOne;
  Partition("data", 10, relation);
  Part("p0", 1, relation, "data");
  Part("p1", 5, relation, "data");
  const auto charge = [&](const char* part, double epsilon) {
    return harness_.Decide(Session(part, {}, relation), 1, "step", Noise(epsilon)).row.refusal;
  };
  ASSERT_EQ(charge("p0", 1), std::nullopt);
  ASSERT_TRUE(harness_.Run(SupersedeBudget{"p0", "p0b", PureEpsilonCap{5}, "more"}).ok());
  ASSERT_EQ(charge("p0b", 2), std::nullopt);
  EXPECT_NEAR(SpentOf("data"), 3, 1e-12);
  ASSERT_EQ(charge("p1", 0.5), std::nullopt);
  EXPECT_NEAR(SpentOf("data"), 3.5, 1e-12);
}

TEST_F(BudgetLifeTest, APolicyHoldsClaimsToItsSamplers) {
  BudgetSpec spec = PureBudget("b", 1);
  spec.cap = RenyiCap{.order = 8, .divergence = 10};
  spec.policy = Policy{.allowed_samplers = {Sampler::kPoisson}, .provenance_required = true};
  ASSERT_TRUE(harness_.Run(CreateBudget{spec}).ok());
  ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession("b", "s")}).ok());
  const SessionName session{"b", "s"};
  const absl::Status missing = harness_.Run(OpenAttempt{session, "", {}}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(missing.message().find("provenance.sampler"), missing.message().npos);

  const PoissonSampled sampled{.sampling_probability = 0.01, .event = MechanismEvent(Gaussian{1})};
  Provenance provenance{
      .sampler = Sampler::kShuffled, .clip_norm = 1, .library = "trainer", .library_version = "1"};
  ASSERT_TRUE(harness_.Run(OpenAttempt{session, "", provenance}).ok());
  const ChargeRecord shuffled = harness_.Decide(session, 1, "step", sampled);
  ASSERT_TRUE(shuffled.row.refusal.has_value());
  EXPECT_EQ(shuffled.row.refusal->reason, RefusalReason::kPolicyViolation);
  EXPECT_NE(shuffled.row.refusal->remedy.find("SHUFFLED"), std::string::npos);
  // Without amplification nothing is claimed about the batches.
  EXPECT_FALSE(harness_.Decide(session, 1, "full", Gaussian{1}).row.refusal.has_value());

  provenance.sampler = Sampler::kPoisson;
  ASSERT_TRUE(harness_.Run(OpenAttempt{session, "", provenance}).ok());
  EXPECT_FALSE(harness_.Decide(session, 2, "step", sampled).row.refusal.has_value());
}

TEST_F(BudgetLifeTest, APreviewIsOfTheAttemptThatItNames) {
  BudgetSpec spec = PureBudget("b", 1);
  spec.cap = RenyiCap{.order = 8, .divergence = 10};
  spec.policy = Policy{.allowed_samplers = {Sampler::kPoisson}, .provenance_required = true};
  ASSERT_TRUE(harness_.Run(CreateBudget{spec}).ok());
  ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession("b", "s")}).ok());
  const SessionName session{"b", "s"};
  Provenance provenance{
      .sampler = Sampler::kPoisson, .clip_norm = 1, .library = "trainer", .library_version = "1"};
  const MechanismEvent sampled =
      PoissonSampled{.sampling_probability = 0.01, .event = MechanismEvent(Gaussian{1})};
  // Returns the remedy; empty if the charge would be accepted.
  const auto remedy = [&](std::optional<Provenance> attempt) -> std::string {
    const auto outcome = harness_.Run(ChargePreview{
        .session = session, .event = sampled, .count = 1, .new_attempt = std::move(attempt)});
    const Preview& preview = std::get<Preview>(outcome.value());
    if (!preview.refusal.has_value()) return "";
    EXPECT_EQ(preview.refusal->reason, RefusalReason::kPolicyViolation);
    EXPECT_EQ(preview.steps_that_fit, 0);
    return preview.refusal->remedy;
  };
  ASSERT_TRUE(harness_.Run(OpenAttempt{session, "", provenance}).ok());
  EXPECT_EQ(remedy(std::nullopt), "");
  EXPECT_EQ(remedy(provenance), "");
  provenance.sampler = Sampler::kShuffled;
  EXPECT_NE(remedy(provenance).find("SHUFFLED"), std::string::npos);
  EXPECT_EQ(remedy(std::nullopt), "") << "the current attempt still declares Poisson";
  // Such an attempt could not be opened.
  EXPECT_NE(remedy(Provenance{}).find("provenance.sampler"), std::string::npos);
  // And the other way round: what the current attempt may not, a new one may.
  ASSERT_TRUE(harness_.Run(OpenAttempt{session, "", provenance}).ok());
  EXPECT_NE(remedy(std::nullopt), "");
  provenance.sampler = Sampler::kPoisson;
  EXPECT_EQ(remedy(provenance), "");
  EXPECT_EQ(harness_.ledger.FindSession(session)->current_attempt, 2);
}

// At any depth: whoever shuffles cannot hide the amplification inside of something else.
TEST_F(BudgetLifeTest, ASamplerIsFoundInsideOfOtherEvents) {
  Budget("b", 1);
  const SessionName session = Session("b", Provenance{.sampler = Sampler::kShuffled});
  const MechanismEvent sampled = PoissonSampled{0.01, MechanismEvent(PureDp{0.1})};
  const std::vector<MechanismEvent> hidden = {
      accounting::RepeatAndSelect{.event = sampled, .mean = 1, .shape = 1},
      accounting::Composed{{{sampled, 2}}}, accounting::SelfComposed{sampled, 3},
      accounting::RandomAllocation{.rounds = 10, .selected = 1, .event = sampled},
      accounting::RepeatAndSelect{
          .event = MechanismEvent(accounting::Composed{{{sampled, 1}}}), .mean = 1, .shape = 1}};
  for (size_t i = 0; i < hidden.size(); ++i) {
    const ChargeRecord record =
        harness_.Decide(session, 1, "hidden-" + std::to_string(i), hidden[i]);
    ASSERT_TRUE(record.row.refusal.has_value()) << i;
    EXPECT_EQ(record.row.refusal->reason, RefusalReason::kPolicyViolation) << i;
  }
  EXPECT_EQ(
      SamplersOf(PoissonSampled{
          0.5, MechanismEvent(accounting::SampledWithReplacement{
                   .dataset_size = 10, .sample_size = 2, .event = MechanismEvent(Gaussian{1})})}),
      (std::vector<Sampler>{Sampler::kPoisson, Sampler::kWithReplacement}));
}

TEST_F(BudgetLifeTest, AClaimThatContradictsItsEventIsRefusedWithoutAPolicy) {
  Budget("b", 1);
  const SessionName session = Session("b", Provenance{.sampler = Sampler::kFullBatch});
  const PoissonSampled sampled{.sampling_probability = 0.5, .event = MechanismEvent(PureDp{0.1})};
  EXPECT_EQ(harness_.Decide(session, 1, "step", sampled).row.refusal->reason,
            RefusalReason::kPolicyViolation);
  EXPECT_EQ(harness_.PreviewOf(session, sampled, 1)->refusal->reason,
            RefusalReason::kPolicyViolation);
}

TEST_F(BudgetLifeTest, ALeaseIsSettledOnceAndReturnsNothing) {
  Budget("b", 1);
  const SessionName session = Session("b");
  Charge lease{.session = session,
               .attempt = 1,
               .items = {{"lease", PureDp{1.0 / 16}, 8}},
               .lease_expire_time_micros = 7};
  ASSERT_TRUE(harness_.Run(lease).ok());
  EXPECT_EQ(harness_.ledger.FindSession(session)->open_leases.size(), 1u);
  const auto settle = [&](int64_t used) {
    return harness_.Run(SettleLease{session, 1, "lease", used}).status().code();
  };
  EXPECT_EQ(settle(9), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(harness_.Run(OpenAttempt{session, "", {}}).ok());  // fenced attempts may settle
  EXPECT_EQ(settle(5), absl::StatusCode::kOk);
  EXPECT_EQ(settle(5), absl::StatusCode::kOk);
  EXPECT_EQ(settle(6), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(SpentOf("b"), 0.5);
  EXPECT_TRUE(harness_.ledger.FindSession(session)->open_leases.empty());
  ASSERT_TRUE(harness_.Run(lease).ok());  // a retry after all that
  EXPECT_EQ(SpentOf("b"), 0.5);
  Charge as_charge = lease;
  as_charge.lease_expire_time_micros.reset();
  EXPECT_EQ(harness_.Run(as_charge).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(harness_.Run(SettleLease{session, 1, "none", 0}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(BudgetLifeTest, OpenLeasesAreAShareOfWhatIsSpentInEveryBudgetAbove) {
  Budget("root", 2);
  Budget("b", 1, "root");
  const SessionName session = Session("b");
  const auto leased = [&](const std::string& budget) {
    return harness_.ledger.LeasedFraction(*harness_.ledger.FindBudget(budget));
  };
  const auto lease = [&](const std::string& id, int64_t count) {
    return harness_
        .Run(Charge{.session = session,
                    .attempt = 1,
                    .items = {{id, PureDp{1.0 / 16}, count}},
                    .lease_expire_time_micros = 7})
        .status();
  };
  EXPECT_EQ(ChargeEpsilon(session, 1.0 / 8), std::nullopt);
  EXPECT_EQ(leased("b"), 0);  // a charge is no lease
  ASSERT_TRUE(lease("first", 4).ok());
  ASSERT_TRUE(lease("second", 2).ok());
  EXPECT_EQ(leased("b"), std::nextafter(6.0 / 16, 1));
  EXPECT_EQ(leased("root"), std::nextafter(3.0 / 16, 1));
  ASSERT_TRUE(harness_.Run(SettleLease{session, 1, "first", 1}).ok());
  EXPECT_EQ(leased("b"), std::nextafter(2.0 / 16, 1));  // the whole lease is over, used or not
  ASSERT_TRUE(harness_.Run(SettleLease{session, 1, "second", 2}).ok());
  EXPECT_EQ(leased("b"), 0);
  EXPECT_EQ(leased("root"), 0);
  EXPECT_EQ(SpentOf("b"), 0.5);
}

TEST_F(BudgetLifeTest, AChargeIsNoLease) {
  Budget("b", 1);
  const SessionName session = Session("b");
  const Charge charge{.session = session, .attempt = 1, .items = {{"c", PureDp{0.125}, 2}}};
  ASSERT_TRUE(harness_.Run(charge).ok());
  EXPECT_EQ(harness_.Run(SettleLease{session, 1, "c", 1}).status().code(),
            absl::StatusCode::kNotFound);
  Charge as_lease = charge;
  as_lease.lease_expire_time_micros = 1;
  EXPECT_EQ(harness_.Run(as_lease).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(BudgetLifeTest, KnowsWhetherAClientSawMoreThanItHolds) {
  Budget("b", 1000);
  const SessionName session = Session("b");
  std::vector<Entry> before = harness_.entries;
  for (int i = 0; i < 400; ++i) ASSERT_EQ(ChargeEpsilon(session, 0.125), std::nullopt);
  const auto seen = [](const Entry& entry) {
    return SeenHead{"b", entry.sequence, std::string(entry.hash.begin(), entry.hash.end())};
  };
  const int64_t newest = harness_.entries.back().sequence;
  for (const Entry& entry : harness_.entries) {
    // The store is asked about the older ones.
    const std::optional<bool> want =
        entry.sequence + kRecentHashes <= newest ? std::nullopt : std::optional<bool>(true);
    EXPECT_EQ(harness_.ledger.Holds(seen(entry)), want) << entry.sequence;
  }
  Ledger restored;  // yesterday's copy
  for (const Entry& entry : before) ASSERT_TRUE(restored.Apply(entry).ok());
  EXPECT_EQ(restored.Holds(seen(before.back())), true);
  EXPECT_EQ(restored.Holds(seen(harness_.entries[before.size()])), false);
  SeenHead other = seen(harness_.entries.back());
  other.hash[5] ^= 1;
  EXPECT_EQ(harness_.ledger.Holds(other), false);
}

}  // namespace
}  // namespace epsledger::core
