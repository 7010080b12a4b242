#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_BASELINES_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_BASELINES_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// Other methods for the problem of ISTDP, for comparison. All are proven; README, "Baselines". The
// first two minimize, over the records D and with a public n0,
//
//   J(theta) = (1/n0) sum_i loss(theta . x_i, y_i) + (l2/2) ||theta||^2.
struct PerturbationOptions {
  double l2 = 0;  // "Lambda", > 0
  // "n0", >= 1, and at least half of the true number of records: the rounding of the gradient grows
  // with that number, and its bound must not.
  int64_t public_record_count = 0;
  double row_norm_bound = 1;  // of every record, > 0
};

// Returns a bound r on the error of the computed gradient of J(theta) + linear . theta, in norm,
// where that gradient is at most 2 r long, for up to 2 n0 records and ||linear|| <= linear_norm:
//
//   r = (6e-11 C sqrt(d) + 2^-48 (2 C + linear_norm) + b (2 C + linear_norm) / l2) / (1 - 2 b /
//   l2),
//
// b = 2 (d + 1) 2^-52 LipschitzConstant(row_norm_bound), C = contribution(). The first term is the
// rounding of LinearLoss::GradientSum to its grid, the second that of the additions, the third that
// of the margins: theta has norm at most (2 C + linear_norm + 2 r) / l2 there, so the error of a
// margin is (d + 1) 2^-52 times that, and the error of the gradient is the margin's error times a
// record's norm and the curvature. Returns +inf if 2 b >= l2.
double GradientRounding(const LinearLoss& loss, const PerturbationOptions& options,
                        double linear_norm = 0);

// Returns the norm of the computed gradient at which the minimizer counts as found: 2 r, so that a
// minimization reaches it for every loss. It enters the sensitivity.
double GradientTolerance(const LinearLoss& loss, const PerturbationOptions& options,
                         double linear_norm = 0);

// Returns a bound on the distance of two approximate minimizers of J, for data sets of which one
// has one more record:
//
//   (C / n0 + 2 (GradientTolerance + GradientRounding)) / l2,     C = contribution(),
//
// rounded up. J is l2-strongly convex and one record changes its gradient by at most C / n0
// everywhere, so the exact minimizers are C / (n0 l2) apart ([CMS11] Lemma 7); a point with
// gradient norm t is within t / l2 of the minimizer. Under replace-one the distance is at most
// twice that. With clipping the loss stays convex with gradients of norm at most C, so any C is
// allowed.
double MinimizerContribution(const LinearLoss& loss, const PerturbationOptions& options);

// Output perturbation with Gaussian noise ([CMS11] Algorithm 1, with a normal in place of the Gamma
// vector): one release of the minimizer of J with that contribution, so one event gaussian{z}. The
// minimization always runs until the tolerance is met. A minimization that does not end, which the
// theory excludes for data within the bounds above, is an INTERNAL error, and nothing is charged.
// INVALID_ARGUMENT for options outside their domain, and for an l2 so small that the rounding of
// the margins has no bound. FAILED_PRECONDITION for more than 2 n0 records: this error reveals that
// the limit is exceeded, which is the responsibility of the person who chose n0.
absl::StatusOr<TrainingResult> TrainOutputPerturbation(const LinearLoss& loss,
                                                       const PerturbationOptions& options,
                                                       GradientRelease& release);

// The guarantee of objective perturbation, see TrainObjectivePerturbation.
struct ObjectivePerturbationTarget {
  double epsilon = 1;
  double delta = 1e-5;
};

// Returns the standard deviation s of the noise b, on the sum of losses, with which
// TrainObjectivePerturbation is (epsilon, delta)-DP under add-or-remove-one.
// INVALID_ARGUMENT unless epsilon exceeds log(1 + C^2 / (4 n0 l2)) + 0.0085 (more l2 is needed
// then), delta is in [1e-12, 1), the loss is logistic and 1.000001 row_norm_bound <= C.
absl::StatusOr<double> ObjectivePerturbationNoise(const LinearLoss& loss,
                                                  const PerturbationOptions& options,
                                                  const ObjectivePerturbationTarget& target);

// Objective perturbation ([CMS11] Algorithm 2, [KST12] Algorithm 1) with Gaussian b: releases the
// minimizer of J(theta) + b . theta / n0, found to within GradientTolerance and blurred by a little
// noise that hides the remaining error. The README derives its guarantee, for logistic loss that is
// not clipped, under add-or-remove-one.
//
// `draw_noise` is called once. It charges the ledger for one approximateDp{epsilon, delta} and then
// returns 2 * feature_count() standard normal draws: an error ends training with no release.
// INVALID_ARGUMENT and FAILED_PRECONDITION as above, before it is called. INTERNAL, after the call,
// if b is longer than s (sqrt(d) + 10), which says nothing about the records and happens with
// probability below e^-50, or if the minimization does not end.
absl::StatusOr<TrainingResult> TrainObjectivePerturbation(
    const LinearLoss& loss, const PerturbationOptions& options,
    const ObjectivePerturbationTarget& target,
    const std::function<absl::StatusOr<Eigen::VectorXd>()>& draw_noise);

// DP-SGD for a linear model ([ACG+16] Algorithm 1): TrainSound with Poisson batches, a fixed step
// and no penalty. Each release is poissonSampled{gaussian{z}}. INVALID_ARGUMENT if options has full
// batches, another step rule or a penalty whose lambda is not 0.
absl::StatusOr<TrainingResult> TrainDpSgd(const LinearLoss& loss, const TrainingOptions& options,
                                          GradientRelease& release,
                                          const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_BASELINES_H_
