#include "accounting/renyi/mixture_of_gaussians.h"

#include <cmath>

#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/divergences.h"
#include "accounting/renyi/group.h"
#include "accounting/renyi/replace_sampled_gaussian.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

using Parts = std::vector<MixturePart>;

enum class Side { kRemove, kAdd, kReplace };

long double Density(const Parts& parts, long double t, int sign) {
  long double sum = 0;
  for (const MixturePart& part : parts) {
    const long double s = sign * static_cast<long double>(part.shift);
    sum += static_cast<long double>(part.weight) * std::exp(s * t - s * s / 2);
  }
  return sum;
}

// The divergence by a plain sum in long double.
double Truth(const Parts& parts, Side side, long double a) {
  constexpr long double kStep = 4e-3L;
  const long double s = parts.back().shift;
  long double sum = 0;
  for (long double t = -2 * a * s - 15; t <= 2 * a * s + 15; t += kStep) {
    const long double above = Density(parts, t, 1);
    const long double p = side == Side::kAdd ? 1 : above;
    const long double q = side == Side::kRemove ? 1
                          : side == Side::kAdd  ? above
                                                : Density(parts, t, -1);
    const long double power = a * std::log(p) + (1 - a) * std::log(q) - t * t / 2;
    sum += std::exp(power) - (q + a * (p - q)) * std::exp(-t * t / 2);
  }
  return static_cast<double>(std::log1p(sum * kStep / std::sqrt(2 * std::acos(-1.0L))) / (a - 1));
}

double Bound(const GaussianMixture& mixture, Side side, double order) {
  if (side == Side::kRemove) return MixtureRemoveRenyi(mixture, order);
  return side == Side::kAdd ? MixtureAddRenyi(mixture, order) : MixtureReplaceRenyi(mixture, order);
}

const std::vector<Parts>& Mixtures() {
  static const std::vector<Parts> mixtures = {{{0, 0.75}, {1, 0.125}, {2, 0.125}},
                                              {{0, 0.99}, {0.3, 0.005}, {1.5, 0.005}},
                                              {{0.25, 0.5}, {2, 0.5}},
                                              {{1, 1}},
                                              {{0.1, 0.9}, {0.2, 0.05}, {0.4, 0.05}},
                                              {{0, 0x1p-10}, {0.5, 1 - 0x1p-9}, {1, 0x1p-10}}};
  return mixtures;
}

TEST(MixtureRenyiDivergence, IsTheDivergenceFromAbove) {
  for (const Parts& parts : Mixtures()) {
    const GaussianMixture mixture(parts, 0);
    for (const Side side : {Side::kRemove, Side::kAdd, Side::kReplace}) {
      for (const double order : {1.05, 1.5, 2.0, 5.0, 16.0}) {
        const double bound = Bound(mixture, side, order);
        const double truth = Truth(parts, side, order);
        EXPECT_GE(bound, truth * (1 - 1e-9))
            << parts.size() << " " << static_cast<int>(side) << " " << order;
        EXPECT_LE(bound, truth * (1 + 1e-6))
            << parts.size() << " " << static_cast<int>(side) << " " << order;
      }
    }
  }
}

TEST(MixtureRenyiDivergence, IsTheSampledGaussianOfTwoParts) {
  for (const double q : {1e-4, 0.02, 0.5}) {
    for (const double z : {0.7, 2.0}) {
      const GaussianMixture mixture({{0, 1 - q}, {1 / z, q}}, 4e-16);
      for (const double order : {1.3, 2.0, 7.5, 40.0}) {
        EXPECT_NEAR(MixtureRemoveRenyi(mixture, order) / SampledGaussianRemoveRenyi({q, z}, order),
                    1, 1e-6);
        EXPECT_NEAR(MixtureAddRenyi(mixture, order) / SampledGaussianAddRenyi({q, z}, order), 1,
                    1e-6);
        EXPECT_NEAR(
            MixtureReplaceRenyi(mixture, order) / ReplaceSampledGaussianRenyi({q, z}, order), 1,
            1e-6);
      }
    }
  }
}

TEST(MixtureRenyiDivergence, HoldsWhereTheQuadratureGivesUp) {
  for (const double largest : {1e-8, 1e-3, 1.0, 30.0, 5e3, 9e5}) {
    for (const double order : {1 + 1e-9, 2.0, 300.0, 1e4, 1e7}) {
      const GaussianMixture mixture({{0, 0.5}, {0.5 * largest, 0.25}, {largest, 0.25}}, 1e-15);
      for (const Side side : {Side::kRemove, Side::kAdd, Side::kReplace}) {
        const double bound = Bound(mixture, side, order);
        EXPECT_FALSE(std::isnan(bound)) << largest << " " << order;
        EXPECT_GT(bound, 0) << largest << " " << order;
        const double distance = side == Side::kReplace ? 2 * largest : largest;
        EXPECT_LE(bound, GaussianRenyi(std::max(order, 1 + 1e-6), distance) * (1 + 1e-9))
            << largest << " " << order;
      }
    }
  }
}

TEST(CoarserMixture, MovesShiftsUp) {
  Parts parts;
  for (int i = 0; i <= 250; ++i) parts.push_back({i * 8e-3, 1.0 / 251});
  const Parts coarser = CoarserMixture(parts, 64);
  EXPECT_LE(coarser.size(), 65u);
  double total = 0;
  double mean = 0;
  for (const MixturePart& part : coarser) {
    total += part.weight;
    mean += part.weight * part.shift;
    EXPECT_LE(part.shift, 2);
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_GE(mean, 1);
  EXPECT_LE(mean, 1 + 2.0 / 63);
  EXPECT_EQ(coarser.front().shift, 0);
  for (const double order : {2.0, 5.0}) {
    const double fine = Truth(parts, Side::kRemove, order);
    const double bound = MixtureRemoveRenyi(GaussianMixture(coarser, 1e-12), order);
    EXPECT_GE(bound, fine);
    EXPECT_LE(bound, 1.1 * fine);
  }
  EXPECT_EQ(CoarserMixture({{1, 1}}, 64).size(), 1u);
}

double Of(const MechanismEvent& event, const Setting& setting, double order, int64_t group = 1) {
  const auto divergences =
      RenyiDivergences::Create({{&event, 1}}, setting, Accountant::kRenyi, group);
  return divergences.ok() ? divergences->Divergence(order) : -1;
}

TEST(MixtureRenyiDivergence, IsThatOfTheEvents) {
  const MechanismEvent mixture = MixtureOfGaussians{2, {0, 1, 3}, {0.5, 0.25, 0.25}};
  const MechanismEvent sampled = PoissonSampled{0.5, NestedEvent(mixture)};
  const Parts parts = {{0, 0.5}, {0.5, 0.25}, {1.5, 0.25}};
  const Parts half = {{0, 0.75}, {0.5, 0.125}, {1.5, 0.125}};
  for (const double order : {1.5, 2.0, 6.0}) {
    Setting setting;
    const double both =
        std::max(Truth(parts, Side::kRemove, order), Truth(parts, Side::kAdd, order));
    EXPECT_NEAR(Of(mixture, setting, order) / both, 1, 1e-6);
    setting.adjacency = Adjacency::kAdd;
    EXPECT_NEAR(Of(mixture, setting, order) / Truth(parts, Side::kAdd, order), 1, 1e-6);
    EXPECT_NEAR(Of(sampled, setting, order) / Truth(half, Side::kAdd, order), 1, 1e-6);
    setting.adjacency = Adjacency::kRemove;
    EXPECT_NEAR(Of(sampled, setting, order) / Truth(half, Side::kRemove, order), 1, 1e-6);
    Setting replace;
    replace.relation = NeighboringRelation::kReplaceOne;
    EXPECT_NEAR(Of(mixture, replace, order) / Truth(parts, Side::kReplace, order), 1, 1e-6);
    EXPECT_NEAR(Of(sampled, replace, order) / Truth(half, Side::kReplace, order), 1, 1e-6);
    // The path of two single steps.
    EXPECT_NEAR(Of(mixture, replace, order, 2) /
                    GroupRenyi([&](double a) { return Truth(parts, Side::kReplace, a); }, order, 2),
                1, 1e-6);
    // Only replacements are stated: each number of contributions counts as told.
    replace.sensitivity_relation = SensitivityRelation::kReplaceOne;
    const double k = order * (order - 1) / 2;
    EXPECT_NEAR(Of(mixture, replace, order),
                std::log(0.5 + 0.25 * std::exp(k * 0.25) + 0.25 * std::exp(k * 2.25)) / (order - 1),
                1e-12);
  }
}

}  // namespace
}  // namespace epsledger::accounting
