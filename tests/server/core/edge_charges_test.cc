// Charges of events that release nothing, and of events without noise, under every cap.

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/server/core/unit_harness.h"

namespace epsledger::core {
namespace {

using accounting::Composed;
using accounting::SampledWithReplacement;
using ::testing::HasSubstr;

std::vector<MechanismEvent> Nothings() {
  return {PoissonSampled{0, MechanismEvent(Gaussian{1})}, Composed{},
          PoissonSampled{0, MechanismEvent(SampledWithReplacement{
                                10, 2, MechanismEvent(accounting::PureDp{1e6})})}};
}

std::vector<MechanismEvent> WithoutNoise() {
  return {Gaussian{0}, Laplace{0}, PoissonSampled{0.01, MechanismEvent(Gaussian{0})},
          PoissonSampled{0, MechanismEvent(Gaussian{0})},
          Composed{{{MechanismEvent(Gaussian{1e6}), 1}, {MechanismEvent(Laplace{0}), 1}}}};
}

std::vector<Cap> EveryFiniteCap() {
  std::vector<Cap> caps = {PureEpsilonCap{2}, ZcdpCap{0.5}, GaussianDpCap{1}, RenyiCap{4, 1}};
  for (const ApproximateDpFilter filter :
       {ApproximateDpFilter::kRenyiOrders, ApproximateDpFilter::kBasic,
        ApproximateDpFilter::kAdvanced, ApproximateDpFilter::kZcdp, ApproximateDpFilter::kResidue,
        ApproximateDpFilter::kPortfolio}) {
    caps.push_back(ApproximateDpCap{kEpsilon, kDelta, filter, 0});
  }
  caps.push_back(ApproximateDpCap{kEpsilon, kDelta, ApproximateDpFilter::kRenyiOneOrder, 16});
  return caps;
}

// A budget "b" with the cap, and an open attempt of its session "s".
SessionName Opened(UnitHarness& harness, const Cap& cap) {
  const absl::StatusOr<Outcome> outcome =
      harness.Priced(CreateBudget{.spec = {.id = "b", .cap = cap, .privacy_unit = "person"}});
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return harness.Session("b");
}

TEST(EdgeCharges, WhatReleasesNothingCostsNothingUnderEveryCapAndIsRecorded) {
  for (const Cap& cap : EveryFiniteCap()) {
    SCOPED_TRACE(Describe(cap));
    UnitHarness harness;
    const SessionName session = Opened(harness, cap);
    const std::vector<Cost> before = harness.BalanceOf("b").spent();
    int64_t charged = 0;
    for (const MechanismEvent& nothing : Nothings()) {
      for (const int64_t count : {int64_t{1}, int64_t{1'000'000'000}}) {
        const size_t entries = harness.entries.size();
        EXPECT_TRUE(harness.Charges(session, nothing, count)) << accounting::Describe(nothing);
        EXPECT_GT(harness.entries.size(), entries);
        EXPECT_EQ(harness.ledger.FindBudget("b")->accepted_charge_count, ++charged);
        EXPECT_EQ(harness.BalanceOf("b").spent(), before);
      }
    }
    EXPECT_EQ(harness.BalanceOf("b").reference(), nullptr) << "nothing fixes no reference";
    harness.ExpectReplays();
  }
}

TEST(EdgeCharges, WhatReleasesNothingStillFitsWhenNothingElseDoes) {
  UnitHarness harness;
  harness.Budget("b", ApproximateDpFilter::kResidue, Step());
  const SessionName session = harness.Session("b");
  ASSERT_TRUE(harness.Charges(session, Step(), harness.CapOf("b")));
  EXPECT_FALSE(harness.Charges(session, Step()));
  const int64_t units = harness.UnitsOf("b");
  for (const MechanismEvent& nothing : Nothings()) {
    const auto preview = harness.PreviewOf(session, nothing);
    ASSERT_TRUE(preview.ok()) << preview.status();
    EXPECT_FALSE(preview->refusal.has_value());
    EXPECT_GT(preview->steps_that_fit, 1'000'000);
    EXPECT_TRUE(harness.Charges(session, nothing, 3));
  }
  EXPECT_EQ(harness.UnitsOf("b"), units);
  harness.ExpectReplays();
}

TEST(EdgeCharges, WhatReleasesNothingChangesNoOtherPrice) {
  UnitHarness alone;
  alone.Budget("b", ApproximateDpFilter::kPortfolio, Step());
  const SessionName without = alone.Session("b");
  UnitHarness mixed;
  mixed.Budget("b", ApproximateDpFilter::kPortfolio, Step());
  const SessionName with = mixed.Session("b");
  for (int i = 0; i < 3; ++i) {
    for (const MechanismEvent& nothing : Nothings()) EXPECT_TRUE(mixed.Charges(with, nothing, 5));
    EXPECT_TRUE(alone.Charges(without, Sampled(.1, 2), 2));
    EXPECT_TRUE(mixed.Charges(with, Sampled(.1, 2), 2));
    EXPECT_EQ(alone.BalanceOf("b").spent(), mixed.BalanceOf("b").spent());
  }
  mixed.ExpectReplays();
}

TEST(EdgeCharges, NoCapTakesAnEventWithoutNoise) {
  for (const Cap& cap : EveryFiniteCap()) {
    SCOPED_TRACE(Describe(cap));
    UnitHarness harness;
    const SessionName session = Opened(harness, cap);
    const std::vector<Cost> before = harness.BalanceOf("b").spent();
    for (const MechanismEvent& event : WithoutNoise()) {
      const ChargeRecord record = harness.ChargeOf(session, event);
      EXPECT_EQ(record.row.decision, ChargeDecision::kRefused) << accounting::Describe(event);
      EXPECT_EQ(record.row.refusal->reason, RefusalReason::kEventNotChargeable);
      EXPECT_EQ(record.row.refusal->steps_that_fit, 0);
      EXPECT_EQ(harness.BalanceOf("b").spent(), before) << "a refusal costs nothing";
    }
    EXPECT_EQ(harness.ledger.FindBudget("b")->accepted_charge_count, 0);
    harness.ExpectReplays();
  }
}

TEST(EdgeCharges, WithoutACapAnEventWithoutNoiseIsInTheHistory) {
  UnitHarness harness;
  const SessionName session = Opened(harness, NoGuaranteeCap{});
  EXPECT_TRUE(harness.Charges(session, Gaussian{0}));
  accounting::Question question;
  question.events = HistoryOf(*harness.ledger.FindSession(session));
  question.query = accounting::EpsilonAtDelta::FromDelta(0.5);
  EXPECT_TRUE(std::isinf(*accounting::Answer(question)->upper));
  // It is carried into no promise.
  EXPECT_EQ(harness.Run(SupersedeBudget{"b", "c", PureEpsilonCap{1e9}, "x"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  harness.ExpectReplays();
}

TEST(EdgeCharges, APlanOfNothingFitsAndAPlanWithoutNoiseDoesNot) {
  for (const ApproximateDpFilter filter :
       {ApproximateDpFilter::kResidue, ApproximateDpFilter::kRenyiOrders}) {
    UnitHarness harness;
    harness.Budget("b", filter, std::nullopt);
    const auto outcome_of = [&](const std::string& id, const MechanismEvent& event) {
      const absl::StatusOr<Outcome> outcome =
          harness.Priced(CreateSession{.spec = DeclaredSession("b", id, {{event, 10}})});
      EXPECT_TRUE(outcome.ok()) << outcome.status();
      return std::get<SessionOutcome>(*outcome);
    };
    for (const MechanismEvent& nothing : Nothings()) {
      const std::vector<Cost> before = harness.BalanceOf("b").spent();
      const std::string id = "s" + std::to_string(harness.entries.size());
      EXPECT_FALSE(outcome_of(id, nothing).refusal.has_value()) << accounting::Describe(nothing);
      EXPECT_EQ(harness.BalanceOf("b").spent(), before);
    }
    for (const MechanismEvent& event : WithoutNoise()) {
      EXPECT_TRUE(outcome_of("refused", event).refusal.has_value());
    }
    harness.ExpectReplays();
  }
}

TEST(EdgeCharges, NeitherIsAReference) {
  UnitHarness harness;
  const auto error = [&](const MechanismEvent& reference) {
    CreateBudget create{
        .spec = {.id = "b",
                 .cap = ApproximateDpCap{kEpsilon, kDelta, ApproximateDpFilter::kResidue, 0},
                 .privacy_unit = "person"}};
    create.reference = reference;
    const absl::Status status = harness.Priced(std::move(create)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  for (const MechanismEvent& nothing : Nothings()) {
    EXPECT_THAT(error(nothing), HasSubstr("releases nothing"));
  }
  for (const MechanismEvent& event : WithoutNoise()) {
    EXPECT_THAT(error(event), HasSubstr("a nonPrivate event"));
  }
}

}  // namespace
}  // namespace epsledger::core
