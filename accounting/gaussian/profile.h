#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_PROFILE_H_

// The privacy profile of mu-GDP, delta(epsilon) = Phi(-epsilon/mu + mu/2)
// - e^epsilon Phi(-epsilon/mu - mu/2), from both sides and in log space: valid at delta = 1e-300
// and at delta = exp(-2e9) alike. accounting/gaussian/README.md, "The Gaussian profile".

#include <optional>

#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Bounds on log delta(epsilon) of exactly mu-GDP ([BW18] Thm 8, [DRS19] Cor 2.13). mu in [0, inf],
// epsilon finite and of either sign.
// mu = 0: delta = max(0, 1 - e^epsilon). mu = inf: delta = 1. Never above 0.
// Width: 1e-14 (1 + |log delta|) where GaussianAt answers and delta >= 1e-290, for mu in [1e-3, 8];
// elsewhere below 1e-13 + 1e-14 |log delta| for mu >= 1e-3 |epsilon|, wider only where the rounding
// of epsilon / mu itself weighs more. Cost: 0.1 us, 0.2 us below 1e-290.
Bounds GaussianLogDelta(double mu, double epsilon);

// The same, valid for every mu in an interval: delta grows with mu.
Bounds GaussianLogDelta(Bounds mu, double epsilon);

// The profile, its tail and their derivatives at one point, from two exponentials and two Mills
// ratios. |delta - truth| <= delta_error, |tail - truth| <= tail_error.
struct GaussianPoint {
  double delta;  // linear, not its logarithm: below 1e-300 only the error is left
  double delta_error;
  double tail;  // Phi(-epsilon/mu - mu/2) = Q[L > epsilon] = -d delta / d e^epsilon
  double tail_error;
  double density_above;  // phi(epsilon/mu - mu/2) = d delta / d mu, relative error 2^-49
  double density_below;  // phi(epsilon/mu + mu/2) = -d tail / d(epsilon/mu + mu/2), likewise
};

// nullopt outside mu in [1e-100, 2e4], |epsilon| <= 1e4 mu, and for NaN: ask GaussianLogDelta
// there. Relative error of delta: 2e-15 for mu >= 1/2 and |epsilon| <= 8 mu, 5e-15 below; of the
// tail 2e-15 for epsilon >= 0, 2e-15 absolute below. Cost: 0.05 us.
std::optional<GaussianPoint> GaussianAt(double mu, double epsilon);

// Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta. Each end is verified with
// GaussianLogDelta, so the result does not depend on properties of the root finder.
// log_delta = -inf: 0 for mu = 0, otherwise +inf. log_delta >= 0: 0. NaN: {0, +inf}.
// Cost: 3 us.
Bounds GaussianEpsilon(Bounds mu, double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_PROFILE_H_
