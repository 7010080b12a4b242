#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_TRAINING_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_TRAINING_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/istdp/bb_step.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/regularizer.h"

namespace epsledger::trainers::istdp {

enum class StepRule {
  kFixed,            // always `first`; the convergence statement of the README covers this rule
  kBarzilaiBorwein,  // `first`, then BarzilaiBorweinStep of released gradients; no proof, far
                     // better
};

struct StepOptions {
  StepRule rule = StepRule::kBarzilaiBorwein;
  double first = 0;   // in `bounds`
  StepBounds bounds;  // not used by kFixed, which only uses `first`
};

// Returns Barzilai-Borwein with first step 10 / L in [0.25 / L, 100 / L].
// REQUIRES, here and below: lipschitz_constant finite and > 0.
StepOptions BarzilaiBorweinSteps(double lipschitz_constant);

// Returns the fixed step 1 / (4 L), the largest that the convergence statement covers.
StepOptions FixedSteps(double lipschitz_constant);

// Which records a sum runs over. By default all of them.
struct Batches {
  // Each record is in each batch independently with this probability, in (0, 1]; the event that is
  // charged is then poissonSampled. 1 means no sampling, and no `draw`.
  double sampling_probability = 1;
  // Returns a fresh batch; an error ends training. Set if and only if sampling_probability < 1.
  std::function<absl::StatusOr<Batch>()> draw;
};

// The state of training after `step` steps. Public: functions of public and released values. It is
// all that a checkpoint needs to continue, with fresh noise that is charged again.
struct TrainingState {
  int step = 0;  // 0: not started, and nothing below is set
  Eigen::VectorXd theta;
  Eigen::VectorXd previous_theta;
  Eigen::VectorXd previous_gradient;  // released, divided by the public expected count
  Eigen::VectorXd averaged;           // of the iterates, see TrainingOptions.average_last
  double step_size = 0;
};

// Every field is public: fixed before the records are read.
struct TrainingOptions {
  // The maximum number of steps, including those of `resumed`; >= 1. A step is one gradient
  // release. The "T" of the published algorithm makes T - 1.
  int max_steps = 100;
  // Sums are divided by this times the sampling probability; > 0. A public substitute for the
  // number of records, which under add-or-remove-one is itself private. Dividing by the true count,
  // or by the size of a batch, would release it.
  int64_t public_record_count = 0;
  Batches batches;
  StepOptions steps;
  Regularizer regularizer;
  // Stop once the mean of the last `tolerance_window` step residuals (StepReport) is <= tolerance.
  // 0 never stops early. Under noise of standard deviation s in each coordinate of the released
  // mean gradient, residuals stay near s sqrt(size): a smaller tolerance is never met.
  double tolerance = 0;
  int tolerance_window = 5;  // >= 1
  // `averaged` is the uniform mean of the iterates of the last average_last of max_steps steps, and
  // before those steps the last iterate; >= 1. nullopt: the polynomial-decay average, see
  // TrainSound.
  std::optional<int> average_last;
  Eigen::VectorXd initial;  // empty means zero; else of size feature_count()
  // The state to continue from; step 0 starts at `initial`. The window of residuals starts empty.
  TrainingState resumed;
};

// The public result of one step. References are valid only during the call.
struct StepReport {
  int step;                       // 1 for the first
  double step_size;               // gamma
  double released_gradient_norm;  // of the released sum divided by the public expected count
  double step_residual;           // ||theta - previous theta|| / step_size
  int backtracks;                 // how often a line search made the step smaller
  const Eigen::VectorXd& theta;   // after the step
  const TrainingState& state;     // includes theta; all that a checkpoint needs
};
using StepObserver = std::function<void(const StepReport&)>;

enum class StopReason {
  kConverged,      // the tolerance was met
  kStepLimit,      // max_steps steps were made
  kRefused,        // a release returned FAILED_PRECONDITION
  kReleaseFailed,  // a release returned another status, or a vector that cannot be used
};

// Returns "converged", "step limit", "refused" or "release failed".
std::string_view StopReasonName(StopReason reason);

struct TrainingResult {
  StopReason stop_reason = StopReason::kStepLimit;
  absl::Status release_status;  // not OK exactly for kRefused and kReleaseFailed
  int steps = 0;                // completed, including those of `resumed`
  // Number of vectors that this run released, and so of charges used. The ledger may have one more
  // charge if release_status has an unknown outcome (UNAVAILABLE, DEADLINE_EXCEEDED).
  int releases = 0;
  Eigen::VectorXd last;  // the iterate after the last completed step; `initial` if there is none
  Eigen::VectorXd averaged;
  std::vector<int> support;  // ascending coordinates where `last` is not zero
  double last_step_size = 0;
};

// Returns the ascending coordinates where theta is not zero.
std::vector<int> Support(const Eigen::VectorXd& theta);

// Returns OK, or INVALID_ARGUMENT that names the field, the value and the domain.
absl::Status ValidateTraining(const TrainingOptions& options, Eigen::Index feature_count);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_TRAINING_H_
