// The Renyi divergences of orders 1 and +inf: the Kullback-Leibler divergence and the largest loss.

#include <cmath>
#include <limits>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double DivergenceOf(const MechanismEvent& event, int64_t count, double order,
                    NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne,
                    Accountant accountant = Accountant::kRenyi) {
  Question question = Ask(accountant, {{event, count}}, RenyiDivergenceAtOrder{order});
  question.relation = relation;
  const auto answer = Answer(question);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer->upper.value_or(-1);
}

// E(x) <= y <= E(x) (1 + 1e-5).
void ExpectJustAbove(double y, double x) {
  EXPECT_GE(y, x * (1 - 1e-15));
  EXPECT_LE(y, x * (1 + 1e-5) + 1e-15);
}

TEST(RenyiOrder, OneIsTheKullbackLeiblerDivergence) {
  ExpectJustAbove(DivergenceOf(Gaussian{2}, 6, 1), 6 * 0.5 / 4);
  for (const double z : {0.3, 1.0, 5.0}) {
    // int log(p/q) p of Laplace laws at distance t: t + e^-t - 1.
    ExpectJustAbove(DivergenceOf(Laplace{z}, 3, 1), 3 * (1 / z + std::expm1(-1 / z)));
  }
  // Randomized response of epsilon: epsilon tanh(epsilon / 2).
  ExpectJustAbove(DivergenceOf(PureDp{0.7}, 1, 1), 0.7 * std::tanh(0.35));
  const double high = 0.8;
  ExpectJustAbove(DivergenceOf(RandomizedResponse{0.4, 2}, 10, 1, NeighboringRelation::kReplaceOne),
                  10 * (2 * high - 1) * std::log(high / (1 - high)));
  ExpectJustAbove(DivergenceOf(DominatingPair{{0.5, 0.25, 0.25}, {0.25, 0.25, 0.5}}, 2, 1),
                  2 * 0.25 * std::log(2));
  ExpectJustAbove(
      DivergenceOf(Zcdp{0.1, 0.2}, 1, 1, NeighboringRelation::kAddOrRemoveOne, Accountant::kZcdp),
      0.3);
  // A sampled Gaussian, by quadrature: E_P[log g], g = 1 - q + q e^{t/s - 1/(2 s^2)}.
  const double q = 0.3;
  const double s = 0.8;
  double remove = 0;
  double add = 0;
  const double h = 1e-3;
  for (double t = -14; t < 16; t += h) {
    const double density = std::exp(-0.5 * t * t) / std::sqrt(2 * M_PI) * h;
    const double g = 1 - q + q * std::exp(t / s - 0.5 / (s * s));
    remove += density * g * std::log(g);
    add -= density * std::log(g);
  }
  ExpectJustAbove(DivergenceOf(SampledGaussianEvent(q, s), 4, 1), 4 * std::max(remove, add));
}

TEST(RenyiOrder, InfinityIsTheLargestLoss) {
  ExpectJustAbove(DivergenceOf(Laplace{2}, 3, kInf), 1.5);
  ExpectJustAbove(DivergenceOf(PureDp{0.25}, 4, kInf), 1);
  ExpectJustAbove(DivergenceOf(ExponentialMechanism{0.5}, 2, kInf), 1);
  ExpectJustAbove(DivergenceOf(DominatingPair{{0.75, 0.25}, {0.25, 0.75}}, 2, kInf),
                  2 * std::log(3));
  ExpectJustAbove(DivergenceOf(PoissonSampled{0.5, MechanismEvent(PureDp{1})}, 1, kInf),
                  std::log1p(0.5 * std::expm1(1)));
  EXPECT_EQ(DivergenceOf(Gaussian{1000}, 1, kInf), kInf);
  EXPECT_EQ(DivergenceOf(SampledGaussianEvent(0.01, 10), 1, kInf), kInf);
  EXPECT_EQ(DivergenceOf(ApproximateDp{1, 1e-9}, 1, kInf), kInf);
  EXPECT_EQ(DivergenceOf(GaussianDp{0}, 5, kInf), 0);
  EXPECT_EQ(DivergenceOf(Zcdp{0, 0.25}, 4, kInf), 1);
  EXPECT_EQ(DivergenceOf(NonPrivate{"x"}, 1, kInf), kInf);
  for (const Accountant accountant :
       {Accountant::kGaussian, Accountant::kZcdp, Accountant::kRenyi, Accountant::kBest}) {
    EXPECT_EQ(
        DivergenceOf(GaussianDp{0}, 1, kInf, NeighboringRelation::kAddOrRemoveOne, accountant), 0);
    EXPECT_EQ(
        DivergenceOf(GaussianDp{1e-9}, 1, kInf, NeighboringRelation::kAddOrRemoveOne, accountant),
        kInf);
  }
}

TEST(RenyiOrder, TheLimitsEncloseEveryOrderBetween) {
  for (const MechanismEvent& event :
       {MechanismEvent(Laplace{1}), MechanismEvent(PureDp{1}),
        MechanismEvent(ExponentialMechanism{1}), MechanismEvent(DiscreteLaplace{0.5, 2}),
        MechanismEvent(Gaussian{1}), MechanismEvent(SampledGaussianEvent(0.1, 1)),
        MechanismEvent(DominatingPair{{0.5, 0.5}, {0.25, 0.75}}),
        MechanismEvent(RepeatAndSelect{MechanismEvent(PureDp{0.1}), 5, 1}),
        MechanismEvent(RepeatAndSelect{MechanismEvent(PureDp{0.1}), 5, kInf})}) {
    const double least = DivergenceOf(event, 1, 1);
    const double most = DivergenceOf(event, 1, kInf);
    for (const double order : {1.001, 2.0, 50.0, 1e6}) {
      const double between = DivergenceOf(event, 1, order);
      EXPECT_LE(least, between * (1 + 1e-6)) << order;
      EXPECT_LE(between, most) << order;
    }
  }
}

TEST(RenyiOrder, BelowOneIsRefused) {
  for (const double order : {0.999999, 0.0, -1.0, std::nan("")}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(Answer(Ask(Accountant::kRenyi, {{MechanismEvent(Gaussian{1}), 1}},
                                           RenyiDivergenceAtOrder{order}))
                                    .status()));
  }
}

}  // namespace
}  // namespace epsledger::accounting
