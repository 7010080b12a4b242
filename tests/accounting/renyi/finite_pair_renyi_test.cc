#include "accounting/renyi/finite_pair_renyi.h"

#include <cmath>
#include <limits>
#include <vector>

#include "accounting/renyi/closed_form.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// D_a of the laws given that the outcome is one that both have, at 512 bits.
Real RenyiTruth(const std::vector<Real>& p, const std::vector<Real>& q, double order) {
  Real p_sum = 0;
  Real q_sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (!(Real(0) < p[i]) || !(Real(0) < q[i])) continue;
    p_sum = p_sum + p[i];
    q_sum = q_sum + q[i];
  }
  Real sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (!(Real(0) < p[i]) || !(Real(0) < q[i])) continue;
    const Real loss = Log(p[i] / p_sum) - Log(q[i] / q_sum);
    if (order == kInf) {
      if (sum < loss) sum = loss;
    } else if (order == 1) {
      sum = sum + p[i] / p_sum * loss;
    } else {
      sum = sum + p[i] / p_sum * Exp((Real(order) - Real(1)) * loss);
    }
  }
  return order == 1 || order == kInf ? sum : Log(sum) / (Real(order) - Real(1));
}

std::vector<Real> Exactly(const std::vector<double>& numbers) {
  Real sum = 0;
  for (const double x : numbers) sum = sum + Real(x);
  std::vector<Real> reals;
  for (const double x : numbers) reals.push_back(Real(x) / sum);
  return reals;
}

constexpr double kPairOrders[] = {1, 1 + 0x1p-52, 1 + 1e-9, 1.01, 1.5, 2, 3, 32.5, 1000, 1e6, kInf};

TEST(FinitePairRenyi, IsJustAboveTheSumOverTheOutcomes) {
  const DominatingPair pairs[] = {
      {{0.75, 0.25}, {0.25, 0.75}},
      {{0.1, 0.2, 0.7}, {0.3, 0.65, 0.05}},
      {{0.1, 0.2, 0.7}, {0.1 + 1e-9, 0.2 - 1e-9, 0.7}},
      {{1e-200, 1}, {0.5, 0.5}},
      {{0.1, 0.2, 0.3, 0.4}, {0.25, 0, 0.35, 0.4}},
      {{0.1, 0, 0.9}, {0.1, 0.2, 0.7}},
  };
  for (const DominatingPair& event : pairs) {
    const FinitePairRenyi bound(FinitePairOf(event));
    const std::vector<Real> p = Exactly(event.first_probabilities);
    const std::vector<Real> q = Exactly(event.second_probabilities);
    for (const double order : kPairOrders) {
      const Real truth = RenyiTruth(p, q, order);
      const double value = bound.Divergence(order);
      EXPECT_TRUE(truth <= Real(value)) << order << " " << value << " " << truth.ToDouble();
      // Likelihood ratios are known to some ulps, which weigh with the slope of their logarithms.
      EXPECT_LE(value, truth.ToDouble() * (1 + 1e-6) + 1e-14) << order;
    }
  }
}

TEST(FinitePairRenyi, OfRandomizedResponseIsTheClosedForm) {
  const FinitePairRenyi bound(FinitePairOf({{0.75, 0.125, 0.125}, {0.125, 0.75, 0.125}}));
  EXPECT_EQ(bound.delta(), 0);
  for (const double order : {1.5, 2.0, 10.0, 300.0}) {
    // 0.75 = 1 - p + p/3, p = 3/8.
    EXPECT_NEAR(bound.Divergence(order), RandomizedResponseRenyi(order, 0.375, 3), 1e-13) << order;
  }
}

TEST(FinitePairRenyi, SetsAsideWhatOneLawHasAlone) {
  EXPECT_NEAR(FinitePairRenyi(FinitePairOf({{0.1, 0.9, 0}, {0, 0.7, 0.3}})).delta(), 0.3, 1e-15);
  EXPECT_NEAR(FinitePairRenyi(FinitePairOf({{0.5 - 1e-9, 0.5}, {0.5, 0.5}})).delta(), 1e-9, 1e-16);
  EXPECT_EQ(FinitePairRenyi(FinitePairOf({{1, 0}, {0, 1}})).delta(), 1);
  // Given an outcome that both have, nothing is revealed.
  EXPECT_LE(FinitePairRenyi(FinitePairOf({{0.5, 0.5, 0}, {0, 0.5, 0.5}})).Divergence(2), 1e-15);
}

// With delta() set aside the rest is a bound: H(P||Q) <= delta + (1 - delta) H(P'||Q').
TEST(FinitePairRenyi, TheRestAndItsDeltaDominateThePair) {
  const std::vector<double> p = {0.2, 0.5, 0.3, 0};
  const std::vector<double> q = {0, 0.6, 0.1, 0.3};
  const double delta = FinitePairRenyi(FinitePairOf({p, q})).delta();
  for (double x = 0.03125; x < 8; x *= 1.25) {
    double whole = 0;
    double rest = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      whole += std::max(0.0, p[i] - x * q[i]);
      if (p[i] > 0 && q[i] > 0) rest += std::max(0.0, p[i] / 0.8 - x * q[i] / 0.7);
    }
    EXPECT_LE(whole, delta + (1 - delta) * rest + 1e-15) << x;
  }
}

TEST(FinitePairRenyi, OfAPoissonSampleIsThatOfTheMixture) {
  const DominatingPair event{{0.1, 0.2, 0.7, 0}, {0.3, 0.6, 0, 0.1}};
  const double s = 0.125;
  const std::vector<Real> q = Exactly(event.second_probabilities);
  std::vector<Real> mixture = Exactly(event.first_probabilities);
  for (size_t i = 0; i < q.size(); ++i) {
    mixture[i] = Real(1 - s) * q[i] + Real(s) * mixture[i];
  }
  const FinitePairRenyi remove(SampledFinitePairOf(event, s, Adjacency::kRemove));
  const FinitePairRenyi add(SampledFinitePairOf(event, s, Adjacency::kAdd));
  EXPECT_NEAR(remove.delta(), 0.7 * s, 1e-15);
  EXPECT_NEAR(add.delta(), 0.7 * s, 1e-15);
  for (const double order : kPairOrders) {
    const Real removed = RenyiTruth(mixture, q, order);
    const Real added = RenyiTruth(q, mixture, order);
    EXPECT_TRUE(removed <= Real(remove.Divergence(order))) << order;
    EXPECT_TRUE(added <= Real(add.Divergence(order))) << order;
    EXPECT_NEAR(remove.Divergence(order), removed.ToDouble(), 1e-13) << order;
    EXPECT_NEAR(add.Divergence(order), added.ToDouble(), 1e-13) << order;
  }
}

}  // namespace
}  // namespace epsledger::accounting
