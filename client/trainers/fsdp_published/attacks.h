#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_ATTACKS_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_ATTACKS_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp_published/published_release.h"

// Two attacks on FSDP as published. Each has a pair of neighboring data sets, chosen by an
// adversary as differential privacy allows, and a score of the release. A trial runs the mechanism
// once on one of the sets. The counts of scores above the threshold in both arms give a lower bound
// on epsilon.

namespace epsledger::trainers::fsdp_published {

// A mechanism on a batch of gradients of one layer: the published one, or a sound one for
// comparison.
using BatchMechanism =
    std::function<absl::StatusOr<Eigen::MatrixXd>(const std::vector<RecordGradient>&)>;

// Two batches that differ by the canary, the last record of `with`, and the score of a release. The
// attack answers "with" if the score is above `threshold`.
struct Attack {
  std::vector<RecordGradient> without;
  std::vector<RecordGradient> with;
  std::function<double(const Eigen::MatrixXd&)> score;
  double threshold = 0;
};

// B1, the row-space attack. For a fully connected layer a record's gradient is x delta^T, and V H
// with H proportional to delta^T is exact, so Phi = 0 and its noise is 0. However large the noise
// on V, every row of the release lies in the span of the batch's deltas. The canary's delta has a
// part outside the span of the others; the score is the norm of the release along this part.
// Without the canary the score is 0 up to rounding; with the canary it has about the size of the
// noise. 24 inputs, 12 outputs, 8 records and the canary, all gradients of norm 1, drawn from
// `seed`.
Attack RowSpaceAttack(uint64_t seed);

// B2, the zero-gradient attack. Eight records have gradients that are exactly 0, as in a saturated
// or dead layer: M_V = M_Phi = 0, so the noise and the release are always 0. The canary is one
// record with a nonzero gradient. (With nine or more zeros Table 1 would drop the canary as an
// outlier: a record that differs from the others is either exposed or ignored.) The score is the
// norm of the release.
Attack ZeroGradientAttack(uint64_t seed);

// How often the attack answers "with".
struct AttackCounts {
  int64_t trials = 0;  // of each arm
  int64_t true_positives = 0;
  int64_t false_positives = 0;
};

// Runs `trials` independent runs of the mechanism on each batch. Fails as the mechanism does.
absl::StatusOr<AttackCounts> RunAttack(const Attack& attack, const BatchMechanism& mechanism,
                                       int64_t trials);

// The scores of the same runs, for an audit that chooses its own threshold.
struct AttackScores {
  std::vector<double> with;
  std::vector<double> without;
};
absl::StatusOr<AttackScores> Scores(const Attack& attack, const BatchMechanism& mechanism,
                                    int64_t trials);

// ReleaseBatch with the exact factorization of rank 1. `normal` must outlive the result.
BatchMechanism PublishedMechanism(const PublishedBudget& budget, const NormalSource& normal);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_ATTACKS_H_
