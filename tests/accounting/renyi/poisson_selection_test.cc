#include "accounting/renyi/poisson_selection.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "accounting/classical/approximate_dp.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

using Law = std::vector<double>;

// The law of the best of a Poisson number of runs, outcome by outcome from the worst, and nothing
// at the end: with F(y) the probability of y or worse, the best is y or worse, or nothing, with
// probability e^{mean (F(y) - 1)}.
Law Selected(const Law& run, double mean) {
  Law best;
  double below = 0;
  for (const double p : run) {
    best.push_back(std::exp(mean * (below + p - 1)) - std::exp(mean * (below - 1)));
    below += p;
  }
  best.push_back(std::exp(-mean));
  return best;
}

double RenyiOf(const Law& p, const Law& q, double order) {
  double largest = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    largest = std::max(largest, (order - 1) * std::log(p[i] / q[i]));
  }
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    sum += p[i] * std::exp((order - 1) * std::log(p[i] / q[i]) - largest);
  }
  return (largest + std::log(sum)) / (order - 1);
}

double BothWays(const Law& p, const Law& q, double order) {
  return std::max(RenyiOf(p, q, order), RenyiOf(q, p, order));
}

TEST(PoissonSelection, IsAboveTheSelectionItself) {
  std::mt19937_64 bits(1);
  const auto unit = [&] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  for (int trial = 0; trial < 60; ++trial) {
    Law p;
    Law q;
    double p_sum = 0;
    double q_sum = 0;
    for (uint64_t i = 0; i < 2 + bits() % 5; ++i) {
      p.push_back(unit() + 1e-3);
      q.push_back(p.back() * std::exp((unit() - 0.5) * (trial % 3 == 0 ? 0.1 : 3)));
      p_sum += p.back();
      q_sum += q.back();
    }
    for (double& x : p) x /= p_sum;
    for (double& x : q) x /= q_sum;
    const auto one_run = [&](double order) { return BothWays(p, q, order); };
    for (const double mean : {1.0, 2.0, 10.0, 100.0}) {
      const PoissonSelection selection(one_run, mean);
      for (const double order : {1.05, 1.5, 2.0, 5.0, 30.0, 100.0}) {
        EXPECT_GE(selection.Divergence(order, one_run) * (1 + 1e-9) + 1e-12,
                  BothWays(Selected(p, mean), Selected(q, mean), order))
            << trial << " " << mean << " " << order;
      }
    }
  }
}

// Theorem 6 of Papernot and Steinke, for Gaussian noise: divergence rho a, and the delta at
// log(a / (a-1)) of the exact Gaussian is below what the divergences give.
TEST(PoissonSelection, IsTheTheoremUpToTheTermOfNoRun) {
  const double rho = 0.02;
  const double mean = 20;
  const auto curve = [&](double order) { return rho * order; };
  const PoissonSelection selection(curve, mean);
  for (const double order : {2.0, 4.0, 8.0}) {
    const double printed_without_delta = curve(order) + std::log(mean) / (order - 1);
    const double no_run = std::exp(-mean) / mean / (order - 1);
    EXPECT_LE(selection.Divergence(order, curve),
              printed_without_delta + mean * 1e-3 * std::pow(order, 6) + no_run);
    double least = printed_without_delta;
    for (double larger = order; larger < 1e3; larger *= 1.001) {
      least = std::min(least, curve(larger) + std::log(mean) / (larger - 1));
    }
    EXPECT_GE(selection.Divergence(order, curve), least);
  }
}

TEST(PoissonSelection, GrowsWithTheMeanAndNeverFallsWithTheOrder) {
  const auto curve = [](double order) { return std::min(0.05 * order, 0.7); };
  double before_mean = 0;
  for (const double mean : {1.0, 3.0, 10.0, 30.0, 1000.0}) {
    const PoissonSelection selection(curve, mean);
    EXPECT_GE(selection.Divergence(4, curve), before_mean);
    before_mean = selection.Divergence(4, curve);
    double before = 0;
    for (double order = 1.01; order < 100; order *= 1.3) {
      const double bound = selection.Divergence(order, curve);
      // The grid of larger orders is coarse.
      EXPECT_GE(bound, before * 0.9) << mean << " " << order;
      before = bound;
    }
  }
}

TEST(PoissonSelectionEpsilon, IsAboveEveryPairOfThatEpsilon) {
  for (const double epsilon : {0.01, 0.5, 2.0}) {
    const double high = std::exp(epsilon) / (1 + std::exp(epsilon));
    for (const double mean : {1.0, 5.0, 50.0}) {
      const double bound = PoissonSelectionEpsilon(epsilon, mean);
      double largest = 0;
      for (const Law& p : {Law{high, 1 - high}, Law{1 - high, high}}) {
        const Law q = {p[1], p[0]};
        const Law from = Selected(p, mean);
        const Law to = Selected(q, mean);
        for (size_t i = 0; i < from.size(); ++i) {
          largest = std::max(largest, std::abs(std::log(from[i] / to[i])));
        }
      }
      EXPECT_LE(largest, bound + 1e-12);
      EXPECT_LE(bound, epsilon + mean * epsilon / 2 + 1e-12);
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
