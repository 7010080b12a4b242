// Poisson sampling of black boxes under replace-special and replace-one, against enumeration: a
// mechanism of which only its privacy is known may tell whether the record was drawn, so that its
// epsilon stays.

#include "accounting/profile/revealed_sample_profile.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "accounting/answer.h"
#include "accounting/profile/approximate_dp_profile.h"
#include "accounting/profile/gaussian_profile.h"

namespace epsledger::accounting {
namespace {

struct Outcome {
  long double p = 0;
  long double q = 0;
};
using Law = std::vector<Outcome>;

// sup_A P(A) - e^epsilon Q(A), outcome by outcome.
long double Delta(const Law& law, long double epsilon) {
  long double sum = 0;
  for (const Outcome& o : law) sum += std::max(0.0L, o.p - std::exp(epsilon) * o.q);
  return sum;
}

// Randomized response of epsilon, with probability delta a reply that tells all.
Law WorstOf(double epsilon, double delta) {
  const long double odds = std::exp(static_cast<long double>(epsilon));
  const long double rest = 1 - static_cast<long double>(delta);
  return {{rest * odds / (1 + odds), rest / (1 + odds)},
          {rest / (1 + odds), rest * odds / (1 + odds)},
          {delta, 0},
          {0, delta}};
}

// The record is drawn with probability q, and the mechanism says whether it was.
Law Told(const Law& law, long double q) {
  Law told = {{1 - q, 1 - q}};
  for (const Outcome& o : law) told.push_back({q * o.p, q * o.q});
  return told;
}

Law Together(const Law& a, const Law& b) {
  Law both;
  for (const Outcome& x : a) {
    for (const Outcome& y : b) both.push_back({x.p * y.p, x.q * y.q});
  }
  return both;
}

TEST(RevealedSampleProfile, IsTheEnumerationOfAMechanismThatTells) {
  for (const double q : {0.01, 0.3, 0.9}) {
    for (const auto& [epsilon, delta] : {std::pair{1.0, 0.0}, {0.2, 1e-4}, {3.0, 0.1}}) {
      const RevealedSampleProfile profile(
          std::make_shared<ApproximateDpProfile>(Bounds{epsilon, epsilon}, delta, true), q);
      const Law told = Told(WorstOf(epsilon, delta), q);
      for (double e = -4; e <= 4; e += 0.21) {
        const double truth = static_cast<double>(Delta(told, e));
        const Bounds bounds = profile.LogDelta(e);
        EXPECT_LE(std::exp(bounds.lower), truth * (1 + 1e-13) + 1e-18) << e;
        EXPECT_GE(std::exp(bounds.upper), truth * (1 - 1e-13) - 1e-18) << e;
        EXPECT_NEAR(std::exp(bounds.upper), std::exp(bounds.lower), 1e-13) << e;
        long double above = 0;
        for (const Outcome& o : told) above += o.p > std::exp(e) * o.q ? o.q : 0;
        const Bounds tail = profile.TailUnderQ(e);
        EXPECT_LE(tail.lower, static_cast<double>(above) + 1e-14) << e;
        EXPECT_GE(tail.upper, static_cast<double>(above) - 1e-14) << e;
      }
    }
  }
}

double UpperEpsilon(Accountant accountant, const std::vector<CountedEvent>& events, double delta) {
  Question question;
  question.accountant = accountant;
  question.events = events;
  question.relation = NeighboringRelation::kReplaceSpecial;
  question.query = EpsilonAtDelta::FromDelta(delta);
  const absl::StatusOr<Guarantee> answer = Answer(question);
  return answer.ok() && answer->upper.has_value() ? *answer->upper : -1;
}

MechanismEvent Sampled(double q, MechanismEvent event) {
  return PoissonSampled{q, MechanismEvent(std::move(event))};
}

// One and three releases of every black box, by every accountant that knows them: never below what
// the mechanism that tells spends. 0.15857 was answered here for 0.9999863.
TEST(ReplaceSpecial, NoBlackBoxIsAmplified) {
  constexpr double kQ = 0.1;
  constexpr double kDelta = 1e-6;
  struct Box {
    MechanismEvent event;
    Law law;
  };
  const std::vector<Box> boxes = {
      {PureDp{1}, WorstOf(1, 0)},
      {ApproximateDp{1, 1e-7}, WorstOf(1, 1e-7)},
      {UnverifiedClaim{.epsilon = 1, .delta = 1e-7}, WorstOf(1, 1e-7)},
      // Randomized response of epsilon / 2 has the range epsilon.
      {ExponentialMechanism{1}, WorstOf(0.5, 0)},
      {PermuteAndFlip{1}, WorstOf(0.5, 0)},
      // Its divergence is at most epsilon^2 / 2 at order 1, and epsilon^2 alpha / 2 above.
      {Zcdp{.rho = 0.5}, WorstOf(1, 0)},
      {GaussianDp{1}, WorstOf(0.6, 0)},
  };
  for (const Box& box : boxes) {
    for (const int count : {1, 3}) {
      Law law = {{1, 1}};
      for (int i = 0; i < count; ++i) law = Together(law, Told(box.law, kQ));
      for (const Accountant accountant :
           {Accountant::kPld, Accountant::kTradeOff, Accountant::kRenyi, Accountant::kBest}) {
        const double upper = UpperEpsilon(accountant, {{Sampled(kQ, box.event), count}}, kDelta);
        if (upper < 0) continue;  // does not know it
        EXPECT_LE(Delta(law, upper), kDelta * (1 + 1e-9))
            << Describe(box.event) << " x " << count << " by " << Name(accountant) << ": " << upper;
      }
      EXPECT_GT(UpperEpsilon(Accountant::kBest, {{Sampled(kQ, box.event), count}}, kDelta), 0);
    }
  }
}

// A Poisson sample of a Poisson sample of added noise is one of the product of the probabilities:
// also its output without the record is that with "nothing" in its place. A lower bound was above
// the truth here.
TEST(ReplaceSpecial, ASampleOfASampleOfAddedNoiseIsOneSample) {
  for (const MechanismEvent& noise :
       {MechanismEvent(Laplace{1}), MechanismEvent(Gaussian{1}),
        MechanismEvent(DiscreteGaussian{.sigma = 0.775, .sensitivity = 2})}) {
    for (const Accountant accountant : {Accountant::kPld, Accountant::kTradeOff}) {
      for (const double epsilon : {0.5, 2.0, 5.9}) {
        Question question;
        question.accountant = accountant;
        question.relation = NeighboringRelation::kReplaceSpecial;
        question.query = DeltaAtEpsilon{epsilon};
        question.events = {{Sampled(0.5, Sampled(0.25, noise)), 1}};
        const absl::StatusOr<Guarantee> twice = Answer(question);
        question.events = {{Sampled(0.125, noise), 1}};
        const absl::StatusOr<Guarantee> once = Answer(question);
        ASSERT_TRUE(twice.ok() && once.ok()) << twice.status() << once.status();
        EXPECT_LE(*twice->lower, *once->upper) << Describe(noise) << " " << epsilon;
        EXPECT_GE(*twice->upper, *once->lower) << Describe(noise) << " " << epsilon;
        EXPECT_LE(*twice->upper, 1.001 * *once->upper) << Describe(noise) << " " << epsilon;
      }
    }
  }
  EXPECT_LE(UpperEpsilon(Accountant::kBasic, {{Sampled(0.5, Sampled(0.25, Laplace{1})), 1}}, 0),
            std::log1p(0.125 * std::expm1(1.0)) * (1 + 1e-12));
}

// What a tree releases without the record is not said, but it need not tell: no lower bound rests
// on it.
TEST(ReplaceSpecial, ATreeOnASampleHasNoLowerBoundAboveThatOfAnAbsentRecord) {
  Question question;
  question.accountant = Accountant::kPld;
  question.events = {{Sampled(0.1, TreeAggregation{.noise_multiplier = 2, .step_count = 8}), 1}};
  question.query = DeltaAtEpsilon{1};
  const absl::StatusOr<Guarantee> absent = Answer(question);
  question.relation = NeighboringRelation::kReplaceSpecial;
  const absl::StatusOr<Guarantee> zeroed = Answer(question);
  ASSERT_TRUE(absent.ok() && zeroed.ok());
  EXPECT_LE(zeroed->lower.value_or(0), *absent->upper);
  EXPECT_GE(*zeroed->upper, *absent->upper);
}

TEST(ReplaceSpecial, ABlackBoxThatTellsIsAnsweredTightly) {
  const double exact = std::log(std::exp(1.0) - 1e-6 / 0.1 * (1 + std::exp(1.0)));
  EXPECT_NEAR(exact, 0.9999863, 1e-7);
  EXPECT_NEAR(UpperEpsilon(Accountant::kPld, {{Sampled(0.1, PureDp{1}), 1}}, 1e-6), exact, 2e-5);
}

// Curves that are given as data are black boxes too.
TEST(ReplaceSpecial, CurvesAreNoLessThanTheirInnerAtAnEnlargedDelta) {
  const std::vector<MechanismEvent> curves = {
      RenyiCurve{.orders = {2, 8, 32}, .divergences = {0.5, 2, 8}},
      TradeOffCurve{.type_one = {0, 0.2, 0.5, 1}, .type_two = {1, 0.5, 0.2, 0}}, GaussianDp{1}};
  for (const MechanismEvent& curve : curves) {
    const double sampled = UpperEpsilon(Accountant::kBest, {{Sampled(0.1, curve), 1}}, 1e-3);
    if (sampled < 0) continue;
    // q delta(epsilon) <= 1e-3 where delta(epsilon) <= 1e-2.
    const double inner = UpperEpsilon(Accountant::kPld, {{curve, 1}}, 1e-2);
    EXPECT_GE(sampled, inner * (1 - 2e-3)) << Describe(curve);
  }
}

// Replaced records: (1-q) R + q P against (1-q) R + q Q, R the output without the record, which may
// be anything. Against the sum over all outcomes of a sequence, with R told apart from both.
TEST(ReplaceOne, ASampleOfABlackBoxThatTellsIsNoLargerThanItsBound) {
  const double q = 0.1;
  struct Box {
    MechanismEvent event;
    Law law;
  };
  for (const Box& box :
       {Box{PureDp{1}, WorstOf(1, 0)},
        Box{RandomizedResponse{2 / (1 + std::exp(1.0)), 2}, WorstOf(1, 0)},
        Box{DominatingPair{{0.75, 0.25}, {0.25, 0.75}}, WorstOf(std::log(3), 0)}}) {
    for (const int count : {1, 3}) {
      Law law = {{1, 1}};
      for (int i = 0; i < count; ++i) law = Together(law, Told(box.law, q));
      for (const Accountant accountant : {Accountant::kPld, Accountant::kTradeOff}) {
        for (const double epsilon : {0.0, 0.3, 0.9, 1.5}) {
          Question question;
          question.accountant = accountant;
          question.events = {{Sampled(q, box.event), count}};
          question.query = DeltaAtEpsilon{epsilon};
          question.relation = NeighboringRelation::kReplaceOne;
          const auto answer = Answer(question);
          ASSERT_TRUE(answer.ok()) << answer.status();
          const double truth = Delta(law, epsilon);
          EXPECT_GE(*answer->upper, truth * (1 - 1e-12)) << Describe(box.event) << " " << epsilon;
          EXPECT_LE(*answer->upper, truth * 1.01 + 1e-9) << Describe(box.event) << " " << epsilon;
          EXPECT_LE(answer->lower.value_or(0), truth) << Describe(box.event);
        }
      }
    }
  }
}

// Noise that is added to a sum does not tell: nothing changed for it.
TEST(ReplaceSpecial, AddedNoiseIsAmplifiedAsWhereTheRecordIsLeftOut) {
  for (const MechanismEvent& event :
       {MechanismEvent(Gaussian{1}), MechanismEvent(Laplace{1}),
        MechanismEvent(DiscreteLaplace{.noise_parameter = 1, .sensitivity = 1})}) {
    Question question;
    question.accountant = Accountant::kPld;
    question.events = {{Sampled(0.1, event), 3}};
    question.query = EpsilonAtDelta::FromDelta(1e-6);
    const double added = *Answer(question)->upper;
    EXPECT_EQ(UpperEpsilon(Accountant::kPld, question.events, 1e-6), added) << Describe(event);
  }
}

}  // namespace
}  // namespace epsledger::accounting
