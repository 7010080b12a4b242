#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_ISTDP_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_ISTDP_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/istdp/bb_step.h"
#include "client/trainers/istdp/logistic_loss.h"
#include "client/trainers/istdp/regularizer.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// How the guarantee of TrainSound is to be labelled wherever it is shown: every access to private
// records is a charged mechanism event or post-processing of one, with the proof in the README.
inline constexpr std::string_view kSoundLabel = "proven";

enum class StepRule {
  kFixed,            // `first` throughout; the convergence statement of the README covers this one
  kBarzilaiBorwein,  // `first`, then BarzilaiBorweinStep of released gradients; no proof, far
                     // better
};

struct StepOptions {
  StepRule rule = StepRule::kBarzilaiBorwein;
  double first = 0;   // in `bounds`
  StepBounds bounds;  // unused by kFixed, where first alone counts
};

// Returns Barzilai-Borwein with first step 10 / L in [0.25 / L, 100 / L].
// REQUIRES, here and below: lipschitz_constant finite and > 0.
StepOptions BarzilaiBorweinSteps(double lipschitz_constant);

// Returns the fixed step 1 / (4 L), the largest that the convergence statement covers.
StepOptions FixedSteps(double lipschitz_constant);

// Every field is public: fixed before the records are read.
struct TrainingOptions {
  // The most releases, so the most charges; >= 1. The "T" of the published algorithm makes T - 1.
  int max_steps = 100;
  // What sums are divided by; > 0. A public stand-in for the number of records, which under
  // add-or-remove-one is itself private. Dividing by the true count would release it.
  std::int64_t public_record_count = 0;
  StepOptions steps;
  Regularizer regularizer;
  // Stop once the mean of the last `tolerance_window` step residuals (StepReport) is <= tolerance.
  // 0 never stops early. Under noise of standard deviation s in each coordinate of the released
  // mean gradient, residuals stay near s sqrt(size): a smaller tolerance is never met.
  double tolerance = 0;
  int tolerance_window = 5;  // >= 1
  Eigen::VectorXd initial;   // empty means zero; else of size feature_count()
};

// What is public after one step. `theta` is valid during the call only.
struct StepReport {
  int step;                       // 1 for the first; also the number of releases so far
  double step_size;               // gamma
  double released_gradient_norm;  // of the released sum divided by public_record_count
  double step_residual;           // ||theta - previous theta|| / step_size
  const Eigen::VectorXd& theta;   // after the step
};
using StepObserver = std::function<void(const StepReport&)>;

enum class StopReason {
  kConverged,      // the tolerance was met
  kStepLimit,      // max_steps releases were made
  kRefused,        // Release returned FAILED_PRECONDITION
  kReleaseFailed,  // Release returned another status, or a vector that cannot be used
};

// Returns "converged", "step limit", "refused" or "release failed".
std::string_view StopReasonName(StopReason reason);

struct TrainingResult {
  StopReason stop_reason = StopReason::kStepLimit;
  absl::Status release_status;  // not OK exactly for kRefused and kReleaseFailed
  // Vectors that Release returned. The ledger may hold one charge more if release_status has an
  // unknown outcome (UNAVAILABLE, DEADLINE_EXCEEDED).
  int releases = 0;
  Eigen::VectorXd last;  // the iterate after the last completed step; `initial` if there is none
  Eigen::VectorXd averaged;  // polynomial-decay average of the iterates, see TrainSound
  std::vector<int> support;  // ascending coordinates where `last` is not zero
  double last_step_size = 0;
};

// Sound ISTDP: proximal gradient steps on charged, noised gradients.
//
//   released_k = release.Release(loss.GradientSum(theta_k), loss.contribution()) / n0
//   theta_{k+1} = Prox(regularizer, gamma_k, theta_k - gamma_k released_k)
//
// Privacy: each field of the result, each StepReport and the stopping time are functions of the
// options and of the vectors that `release` returned. With Gaussian noise of multiplier z per
// release and at most `max_steps` releases the whole transcript is sqrt(max_steps)/z-GDP under
// add-or-remove-one (README, theorem 1), whether or not training converges. There is no line
// search: the published one compares exact losses of private records.
//
// `averaged` starts as theta_2 and then moves by 4 / (k + 3) of the way to the iterate of step k
// ([SZ13] with eta = 3): the last iterates weigh most and nothing needs a horizon.
//
// A release that is refused or fails ends training without an error here: the result holds the
// iterate so far, and release_status says why. A released vector of another size or with a NaN or
// an infinity counts as a release and ends training with kReleaseFailed and an INTERNAL status.
// INVALID_ARGUMENT, before any release, if an option is outside its domain.
//
// `observer` may be empty; it is called after each step, on the calling thread. Cost of a step: one
// GradientSum, one Release, O(size).
absl::StatusOr<TrainingResult> TrainSound(const LogisticLoss& loss, const TrainingOptions& options,
                                          GradientRelease& release,
                                          const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_ISTDP_H_
