// Properties that hold for every accountant that exists, over random histories.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "accounting/answer.h"
#include "accounting/numeric/bounds.h"
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

// delta(epsilon) of the same history, asked one epsilon at a time.
Bounds DeltaOf(Question question, double epsilon) {
  question.query = DeltaAtEpsilon{epsilon};
  const auto delta = Answer(question);
  return Bounds{delta->lower.value_or(0), *delta->upper};
}

// The curve that PLD reads off its table, against single deltas: f(alpha) >= 1 - delta - x alpha
// wherever delta is asked, and a trade-off function at all points.
TEST(ComposedHistory, DrawsCurvesThatSingleDeltasCannotContradict) {
  const std::vector<std::vector<CountedEvent>> histories = {
      {{SampledGaussianEvent(0.03, 1), 300}},
      {{SampledGaussianEvent(0.001, 0.7), 1000}, {MechanismEvent(Gaussian{3}), 2}},
      {{MechanismEvent(Laplace{5}), 7}},
      {{MechanismEvent(ApproximateDp{0.1, 1e-4}), 20}, {MechanismEvent(ApproximateDp{0.3, 0}), 3}},
      {{SampledGaussianEvent(0.03, 2), 50}, {MechanismEvent(Laplace{20}), 5}}};
  const auto drawn = [](const std::vector<CountedEvent>& events,
                        std::optional<Adjacency> adjacency) {
    Question question = Ask(Accountant::kPld, events, Advantage{});
    question.adjacency = adjacency;
    auto history = ComposedHistory::Create(question);
    ASSERT_TRUE(history.ok()) << history.status();
    double lower_before = 1;
    double upper_before = 1;
    std::vector<Bounds> curve;
    constexpr int kPoints = 40;
    for (int i = 0; i <= kPoints; ++i) {
      const auto f = history->Ask(TypeTwoErrorAt{i / double{kPoints}});
      ASSERT_TRUE(f.ok()) << f.status();
      EXPECT_LE(*f->lower, *f->upper);
      EXPECT_LE(*f->lower, lower_before + 1e-15);
      EXPECT_LE(*f->upper, upper_before + 1e-15);
      lower_before = *f->lower;
      upper_before = *f->upper;
      curve.push_back({*f->lower, *f->upper});
    }
    for (int i = 1; i < kPoints; ++i) {
      EXPECT_LE(curve[i].lower, (curve[i - 1].lower + curve[i + 1].lower) / 2 + 1e-11);
      EXPECT_LE(curve[i].upper, (curve[i - 1].upper + curve[i + 1].upper) / 2 + 1e-11);
    }
    for (const double epsilon : {-2.0, -0.5, -0.1, 0.0, 0.1, 0.3, 1.0, 3.0}) {
      const Bounds delta = DeltaOf(question, epsilon);
      const double x = std::exp(epsilon);
      // No curve is below a supporting line, and the upper one touches it somewhere.
      double least = 1e300;
      for (int i = 0; i <= kPoints; ++i) {
        const double line = 1 - delta.upper - x * i / kPoints;
        EXPECT_GE(curve[i].upper, line - 1e-12);
        least = std::min(least, curve[i].lower + x * i / kPoints - (1 - delta.lower));
      }
      // Between the points of the grid a line may leave the curve by a step of it.
      EXPECT_LE(least, x / kPoints);
    }
  };
  for (const std::vector<CountedEvent>& events : histories) {
    for (const std::optional<Adjacency> adjacency :
         {std::optional<Adjacency>(), std::optional(Adjacency::kAdd),
          std::optional(Adjacency::kRemove)}) {
      SCOPED_TRACE(static_cast<int>(adjacency.value_or(Adjacency{})));
      drawn(events, adjacency);
    }
  }
}

TEST(ComposedHistory, AnswersAsAnswerDoes) {
  const std::vector<CountedEvent> events = {{SampledGaussianEvent(0.01, 1), 1000},
                                            {MechanismEvent(Laplace{30}), 20}};
  const Query queries[] = {EpsilonAtDelta::FromDelta(1e-6),
                           DeltaAtEpsilon{1},
                           TypeTwoErrorAt{0.05},
                           InverseTypeTwoErrorAt{0.2},
                           Advantage{},
                           GaussianDpMu{1e-3},
                           CentralLimit{},
                           RenyiDivergenceAtOrder{8}};
  Question question = Ask(Accountant::kBest, events, Advantage{});
  question.adjacency = Adjacency::kAdd;
  auto history = ComposedHistory::Create(question);
  ASSERT_TRUE(history.ok()) << history.status();
  for (const Accountant accountant : {Accountant::kRenyi, Accountant::kPld, Accountant::kTradeOff,
                                      Accountant::kOptimal, Accountant::kBest}) {
    for (const Query& query : queries) {
      question.accountant = accountant;
      question.query = query;
      const auto alone = Answer(question);
      const auto asked = history->Ask(accountant, query);
      ASSERT_EQ(alone.status(), asked.status()) << Name(accountant) << " " << query.index();
      if (!alone.ok()) continue;
      EXPECT_EQ(alone->accountant, asked->accountant);
      EXPECT_EQ(alone->theorem, asked->theorem);
      ASSERT_EQ(alone->upper.has_value(), asked->upper.has_value());
      ASSERT_EQ(alone->lower.has_value(), asked->lower.has_value());
      if (alone->upper) {
        EXPECT_NEAR(*alone->upper, *asked->upper, 2e-3 * *alone->upper);
      }
      if (alone->lower && asked->upper) {
        EXPECT_LE(*alone->lower, *asked->upper);
      }
      if (asked->lower && alone->upper) {
        EXPECT_LE(*asked->lower, *alone->upper);
      }
    }
  }
  question.query = DeltaAtEpsilon{std::numeric_limits<double>::infinity()};
  ASSERT_FALSE(Answer(question).ok());
  EXPECT_EQ(ComposedHistory::Create(question).status(), Answer(question).status());
  EXPECT_EQ(history->Ask(question.query).status(), Answer(question).status());
  EXPECT_FALSE(history->Ask(static_cast<Accountant>(99), Advantage{}).ok());
}

}  // namespace
}  // namespace epsledger::accounting
