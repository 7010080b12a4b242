// Output and objective perturbation, audited by their one release: what they are charged for holds,
// and a charge for less is caught.

#include "client/trainers/istdp/baselines.h"

#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "tests/client/trainers/run/audited_charge.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kPerturbationTrials = 20'000;

// No record, or one of class 1 whose one feature is `feature`.
LinearLoss CanaryAlone(int records, double feature, double contribution) {
  LabeledRows rows;
  rows.features = Eigen::MatrixXd::Constant(records, 1, feature).sparseView();
  rows.labels = Eigen::VectorXd::Ones(records);
  return *LinearLoss::Create(LogisticMargin{}, std::move(rows), contribution);
}

// The released coefficient of many runs without and with the canary.
using Trainer = std::function<absl::StatusOr<TrainingResult>(const LinearLoss&)>;
accounting::CanaryScores CoefficientScores(double feature, double contribution,
                                           const Trainer& train) {
  const auto arm = [&](int records) {
    const LinearLoss loss = CanaryAlone(records, feature, contribution);
    std::vector<double> scores;
    for (int trial = 0; trial < kPerturbationTrials; ++trial) {
      const absl::StatusOr<TrainingResult> result = train(loss);
      EXPECT_TRUE(result.ok()) << result.status();
      if (!result.ok()) return scores;
      scores.push_back(result->last[0]);
    }
    return scores;
  };
  return {.members = arm(1), .non_members = arm(0)};
}

// At 0 the canary's gradient is -4 and clipped to -1, and so it is up to the minimizer at 1 / (n0
// l2) = .1: the canary moves the minimizer by all of the sensitivity. Theta is a Gaussian whose
// mean moves: its best test is a threshold.
TEST(OutputPerturbationAudit, StaysBelowTheClaimAndCatchesAChargeForTwiceTheRegularization) {
  constexpr double kMu = 0.9249308977;  // mu(4, 1e-5) of the Gaussian mechanism
  const PerturbationOptions options{.l2 = 10, .public_record_count = 1, .row_norm_bound = 8};
  SeededGaussianRelease release(31, 1 / kMu);
  const accounting::CanaryScores scores = CoefficientScores(8, 1, [&](const LinearLoss& loss) {
    return TrainOutputPerturbation(loss, options, release);
  });
  const AuditedCharge right = AuditGaussian(scores, {GaussianSteps(1 / kMu, 1)});
  EXPECT_NEAR(right.claimed, 4, 1e-6);
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_GE(right.lower_bound, 0.7 * right.claimed);
  EXPECT_FALSE(right.contradicted);
  // The sensitivity is proportional to 1 / l2.
  const AuditedCharge wrong = AuditGaussian(scores, {GaussianSteps(2 / kMu, 1)});
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
  EXPECT_TRUE(wrong.contradicted);
}

accounting::CountedEvent ApproximateDpOnce(double epsilon, double delta) {
  return {.event = accounting::MechanismEvent(
              accounting::ApproximateDp{.epsilon = epsilon, .delta = delta}),
          .count = 1};
}

// Runs with the noise for `target`.
accounting::CanaryScores ObjectiveScores(const ObjectivePerturbationTarget& target) {
  const PerturbationOptions options{.l2 = 0.1, .public_record_count = 1, .row_norm_bound = 1};
  std::mt19937_64 generator(32);
  std::normal_distribution<double> normal;
  const auto draws = [&]() -> absl::StatusOr<Eigen::VectorXd> {
    return Eigen::VectorXd(Eigen::Vector2d(normal(generator), normal(generator)));
  };
  return CoefficientScores(1, 1.000002, [&](const LinearLoss& loss) {
    return TrainObjectivePerturbation(loss, options, target, draws);
  });
}

// Where theta is negative the canary's gradient is nearly -1: such theta need noise that is larger
// by 1. No Gaussian: counted at delta .05, where the charge of (8, 1e-5) is 7.9 and that of (1,
// 1e-5) is .93.
TEST(ObjectivePerturbationAudit, StaysBelowTheClaimAndCatchesAChargeForASmallerEpsilon) {
  const accounting::AuditTarget target{.delta = 0.05, .confidence = kSureTarget.confidence};
  const accounting::CanaryScores scores = ObjectiveScores({.epsilon = 8, .delta = 1e-5});
  const AuditedCharge right = AuditByCounting(scores, {ApproximateDpOnce(8, 1e-5)}, target);
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_GT(right.lower_bound, 1);
  const AuditedCharge wrong = AuditByCounting(scores, {ApproximateDpOnce(1, 1e-5)}, target);
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
  // With less to hide behind: the noise for 2.5 is charged as that.
  const AuditedCharge kept = AuditByCounting(ObjectiveScores({.epsilon = 2.5, .delta = 1e-5}),
                                             {ApproximateDpOnce(2.5, 1e-5)}, target);
  EXPECT_LE(kept.lower_bound, kept.claimed);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
