#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_AS_PUBLISHED_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_AS_PUBLISHED_H_

#include <Eigen/Core>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// The line search of the paper's Algorithm 1, with a cap that the paper does not have: along a
// noisy direction the test can fail forever.
struct PublishedLineSearch {
  double shrink = 0.5;                // "eta", in (0, 1)
  double sufficient_decrease = 1e-4;  // "beta", in (0, 1)
  int max_backtracks = 30;            // then it takes the last candidate; >= 0; 0: no line search
};

struct AsPublishedOptions {
  // steps.rule must be kBarzilaiBorwein, batches must be all records and `resumed` empty: the
  // algorithm's state holds exact gradients of private records, which no checkpoint may hold.
  TrainingOptions training;
  PublishedLineSearch line_search;
  // theta^0, for the first exact difference; public, and different from `training.initial`.
  Eigen::VectorXd before_initial;
};

// Trains by ISTDP as the paper prints it (Algorithm 1, with the corrected prox). Its step sizes are
// Barzilai-Borwein steps of EXACT gradients, and its line search compares EXACT objectives of the
// private records. Label: as published; claimed guarantee not proven; counterexample_known. The
// privacy proof covers neither access, and attacks.h distinguishes neighbors through both.
//
// `charge_exact_access` is called once, before any record is read: it must durably record in the
// ledger that the run is not private. If it fails, nothing is read, and the result is kRefused or
// kReleaseFailed with no release. The noised gradients go through `release` as in every mode.
//
// A candidate is accepted if F(theta) - F(candidate) >= (beta gamma / 2) ||candidate - theta||^2,
// with the exact F. INVALID_ARGUMENT, before anything else, for options outside their domain. Cost
// of a step: a gradient, a release, and a pass over the records for each candidate.
absl::StatusOr<TrainingResult> TrainAsPublished(
    const LinearLoss& loss, const AsPublishedOptions& options,
    const std::function<absl::Status()>& charge_exact_access, GradientRelease& release,
    const StepObserver& observer = {});

// Returns (sqrt(L^2 + 4 beta) - L) / (2 beta), in (0, 1 / L): for exact gradients every step at
// most this long passes the line search (1/gamma - beta gamma >= L, paper's Lemma 3.2, remark 1).
// With the line search the step is in (eta times this length, this length], or starts shorter.
// REQUIRES, here and below: all arguments > 0 and finite, beta and eta below 1.
double SufficientStep(double sufficient_decrease, double lipschitz_constant);

// Returns max(0, ceil(1 + ln(beta g^2 + g L) / -ln(eta))), g = `largest_step`: for exact gradients
// the line search makes at most this many back-tracks (paper's Lemma 3.2, with the max that it
// lacks).
int BacktrackBound(const PublishedLineSearch& line_search, double largest_step,
                   double lipschitz_constant);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_AS_PUBLISHED_H_
