#ifndef EPSLEDGER_ACCOUNTING_RENYI_SAMPLED_GAUSSIAN_H_
#define EPSLEDGER_ACCOUNTING_RENYI_SAMPLED_GAUSSIAN_H_

// Renyi divergences of the Poisson-sampled Gaussian mechanism: with Q = N(0, s^2) and
// P = (1 - q) N(0, s^2) + q N(1, s^2),
//   remove: D_a(P || Q) = log E_Q[g^a] / (a - 1),     g(x) = 1 - q + q exp((2x - 1) / (2 s^2)),
//   add:    D_a(Q || P) = log E_Q[g^{1-a}] / (a - 1).
// A vector query of sensitivity 1 reduces to this pair ([MTZ19] Thm 4). The derivation of every
// bound used here is in accounting/renyi/README.md, "The sampled Gaussian".

namespace epsledger::accounting {

struct SampledGaussian {
  double sampling_probability = 0;  // q in (0, 1]
  double noise_multiplier = 0;      // s in (0, inf)
};

// Returns D >= D_a(P || Q), which is also >= D_a(Q || P) ([MTZ19] Thm 5: remove dominates add).
// order in (1, inf). Exact binomial sum at integer orders to 256; elsewhere a trapezoid rule with
// proved aliasing, truncation and rounding terms added. Relative excess over the truth: below 1e-9
// for s >= 0.1, order in [1 + 1e-6, 1e5] and D >= 1e-17; elsewhere a valid but looser closed form
// may answer. Never NaN, never 0. Cost: 2 to 20 us for s >= 0.3.
double SampledGaussianRemoveRenyi(const SampledGaussian& mechanism, double order);

// Returns D >= D_a(Q || P), by a separate quadrature. Never above the bound for remove.
double SampledGaussianAddRenyi(const SampledGaussian& mechanism, double order);

// The three ways to compute the remove side, each an upper bound on its own; for tests that compare
// them with each other.
double SampledGaussianIntegerOrder(const SampledGaussian& mechanism, int order);
double SampledGaussianQuadrature(const SampledGaussian& mechanism, double order);
double SampledGaussianConvexityBound(const SampledGaussian& mechanism, double order);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_SAMPLED_GAUSSIAN_H_
