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
// of a step: a gradient, a release, and a pass over the records for each candidate. For exact
// gradients the step is in (eta gamma_bar, gamma_bar], gamma_bar = SufficientStep of
// backtracking.h, or longer, if a longer one passes the test, or starts shorter (Lemma 3.2, remark
// 1).
absl::StatusOr<TrainingResult> TrainAsPublished(
    const LinearLoss& loss, const AsPublishedOptions& options,
    const std::function<absl::Status()>& charge_exact_access, GradientRelease& release,
    const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_AS_PUBLISHED_H_
