#include "client/trainers/fsdp/loop_audit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/client/trainers/istdp/attacks/lower_bounds.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::fsdp {
namespace {

constexpr double kFailure = 1e-6;
constexpr double kDelta = 1e-5;

// The epsilon of mu-GDP at kDelta [DRS19, Cor. 2.13].
double EpsilonOfMu(double mu) {
  if (mu == 0) return 0;
  const boost::math::normal normal;
  const auto delta = [&](double epsilon) {
    return cdf(normal, -epsilon / mu + mu / 2) -
           std::exp(epsilon) * cdf(normal, -epsilon / mu - mu / 2);
  };
  double low = 0, high = 50;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (delta(middle) > kDelta ? low : high) = middle;
  }
  return low;
}

double EpsilonLowerBound(const LoopAuditOptions& options, double noise) {
  SeededGaussianRelease release(5, noise);
  absl::StatusOr<ArmScores> scores = StepScores(options, release);
  EXPECT_TRUE(scores.ok()) << scores.status();
  return EpsilonOfMu(istdp::MuLowerBound(
      {std::move(scores->without_canary), std::move(scores->with_canary)}, kFailure));
}

// mu(epsilon, 1e-5) of the Gaussian mechanism.
constexpr double kMuAtOne = 0.2680511232;
constexpr double kMuAtFour = 0.9249308977;

TEST(LoopAudit, FindsNearlyWhatASeparatelyClippedStepClaimsAndNotMore) {
  for (const auto& [epsilon, mu] : {std::pair{1.0, kMuAtOne}, std::pair{4.0, kMuAtFour}}) {
    const double bound = EpsilonLowerBound(
        {.trials = 100'000, .noise_multiplier = 1 / mu, .indicators = true}, 1 / mu);
    EXPECT_LE(bound, epsilon);
    EXPECT_GE(bound, 0.7 * epsilon);
  }
}

TEST(LoopAudit, FindsNotMoreThanTheClaimInOtherGeometriesAndManySteps) {
  for (const ClipGeometry geometry : {ClipGeometry::kSeparate, ClipGeometry::kJoint}) {
    for (const bool indicators : {false, true}) {
      const double noise = 2 / kMuAtFour;  // of 4 steps
      const double bound = EpsilonLowerBound({.steps = 4,
                                              .trials = 2000,
                                              .noise_multiplier = noise,
                                              .geometry = geometry,
                                              .indicators = indicators},
                                             noise);
      EXPECT_LE(bound, 4);
      EXPECT_GE(bound, 1.5);
    }
  }
}

// What a forgotten charge would do: the embedding without its share of the noise makes the noise of
// the whole too small by sqrt(1 - 0.7) or less.
TEST(LoopAudit, CatchesTooLittleNoise) {
  EXPECT_GT(EpsilonLowerBound({.trials = 20'000, .noise_multiplier = 1 / kMuAtFour},
                              std::sqrt(0.3) / kMuAtFour),
            4);
}

TEST(LoopAudit, NothingIsFoundWhereThereIsNothing) {
  EXPECT_EQ(EpsilonLowerBound({.trials = 2000, .noise_multiplier = 1e6}, 1e6), 0);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
