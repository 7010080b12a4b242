// Properties that hold for every accountant that exists, over random histories.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "accounting/accountant.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

// Random histories are put to those that answer in microseconds; PLD, TRADE_OFF and BEST, which is
// one of them, have the table at the end.
constexpr Accountant kAccountants[] = {
    Accountant::kBasic, Accountant::kAdvanced, Accountant::kOptimal,
    Accountant::kRenyi, Accountant::kMoments,  Accountant::kMomentsHolder,
    Accountant::kZcdp,  Accountant::kGaussian, Accountant::kClt};
constexpr double kSlack = 1e-7;  // the conversion's own tolerance

MechanismEvent RandomEvent() {
  const double x = std::exp(*rc::gen::inRange(-1200, 2500) / 1000.0);
  switch (*rc::gen::inRange(0, 10)) {
    case 0:
      return Gaussian{x};
    case 1:
      return Laplace{x};
    case 2:
      return PureDp{1 / x};
    case 3:
      return ExponentialMechanism{1 / x};
    case 4:
      return SampledGaussianEvent(std::exp(-*rc::gen::inRange(0, 9000) / 1000.0), x);
    case 5:
      return Zcdp{0.1 / x, 0};
    case 6:
      return GaussianDp{1 / x};
    case 7:
      return DiscreteGaussian{x, 1};
    case 8:
      return ApproximateDp{0.1 / x, 1e-12};
    default:
      return TreeAggregation{x + 1, 15};
  }
}

RC_GTEST_PROP(EveryAccountant, ComposesACountAsThatManyEvents, ()) {
  const MechanismEvent event = RandomEvent();
  const auto count = *rc::gen::inRange<int64_t>(2, 6);
  for (const Accountant accountant : kAccountants) {
    // Events are releases by position there: two of count 1 are not one of count 2.
    if (accountant == Accountant::kMomentsHolder) continue;
    const auto counted = Answer(AskEpsilon(accountant, event, count, 1e-6));
    if (absl::IsUnimplemented(counted.status())) continue;
    RC_ASSERT(counted.ok());
    Question split = AskEpsilon(accountant, event, 1, 1e-6);
    for (int64_t i = 1; i < count; ++i) split.events.push_back(split.events[0]);
    const auto one_by_one = Answer(split);
    const auto nested = Answer(AskEpsilon(accountant, SelfComposed{event, count}, 1, 1e-6));
    RC_ASSERT(one_by_one.ok() && nested.ok());
    if (std::isinf(*counted->upper)) {
      RC_ASSERT(std::isinf(*one_by_one->upper));
      continue;
    }
    RC_ASSERT(std::abs(*one_by_one->upper - *counted->upper) <= kSlack * (1e-3 + *counted->upper));
    RC_ASSERT(std::abs(*nested->upper - *counted->upper) <= kSlack * (1e-3 + *counted->upper));
  }
}

RC_GTEST_PROP(EveryAccountant, GrowsWithCountAndInverseDelta, ()) {
  const MechanismEvent event = RandomEvent();
  const auto count = *rc::gen::inRange<int64_t>(1, 1000);
  const double delta = std::pow(10.0, -*rc::gen::inRange(1, 12));
  for (const Accountant accountant : kAccountants) {
    const auto base = Answer(AskEpsilon(accountant, event, count, delta));
    if (absl::IsUnimplemented(base.status())) continue;
    const double epsilon = *base->upper;
    RC_ASSERT(epsilon >= 0);
    RC_ASSERT(!std::isnan(epsilon));
    const double more = *Answer(AskEpsilon(accountant, event, count + 1, delta))->upper;
    RC_ASSERT(more >= epsilon * (1 - kSlack));
    const double smaller = *Answer(AskEpsilon(accountant, event, count, delta / 10))->upper;
    RC_ASSERT(smaller >= epsilon * (1 - kSlack));
  }
}

RC_GTEST_PROP(EveryAccountant, KeepsDeltaInItsRangeAndNonIncreasing, ()) {
  const MechanismEvent event = RandomEvent();
  const auto count = *rc::gen::inRange<int64_t>(1, 200);
  for (const Accountant accountant : kAccountants) {
    double before = 0;
    for (const double epsilon : {-2.0, 0.0, 0.1, 1.0, 5.0, 50.0}) {
      const auto delta = Answer(Ask(accountant, {{event, count}}, DeltaAtEpsilon{epsilon}));
      if (absl::IsUnimplemented(delta.status())) break;
      RC_ASSERT(*delta->upper >= 0 && *delta->upper <= 1);
      RC_ASSERT(*delta->log_upper <= 0);
      // A bound of zero mass stays one; otherwise non-increasing to the conversion's tolerance.
      const double slack = std::isinf(before) ? 0 : kSlack * (1 + std::abs(before));
      RC_ASSERT(*delta->log_upper <= before + slack);
      before = *delta->log_upper;
      if (delta->lower.has_value()) RC_ASSERT(*delta->lower <= *delta->upper);
    }
  }
}

// Where the truth is known exactly no upper bound is below it, and no lower bound above.
RC_GTEST_PROP(EveryAccountant, IsNeverBelowTheExactGaussian, ()) {
  const double z = std::exp(*rc::gen::inRange(-1500, 3000) / 1000.0);
  const auto count = *rc::gen::inRange<int64_t>(1, 500);
  const double delta = std::pow(10.0, -*rc::gen::inRange(1, 15));
  const auto exact = Answer(AskEpsilon(Accountant::kGaussian, Gaussian{z}, count, delta));
  const double truth = *exact->lower;
  for (const Accountant accountant : {Accountant::kRenyi, Accountant::kMoments, Accountant::kZcdp,
                                      Accountant::kPld, Accountant::kTradeOff, Accountant::kBest}) {
    const auto answer = Answer(AskEpsilon(accountant, Gaussian{z}, count, delta));
    RC_ASSERT(*answer->upper >= truth);
    if (answer->lower.has_value()) RC_ASSERT(*answer->lower <= *exact->upper);
  }
  const auto sampled =
      Answer(AskEpsilon(Accountant::kRenyi, SampledGaussianEvent(0.5, z), count, delta));
  RC_ASSERT(*sampled->upper <=
            *Answer(AskEpsilon(Accountant::kRenyi, Gaussian{z}, count, delta))->upper *
                (1 + kSlack));
}

RC_GTEST_PROP(EveryAccountant, GrowsWithSamplingProbabilityAndInverseNoise, ()) {
  const double z = std::exp(*rc::gen::inRange(-500, 2000) / 1000.0);
  const double q = std::exp(-*rc::gen::inRange(100, 7000) / 1000.0);
  const auto count = *rc::gen::inRange<int64_t>(1, 2000);
  for (const Accountant accountant : kAccountants) {
    const auto base = Answer(AskEpsilon(accountant, SampledGaussianEvent(q, z), count, 1e-6));
    if (absl::IsUnimplemented(base.status())) continue;
    const double epsilon = *base->upper * (1 - kSlack);
    RC_ASSERT(
        *Answer(AskEpsilon(accountant, SampledGaussianEvent(q, 0.9 * z), count, 1e-6))->upper >=
        epsilon);
    RC_ASSERT(*Answer(AskEpsilon(accountant, SampledGaussianEvent(std::min(1.0, 1.1 * q), z), count,
                                 1e-6))
                   ->upper >= epsilon);
  }
}

// A history that the privacy loss engine knows, with what it is about.
struct Row {
  MechanismEvent event;
  int64_t count;
  double delta;
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;
};

std::vector<Row> Rows() {
  return {{SampledGaussianEvent(0.01, 1), 1000, 1e-6},
          {SampledGaussianEvent(0.001, 0.8), 20000, 1e-10},
          {Gaussian{3}, 7, 1e-5},
          {Gaussian{3}, 7, 1e-5, NeighboringRelation::kReplaceOne},
          {Laplace{5}, 1, 1e-6},
          {PureDp{0.1}, 50, 1e-6}};
}

Question AskRow(const Row& row, Accountant accountant) {
  Question question = AskEpsilon(accountant, row.event, row.count, row.delta);
  question.relation = row.relation;
  return question;
}

TEST(PrivacyLoss, LiesBelowEveryOtherAccountantsUpperBound) {
  for (const Row& row : Rows()) {
    const auto pld = Answer(AskRow(row, Accountant::kPld));
    ASSERT_TRUE(pld.ok()) << Describe(row.event) << pld.status();
    ASSERT_TRUE(pld->lower.has_value());
    EXPECT_LE(*pld->lower, *pld->upper);
    const auto best = Answer(AskRow(row, Accountant::kBest));
    ASSERT_TRUE(best.ok()) << best.status();
    for (const Accountant accountant :
         {Accountant::kBasic, Accountant::kAdvanced, Accountant::kOptimal, Accountant::kRenyi,
          Accountant::kMoments, Accountant::kMomentsHolder, Accountant::kZcdp,
          Accountant::kGaussian, Accountant::kTradeOff, Accountant::kPld}) {
      const auto other = Answer(AskRow(row, accountant));
      if (absl::IsUnimplemented(other.status())) continue;
      ASSERT_TRUE(other.ok()) << other.status();
      EXPECT_LE(*pld->lower, *other->upper) << Describe(row.event) << Name(accountant);
      // BEST is never worse than any of them by more than the width asked for.
      EXPECT_LE(*best->upper, *other->upper * (1 + 1.1e-3))
          << Describe(row.event) << Name(accountant);
      EXPECT_LE(best->lower.value_or(0), *other->upper) << Name(accountant);
    }
  }
}

TEST(PrivacyLoss, ComposesACountAsThatManyEventsAndSplittingIsNeverCheaper) {
  for (const Accountant accountant : {Accountant::kPld, Accountant::kTradeOff, Accountant::kBest}) {
    for (const Row& row : Rows()) {
      if (row.count < 2) continue;
      const auto counted = Answer(AskRow(row, accountant));
      Question split = AskRow(row, accountant);
      split.events[0].count = row.count / 3;
      split.events.push_back({row.event, row.count - row.count / 3});
      const auto parts = Answer(split);
      ASSERT_TRUE(counted.ok() && parts.ok()) << counted.status() << parts.status();
      EXPECT_GE(*parts->upper, *counted->lower) << Describe(row.event);
      EXPECT_LE(*parts->lower, *counted->upper) << Describe(row.event);
    }
  }
}

// Every event that both know and that no sampling hides, under every relation under which both know
// it. (Sampled ones: the rows above, and the random requests of tests/agreement.)
TEST(PrivacyLoss, LiesBelowTheRenyiBoundOfEveryEvent) {
  const NestedEvent gaussian{MechanismEvent(Gaussian{2})};
  const NestedEvent laplace{MechanismEvent(Laplace{3})};
  int compared = 0;
  for (const MechanismEvent& event : std::vector<MechanismEvent>{
           Gaussian{2}, Laplace{3}, DiscreteGaussian{3, 2}, DiscreteLaplace{0.4, 1},
           RandomizedResponse{0.5, 3}, ExponentialMechanism{0.4}, PermuteAndFlip{0.4}, PureDp{0.3},
           ApproximateDp{0.3, 1e-9}, UnverifiedClaim{0.3, 1e-9, "x"}, GaussianDp{0.5},
           Composed{{{gaussian, 2}, {laplace, 1}}}, SelfComposed{laplace, 3},
           TreeAggregation{4, 30}}) {
    for (const NeighboringRelation relation :
         {NeighboringRelation::kAddOrRemoveOne, NeighboringRelation::kReplaceOne,
          NeighboringRelation::kReplaceSpecial}) {
      for (const double delta : {1e-3, 1e-7}) {
        const Row row{event, 4, delta, relation};
        const auto renyi = Answer(AskRow(row, Accountant::kRenyi));
        const auto pld = Answer(AskRow(row, Accountant::kPld));
        if (!renyi.ok() || !pld.ok()) {
          EXPECT_TRUE(absl::IsUnimplemented(renyi.ok() ? pld.status() : renyi.status()));
          continue;
        }
        ++compared;
        EXPECT_LE(*pld->lower, *renyi->upper) << Describe(event) << Name(relation) << delta;
        EXPECT_LE(*pld->lower, *pld->upper) << Describe(event) << Name(relation) << delta;
      }
    }
  }
  EXPECT_GE(compared, 70);
}

TEST(PrivacyLoss, GrowsWithCountProbabilityInverseNoiseAndInverseDelta) {
  for (const Accountant accountant : {Accountant::kPld, Accountant::kTradeOff, Accountant::kBest}) {
    for (const double z : {0.7, 1.5}) {
      for (const double q : {0.001, 0.1}) {
        const auto epsilon = [&](double probability, double noise, int64_t count, double delta) {
          return *Answer(
              AskEpsilon(accountant, SampledGaussianEvent(probability, noise), count, delta));
        };
        const Guarantee base = epsilon(q, z, 500, 1e-6);
        for (const Guarantee& more : {epsilon(q, z, 550, 1e-6), epsilon(1.1 * q, z, 500, 1e-6),
                                      epsilon(q, 0.9 * z, 500, 1e-6), epsilon(q, z, 500, 1e-7)}) {
          // The bounds themselves, and not only what they leave possible.
          EXPECT_GE(*more.upper, *base.upper) << q << " " << z;
          EXPECT_GE(*more.lower, *base.lower) << q << " " << z;
        }
      }
    }
  }
}

// The loss of a sampled discrete Gaussian is not that of a sampled Gaussian of its sigma.
TEST(PrivacyLoss, DoesNotTakeADiscreteGaussianForAGaussianUnderSampling) {
  const auto of = [](MechanismEvent event) {
    return *Answer(AskEpsilon(Accountant::kPld, PoissonSampled{0.1, std::move(event)}, 1, 1e-4));
  };
  const Guarantee discrete = of(DiscreteGaussian{0.5, 1});
  const Guarantee continuous = of(Gaussian{0.5});
  EXPECT_TRUE(*discrete.lower > *continuous.upper || *discrete.upper < *continuous.lower);
}

TEST(PrivacyLoss, IsWorseUnderReplaceOneAndNoWorseInOneDirection) {
  Question question = AskEpsilon(Accountant::kPld, SampledGaussianEvent(0.01, 1), 1000, 1e-6);
  const auto both = Answer(question);
  question.adjacency = Adjacency::kAdd;
  const auto add = Answer(question);
  question.adjacency = Adjacency::kRemove;
  const auto remove = Answer(question);
  EXPECT_LE(*add->lower, *both->upper);
  EXPECT_EQ(std::max(*add->upper, *remove->upper), *both->upper);
  question.adjacency.reset();
  question.relation = NeighboringRelation::kReplaceOne;
  EXPECT_GT(*Answer(question)->upper, *both->upper);
}

TEST(PrivacyLoss, KeepsDeltaInItsRangeAndNonIncreasing) {
  for (const Accountant accountant : {Accountant::kPld, Accountant::kBest}) {
    double before = 1;
    for (const double epsilon : {0.0, 0.5, 1.0, 2.0, 4.0}) {
      const auto delta =
          Answer(Ask(accountant, {{SampledGaussianEvent(0.01, 1), 1000}}, DeltaAtEpsilon{epsilon}));
      ASSERT_TRUE(delta.ok()) << delta.status();
      EXPECT_GE(*delta->lower, 0);
      EXPECT_LE(*delta->lower, *delta->upper);
      EXPECT_LE(*delta->upper, before);
      before = *delta->upper;
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
