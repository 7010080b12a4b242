#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_LOOP_AUDIT_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_LOOP_AUDIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/fsdp/subspace.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::fsdp {

struct LoopAuditOptions {
  int steps = 1;  // of one trial; >= 1
  int trials = 1000;
  // Noise multiplier that the steps are charged for; > 0. It only scales the scores.
  double noise_multiplier = 1;
  ClipGeometry geometry = ClipGeometry::kSeparate;
  // True: with two quantile indicators (one for kJoint).
  bool indicators = false;
  // Standard deviation on the sum of each indicator's +-1/2, in noise multipliers; above 1, or the
  // indicators would take half of the charged noise (SplitNoise).
  double indicator_noise = 5;
  // NoiseSplitOptions::embedding_fraction.
  double embedding_fraction = 0.7;
  // H. The canary's delta is (-2, 1, 1) / 3: a row along it makes all of the gradient embedding.
  network::Matrix<float> subspace = RandomSubspace(1, 3, 1);
  // LayerView::column_scales: of the input, which has a thousand times the gradient of the bias,
  // and of the bias. Empty: both 1.
  network::Vector<float> column_scales;
  // How the canary is drawn: {0} with the sampling probability, else {}. Set if and only if the
  // probability is below 1.
  double sampling_probability = 1;
  BatchSource batches;
  // True: the other arm has a record of the opposite gradient instead of none (neighbors under
  // replace-one). It is opposite except for the bias, which is a thousandth of it.
  bool replaced = false;
};

// A released vector begins with the embedding, this many numbers for each row of H; then the
// residual, so many numbers for each output; then the indicators.
inline constexpr Eigen::Index kAuditedColumns = 2;
inline constexpr Eigen::Index kAuditedOutputs = 3;

// Scores of the trials of each arm, for a two-arm audit.
struct ArmScores {
  std::vector<double> without_canary;
  std::vector<double> with_canary;
};

// Returns scores of the mechanism of a step (ClippedSum, then `release` with contribution 1) on no
// record and on one canary. The canary is clipped in both parts, so it uses all of the norm that a
// record may have. Scores are those of TranscriptScore, the optimal statistic of the adversary who
// sees every release; twice as large for a replaced record. Without sampling they are normal with
// variance mu^2 and means mu^2 apart, mu = sqrt(steps) ||c|| / noise_multiplier, where c is the
// canary's contribution and ||c|| is just below 1, if and only if embedding, residual and
// indicators are noised as the one charged event says. About 30 us a step of the arm with the
// canary. INVALID_ARGUMENT outside the domains; the status of a release or of `batches` that fails.
absl::StatusOr<ArmScores> StepScores(const LoopAuditOptions& options, GradientRelease& release);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_LOOP_AUDIT_H_
