#ifndef EPSLEDGER_ACCOUNTING_RENYI_CLOSED_FORM_H_
#define EPSLEDGER_ACCOUNTING_RENYI_CLOSED_FORM_H_

// Renyi divergences that have a closed form, each rounded up. order in (1, inf) throughout; the
// results are in [0, +inf].

#include <cstdint>

namespace epsledger::accounting {

// D_a(N(mu, 1) || N(0, 1)) = a mu^2 / 2 ([Mironov17] Prop 7). Also an upper bound for every mu-GDP
// mechanism: its pair is a post-processing of this Gaussian pair ([DRS19] Thm 2.10).
double GaussianRenyi(double order, double mu);

// The Laplace mechanism of scale noise_multiplier / shift ([Mironov17] Prop 6). Holds for a vector
// query of L1 sensitivity 1 as well (README, "Laplace").
double LaplaceRenyi(double order, double noise_multiplier, double shift);

// Any epsilon-DP mechanism: the divergence of binary randomized response, which dominates it
// ([KOV15] Thm 3.1 with the data-processing inequality). Never above order * epsilon^2 / 2
// ([BS16] Prop 3.3) nor above epsilon.
double PureDpRenyi(double order, double epsilon);

// An epsilon-bounded-range mechanism: the two-point pair that dominates it ([DDR20] Sec 3; README,
// "Bounded range"). Never above order * epsilon^2 / 8 ([CR21] Lemma 3.1) nor above PureDpRenyi.
double BoundedRangeRenyi(double order, double epsilon);

// Randomized response over num_buckets values with flip probability noise_parameter, when one
// person's value is replaced: P and Q differ in only two outcomes.
double RandomizedResponseRenyi(double order, double noise_parameter, int64_t num_buckets);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_CLOSED_FORM_H_
