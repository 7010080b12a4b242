#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_PROFILE_H_

// The privacy profile of mu-GDP, delta(epsilon) = Phi(-epsilon/mu + mu/2)
// - e^epsilon Phi(-epsilon/mu - mu/2), from both sides and in log space: valid at delta = 1e-300
// and at delta = exp(-2e9) alike. accounting/README.md, "The Gaussian profile".

namespace epsledger::accounting {

// lower <= truth <= upper.
struct Bounds {
  double lower;
  double upper;
};

// Bounds on log delta(epsilon) of exactly mu-GDP ([BW18] Thm 8, [DRS19] Cor 2.13). mu in [0, inf],
// epsilon finite and of either sign.
// mu = 0: delta = max(0, 1 - e^epsilon). mu = inf: delta = 1. Never above 0.
// Width: below 1e-13 + 1e-14 |log delta| for mu >= 1e-3 |epsilon|; wider only where the rounding of
// epsilon / mu itself weighs more. Cost: 0.1 us.
Bounds GaussianLogDelta(double mu, double epsilon);

// The same for any mu in an interval: delta grows with mu.
Bounds GaussianLogDelta(Bounds mu, double epsilon);

// Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta. Each end is verified
// with GaussianLogDelta, so that no property of the root finder is relied on.
// log_delta = -inf: 0 for mu = 0, otherwise +inf. log_delta >= 0: 0. NaN: {0, +inf}.
// Cost: 3 us.
Bounds GaussianEpsilon(Bounds mu, double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_PROFILE_H_
