#ifndef EPSLEDGER_ACCOUNTING_RENYI_REPLACE_SAMPLED_GAUSSIAN_H_
#define EPSLEDGER_ACCOUNTING_RENYI_REPLACE_SAMPLED_GAUSSIAN_H_

#include "accounting/renyi/sampled_gaussian.h"

namespace epsledger::accounting {

// Returns D >= D_a(P || Q) of a Gaussian release of a Poisson sample under replace-one, where one
// record contributes at most 1: P = (1 - q) N(0, s^2) + q N(1, s^2) against
// Q = (1 - q) N(0, s^2) + q N(-1, s^2), which is its own reverse. No pair of neighbors has more,
// and two records of opposite contributions have this (accounting/profile/README.md, "Sampling
// under replace-one").
//
// order in (1, inf). A trapezoid rule with proved aliasing, truncation and rounding terms added.
// Relative excess over the truth: below 1e-6 for s in [.5, 3], q in [1e-3, .9] and orders in [1.05,
// 47.5] (measured); where the rule would take more than 20,000 points, as for a large order / s,
// the looser bound of joint convexity answers. Never NaN, never 0. Cost: 0.1 us a point, 200 to
// 2,000 points for s >= .5 and orders to 64.
double ReplaceSampledGaussianRenyi(const SampledGaussian& mechanism, double order);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_REPLACE_SAMPLED_GAUSSIAN_H_
