// The sound trainer, audited by what the strongest adversary sees of it: the lower bound on epsilon
// must stay below the claim, and close to it, or the noise is not what it should be.

#include "client/trainers/istdp/loop_audit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "accounting/gaussian/profile.h"
#include "tests/client/trainers/istdp/attacks/lower_bounds.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr double kFailure = 1e-6;
constexpr double kDelta = 1e-5;
constexpr int kSteps = 30;

// An upper bound on the epsilon of mu-GDP at delta 1e-5.
double Epsilon(double mu) {
  return mu <= 0 ? 0 : accounting::GaussianEpsilon({mu, mu}, std::log(kDelta)).upper;
}

// The lower bound on epsilon under the hypothesis that the trade-off is Gaussian.
double Audit(const LoopAuditOptions& options, double true_noise_multiplier) {
  SeededGaussianRelease release(11, true_noise_multiplier);
  const absl::StatusOr<TrialScores> scores = SoundLoopScores(options, release);
  EXPECT_TRUE(scores.ok()) << scores.status();
  return Epsilon(MuLowerBound(*scores, kFailure));
}

void ExpectSoundAndClose(double mu, double claimed) {
  const double noise_multiplier = std::sqrt(kSteps) / mu;
  const double shown = Audit(
      {.steps = kSteps, .trials = 100'000, .noise_multiplier = noise_multiplier}, noise_multiplier);
  testing::Test::RecordProperty("lower_bound", std::to_string(shown));
  EXPECT_LE(shown, claimed);
  EXPECT_GE(shown, 0.7 * claimed);
}

TEST(LoopAudit, OfTheSoundTrainerAtEpsilonOneStaysBelowTheClaimAndClose) {
  ExpectSoundAndClose(0.2680511232, 1);
}

TEST(LoopAudit, OfTheSoundTrainerAtEpsilonFourStaysBelowTheClaimAndClose) {
  ExpectSoundAndClose(0.9249308977, 4);
}

TEST(LoopAudit, OfFewRunsStaysBelowTheClaim) {
  for (const double mu : {0.1422105587, 0.5015516892, 1.6660305978}) {
    const double noise_multiplier = std::sqrt(kSteps) / mu;
    EXPECT_LE(Audit({.steps = kSteps, .trials = 1000, .noise_multiplier = noise_multiplier},
                    noise_multiplier),
              Epsilon(mu));
  }
}

TEST(LoopAudit, CatchesAContributionTwiceAsLargeAsWhatTheNoiseIsFor) {
  const double noise_multiplier = std::sqrt(kSteps) / 0.9249308977;
  EXPECT_GT(Audit({.steps = kSteps,
                   .trials = 20'000,
                   .noise_multiplier = noise_multiplier,
                   .contribution = 2},
                  noise_multiplier),
            4);
}

TEST(LoopAudit, CatchesAForgottenCharge) {
  // Twice as many releases as were paid for.
  const double noise_multiplier = std::sqrt(kSteps) / 0.9249308977;
  EXPECT_GT(Audit({.steps = 2 * kSteps, .trials = 20'000, .noise_multiplier = noise_multiplier},
                  noise_multiplier),
            4);
}

TEST(LoopAudit, OfARunWithTooMuchNoiseIsNoticedAsFarBelowTheClaim) {
  const double noise_multiplier = std::sqrt(kSteps) / 0.9249308977;
  EXPECT_LT(Audit({.steps = kSteps, .trials = 20'000, .noise_multiplier = noise_multiplier},
                  2 * noise_multiplier),
            0.7 * 4);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
