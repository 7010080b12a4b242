#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_BACKTRACKING_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_BACKTRACKING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// Back-tracking by the sufficient condition of the paper's Lemma 3.2 alone, 1/gamma - beta gamma >=
// L. It compares public numbers and reads no record, so it costs nothing. All fields are public.
struct Backtracking {
  double shrink = 0.5;                // "eta", in (0, 1)
  double sufficient_decrease = 1e-4;  // "beta", in (0, 1)
  // A bound on the Lipschitz constant of the gradient of the mean loss, from public numbers, not
  // from the records; finite and > 0.
  double lipschitz_constant = 0;
};

// Returns the largest step with 1/step - beta step >= L: gamma_bar = (sqrt(L^2 + 4 beta) - L) / (2
// beta), up to a few ulp. It is below 1/L.
// REQUIRES: both finite and > 0.
double SufficientStep(double sufficient_decrease, double lipschitz_constant);

// Returns max(0, ceil(1 + ln(beta g^2 + g L) / -ln(eta))), at most 10^9, g = `largest_step`: so
// many back-tracks from any step up to g are enough to reach SufficientStep (Lemma 3.2 with the max
// that it lacks, README, erratum 19). For exact gradients it also bounds the line search of
// as_published.h.
// REQUIRES: a valid `backtracking`; largest_step finite and > 0.
int BacktrackBound(const Backtracking& backtracking, double largest_step);

// Returns OK, or INVALID_ARGUMENT that names the field, the value and the domain; also if a step of
// `largest_step` could need more than 10,000 back-tracks.
absl::Status ValidateBacktracking(const Backtracking& backtracking, double largest_step);

struct BacktrackedStep {
  double step_size = 0;
  int backtracks = 0;
};

// Returns `step` times the smallest power eta^k, k >= 0, that is at most gamma_bar =
// SufficientStep(beta, L): `step` itself if it is, otherwise a number in (eta gamma_bar,
// gamma_bar]. k <= BacktrackBound(backtracking, step). REQUIRES: ValidateBacktracking(backtracking,
// step).ok().
BacktrackedStep Backtrack(const Backtracking& backtracking, double step);

// Trains by sound ISTDP with this back-tracking of the Barzilai-Borwein steps. Label: proven.
//
//   gamma_k = Backtrack(Barzilai-Borwein step of released gradients)
//
// Privacy: that of TrainSound with the same releases. gamma_k is a function of released and public
// numbers, so there is no charge besides the gradients' (README, theorem 1).
//
// Each step obeys, for the noise b_k of the released mean gradient and D = theta_{k+1} - theta_k,
//   F(theta_{k+1}) <= F(theta_k) - <b_k, D> - (beta gamma_k / 2) ||D||^2
// if no record is clipped and there are at most n0 of them (README, "Data-free back-tracking").
// Without noise F decreases in every step. With noise nothing more is proven.
//
// It gives up what Barzilai-Borwein steps are for: no step is above gamma_bar < 1/L. A step of
// exact gradients of a convex loss is at least 1/L, so without noise every step is in (eta
// gamma_bar, gamma_bar]; noise can make it shorter, never below min(bounds.smallest, eta
// gamma_bar).
//
// All else is as TrainSound. INVALID_ARGUMENT also for another step rule than kBarzilaiBorwein, and
// for an invalid `backtracking`.
absl::StatusOr<TrainingResult> TrainBacktracking(const LinearLoss& loss,
                                                 const TrainingOptions& options,
                                                 const Backtracking& backtracking,
                                                 GradientRelease& release,
                                                 const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_BACKTRACKING_H_
