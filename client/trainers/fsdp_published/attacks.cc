#include "client/trainers/fsdp_published/attacks.h"
#include "accounting/event/status_macros.h"

#include <random>
#include <utility>

#include <Eigen/QR>

namespace epsledger::trainers::fsdp_published {
namespace {

constexpr Eigen::Index kInputs = 24;
constexpr Eigen::Index kOutputs = 12;
constexpr int kRecords = 8;

Eigen::VectorXd UnitVector(Eigen::Index size, std::mt19937_64* random) {
  std::normal_distribution<double> normal;
  Eigen::VectorXd vector(size);
  for (double& entry : vector) entry = normal(*random);
  return vector.normalized();
}

}  // namespace

Attack RowSpaceAttack(uint64_t seed) {
  std::mt19937_64 random(seed);
  Attack attack;
  Eigen::MatrixXd deltas(kOutputs, kRecords);
  for (int i = 0; i < kRecords; ++i) {
    deltas.col(i) = UnitVector(kOutputs, &random);
    attack.without.push_back(
        {.gradient = UnitVector(kInputs, &random) * deltas.col(i).transpose(), .row_epsilons = {}});
  }
  const Eigen::VectorXd canary = UnitVector(kOutputs, &random);
  attack.with = attack.without;
  attack.with.push_back(
      {.gradient = UnitVector(kInputs, &random) * canary.transpose(), .row_epsilons = {}});
  const Eigen::MatrixXd span = Eigen::HouseholderQR<Eigen::MatrixXd>(deltas).householderQ() *
                               Eigen::MatrixXd::Identity(kOutputs, kRecords);
  // Projected twice, so that no rounding error remains in the span.
  Eigen::VectorXd outside = canary;
  for (int i = 0; i < 2; ++i) outside -= span * (span.transpose() * outside);
  outside.normalize();
  attack.score = [outside](const Eigen::MatrixXd& release) { return (release * outside).norm(); };
  // Far above rounding, far below the noise of a single entry at any epsilon in use.
  attack.threshold = 1e-3;
  return attack;
}

Attack ZeroGradientAttack(uint64_t seed) {
  std::mt19937_64 random(seed);
  Attack attack;
  for (int i = 0; i < kRecords; ++i) {
    attack.without.push_back(
        {.gradient = Eigen::MatrixXd::Zero(kInputs, kOutputs), .row_epsilons = {}});
  }
  attack.with = attack.without;
  attack.with.push_back(
      {.gradient = UnitVector(kInputs, &random) * UnitVector(kOutputs, &random).transpose(),
       .row_epsilons = {}});
  attack.score = [](const Eigen::MatrixXd& release) { return release.norm(); };
  attack.threshold = 0;
  return attack;
}

absl::StatusOr<AttackScores> Scores(const Attack& attack, const BatchMechanism& mechanism,
                                    int64_t trials) {
  AttackScores scores;
  for (int64_t trial = 0; trial < trials; ++trial) {
    for (const bool with : {true, false}) {
      ASSIGN_OR_RETURN(Eigen::MatrixXd release, mechanism(with ? attack.with : attack.without));
      (with ? scores.with : scores.without).push_back(attack.score(release));
    }
  }
  return scores;
}

absl::StatusOr<AttackCounts> RunAttack(const Attack& attack, const BatchMechanism& mechanism,
                                       int64_t trials) {
  ASSIGN_OR_RETURN(const AttackScores scores, Scores(attack, mechanism, trials));
  AttackCounts counts{.trials = trials};
  for (const double score : scores.with) counts.true_positives += score > attack.threshold;
  for (const double score : scores.without) counts.false_positives += score > attack.threshold;
  return counts;
}

BatchMechanism PublishedMechanism(const PublishedBudget& budget, const NormalSource& normal) {
  const PublishedOptions options{
      .budget = budget, .factorization = {.method = FactorizationMethod::kExact, .rank = 1}};
  return [options,
          &normal](const std::vector<RecordGradient>& batch) -> absl::StatusOr<Eigen::MatrixXd> {
    ASSIGN_OR_RETURN(PublishedRelease release, ReleaseBatch(batch, options, normal));
    return std::move(release.gradient);
  };
}

}  // namespace epsledger::trainers::fsdp_published
