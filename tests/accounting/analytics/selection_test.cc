#include "accounting/analytics/selection.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/profile/profiles_of.h"
#include "accounting/renyi/divergences.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

Setting SettingFor(NeighboringRelation relation, SensitivityRelation stated) {
  Setting setting;
  setting.relation = relation;
  setting.sensitivity_relation = stated;
  return setting;
}
const Setting kOneAdded =
    SettingFor(NeighboringRelation::kAddOrRemoveOne, SensitivityRelation::kContribution);

// Distribution functions and densities of noise of scale 1.
double Cumulative(Noise noise, double x) {
  if (noise == Noise::kLaplace) return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x);
  if (noise == Noise::kExponential) return x < 0 ? 0 : -std::expm1(-x);
  return std::exp(-std::exp(-x));
}
double DensityOf(Noise noise, double x) {
  if (noise == Noise::kLaplace) return 0.5 * std::exp(-std::abs(x));
  if (noise == Noise::kExponential) return x < 0 ? 0 : std::exp(-x);
  return std::exp(-x - std::exp(-x));
}

// P[the noisy maximum is scores[winner]], by quadrature over its noise. Scores are in scales.
double WinProbability(Noise noise, const std::vector<double>& scores, size_t winner) {
  double sum = 0;
  const double h = 2e-3;
  for (double z = -40 + h / 2; z < 40; z += h) {
    double others = DensityOf(noise, z);
    for (size_t i = 0; i < scores.size(); ++i) {
      if (i != winner) others *= Cumulative(noise, scores[winner] + z - scores[i]);
    }
    sum += h * others;
  }
  return sum;
}

struct LossRange {
  double smallest;
  double largest;
};
LossRange LossesOf(Noise noise, const std::vector<double>& before,
                   const std::vector<double>& after) {
  LossRange range{0, 0};
  for (size_t i = 0; i < before.size(); ++i) {
    const double loss =
        std::log(WinProbability(noise, after, i) / WinProbability(noise, before, i));
    if (i == 0) range = LossRange{loss, loss};
    range = LossRange{std::min(range.smallest, loss), std::max(range.largest, loss)};
  }
  return range;
}

TEST(NoisyMax, LosesAtMostItsEpsilonAndAlmostThat) {
  const double z = 1.5;  // one contribution is 1 / z scales
  const double step = 1 / z;
  for (const Noise noise : {Noise::kLaplace, Noise::kExponential, Noise::kGumbel}) {
    for (const bool monotonic : {false, true}) {
      const double epsilon = NoisyMaxEpsilon(ReportNoisyMax{noise, z, monotonic}, kOneAdded);
      double largest = 0, widest = 0;
      for (const double lead : {-6.0, -1.0, 0.0, 1.0, 6.0}) {
        const std::vector<double> before = {lead, 0, 0.3};
        const std::vector<double> changes =
            monotonic ? std::vector<double>{0, step} : std::vector<double>{-step, 0, step};
        for (const double a : changes) {
          for (const double b : changes) {
            const LossRange range =
                LossesOf(noise, before, {before[0] + a, before[1] + b, before[2] + b});
            largest = std::max({largest, range.largest, -range.smallest});
            widest = std::max(widest, range.largest - range.smallest);
          }
        }
      }
      const std::string what = NoiseName(noise) + (monotonic ? " monotonic" : "");
      EXPECT_LE(largest, epsilon + 1e-3) << what;
      EXPECT_GE(largest, 0.9 * epsilon) << what;
      if (noise == Noise::kGumbel) {
        EXPECT_LE(widest, epsilon + 1e-3) << what;
      }
    }
  }
}

// delta of the index alone, by the probabilities of every winner.
double IndexDelta(Noise noise, const std::vector<double>& before, const std::vector<double>& after,
                  double epsilon) {
  double delta = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    delta += std::max(0.0, WinProbability(noise, after, i) -
                               std::exp(epsilon) * WinProbability(noise, before, i));
  }
  return delta;
}

// The closed form of Laplace noise at the distance by which two scores move apart.
TEST(NoisyMax, IsNoBetterToldThanLaplaceNoise) {
  for (const Noise noise : {Noise::kLaplace, Noise::kExponential}) {
    for (const double apart : {0.3, 1.0, 3.0}) {
      for (const std::vector<double>& before :
           {std::vector<double>{0, 0}, {-0.5 * apart, 0}, {0.2, 0, 0.1}, {-1, 0, 0, -2, 0.5}}) {
        for (size_t winners = 1; winners < before.size(); ++winners) {
          std::vector<double> after = before;
          for (size_t i = 0; i < winners; ++i) after[i] += apart * (i == 0 ? 1 : 0.8);
          for (const double epsilon : {-0.1, 0.0, 0.25, 0.9}) {
            const double bound = epsilon > apart ? 0 : -std::expm1(0.5 * (epsilon - apart));
            const std::string what =
                NoiseName(noise) + " " + std::to_string(apart) + " " + std::to_string(epsilon);
            EXPECT_LE(IndexDelta(noise, before, after, epsilon), bound + 1e-3) << what;
            EXPECT_LE(IndexDelta(noise, after, before, epsilon), bound + 1e-3) << what;
          }
        }
      }
    }
  }
}

// ... which two scores with exponential noise attain: one trails by d1 and then leads by d2.
TEST(NoisyMax, WithExponentialNoiseAttainsTheProfileOfLaplaceNoise) {
  for (const auto& [apart, epsilon] : {std::pair{1.0, 0.5}, {0.3, 0.0}, {3.0, 2.0}}) {
    const double leads = 0.5 * (apart - epsilon);
    const double before = 0.5 * std::exp(leads - apart);
    const double after = 1 - 0.5 * std::exp(-leads);
    EXPECT_NEAR(WinProbability(Noise::kExponential, {leads - apart, 0}, 0), before, 1e-3);
    EXPECT_NEAR(WinProbability(Noise::kExponential, {leads, 0}, 0), after, 1e-3);
    const absl::StatusOr<DirectedProfiles> profiles =
        ProfilesOf(PermuteAndFlip{apart}, kOneAdded, 1, Accountant::kPld);
    ASSERT_TRUE(profiles.ok()) << profiles.status();
    const double attained = after - std::exp(epsilon) * before;
    EXPECT_NEAR(std::exp(profiles->remove->LogDelta(epsilon).upper), attained, 1e-12);
    EXPECT_GE(std::exp(profiles->remove->LogDelta(epsilon).upper), attained * (1 - 1e-14));
    EXPECT_FALSE(profiles->remove->exact());
  }
}

TEST(NoisyMax, HasTheDivergencesOfLaplaceNoise) {
  for (const MechanismEvent& event :
       {MechanismEvent(PermuteAndFlip{0.7}),
        MechanismEvent(ReportNoisyMax{Noise::kExponential, 1 / 0.7, true}),
        MechanismEvent(ReportNoisyMax{Noise::kLaplace, 2 / 0.7, false})}) {
    const std::vector<Use> uses = {Use{&event, 3}};
    const absl::StatusOr<RenyiDivergences> divergences =
        RenyiDivergences::Create(uses, kOneAdded, Accountant::kRenyi);
    ASSERT_TRUE(divergences.ok()) << divergences.status();
    for (const double order : {1.5, 2.0, 8.0}) {
      // [Mironov17] Prop 6.
      const double moment = order / (2 * order - 1) * std::exp(0.7 * (order - 1)) +
                            (order - 1) / (2 * order - 1) * std::exp(-0.7 * order);
      EXPECT_NEAR(divergences->Divergence(order), 3 * std::log(moment) / (order - 1), 1e-12);
    }
  }
}

TEST(NoisyMax, KnowsHowFarScoresMove) {
  const auto epsilon = [](NeighboringRelation relation, SensitivityRelation stated,
                          bool monotonic) {
    return NoisyMaxEpsilon(ReportNoisyMax{Noise::kLaplace, 1, monotonic},
                           SettingFor(relation, stated));
  };
  using Relation = NeighboringRelation;
  using Stated = SensitivityRelation;
  for (const Relation relation : {Relation::kAddOrRemoveOne, Relation::kReplaceSpecial}) {
    EXPECT_NEAR(epsilon(relation, Stated::kContribution, false), 2, 1e-12);
    EXPECT_NEAR(epsilon(relation, Stated::kContribution, true), 1, 1e-12);
  }
  // Two scores that a replaced record moves by 2 apart each; monotonic ones by 1.
  EXPECT_NEAR(epsilon(Relation::kReplaceOne, Stated::kContribution, false), 4, 1e-12);
  EXPECT_NEAR(epsilon(Relation::kReplaceOne, Stated::kContribution, true), 2, 1e-12);
  EXPECT_NEAR(epsilon(Relation::kReplaceOne, Stated::kReplaceOne, false), 2, 1e-12);
  EXPECT_NEAR(epsilon(Relation::kReplaceOne, Stated::kReplaceOne, true), 2, 1e-12);
  EXPECT_GE(epsilon(Relation::kAddOrRemoveOne, Stated::kContribution, false), 2);
}

// P[the answers], for queries and a threshold of 0 in contributions, by quadrature over the noise
// of the threshold.
double AnswersProbability(const AboveThreshold& event, const std::vector<double>& queries,
                          const std::vector<bool>& answers) {
  double sum = 0;
  const double h = 2e-2;
  for (double rho = -40 + h / 2; rho < 40; rho += h) {
    double product = DensityOf(Noise::kLaplace, rho);
    const double threshold = rho * event.threshold_noise_multiplier;
    for (size_t i = 0; i < answers.size(); ++i) {
      const double below =
          Cumulative(Noise::kLaplace, (threshold - queries[i]) / event.query_noise_multiplier);
      product *= answers[i] ? 1 - below : below;
    }
    sum += h * product;
  }
  return sum;
}

TEST(SparseVector, LosesAtMostItsEpsilonAndMostOfIt) {
  for (const int64_t cutoff : {1, 2}) {
    for (const bool monotonic : {false, true}) {
      const AboveThreshold event{2, 3, cutoff, monotonic};
      const double epsilon = AboveThresholdEpsilon(event, kOneAdded);
      // Many queries below, then `cutoff` above.
      std::vector<bool> answers(40, false);
      for (int64_t i = 0; i < cutoff; ++i) answers.push_back(true);
      const std::vector<double> changes =
          monotonic ? std::vector<double>{0, 1} : std::vector<double>{-1, 0, 1};
      double largest = 0;
      for (const double level : {-8.0, -4.0, 0.0}) {
        for (const double below : changes) {
          for (const double above : changes) {
            std::vector<double> before(40, level), after(40, level + below);
            for (int64_t i = 0; i < cutoff; ++i) {
              before.push_back(-12);
              after.push_back(-12 + above);
            }
            const double loss = std::log(AnswersProbability(event, after, answers) /
                                         AnswersProbability(event, before, answers));
            largest = std::max(largest, std::abs(loss));
          }
        }
      }
      EXPECT_LE(largest, epsilon + 1e-3) << cutoff << monotonic;
      EXPECT_GE(largest, 0.6 * epsilon) << cutoff << monotonic;
    }
  }
}

TEST(SparseVector, AddsTheShareOfTheThresholdOnceAndThatOfAQueryForEachAnswer) {
  EXPECT_NEAR(AboveThresholdEpsilon(AboveThreshold{2, 20, 5, false}, kOneAdded), 0.5 + 0.5, 1e-12);
  EXPECT_NEAR(AboveThresholdEpsilon(AboveThreshold{2, 20, 5, true}, kOneAdded), 0.5 + 0.25, 1e-12);
  const Setting replaced =
      SettingFor(NeighboringRelation::kReplaceOne, SensitivityRelation::kContribution);
  EXPECT_NEAR(AboveThresholdEpsilon(AboveThreshold{2, 20, 5, false}, replaced), 2, 1e-12);
  EXPECT_NEAR(AboveThresholdEpsilon(AboveThreshold{2, 20, 5, true}, replaced), 1, 1e-12);
  EXPECT_GE(AboveThresholdEpsilon(AboveThreshold{3, 7, 1, false}, kOneAdded), 1.0 / 3 + 2.0 / 7);
}

}  // namespace
}  // namespace epsledger::accounting
