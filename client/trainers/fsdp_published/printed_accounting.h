#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_PRINTED_ACCOUNTING_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_PRINTED_ACCOUNTING_H_

#include <cstdint>
#include <vector>

#include "client/trainers/fsdp_published/noise_scales.h"

// The accounting of the paper as printed, beside its corrections. NONE OF IT PROVES ANYTHING of the
// published algorithm, whose releases have no bounded sensitivity: the numbers are there to be
// compared and to be printed with that label.

namespace epsledger::trainers::fsdp_published {

// One noisy query of one step: Poisson sampling with probability q, Gaussian noise of standard
// deviation sigma times the sensitivity.
struct SampledQuery {
  double sampling_probability = 0;  // in (0, 1]
  double noise_multiplier = 0;      // finite and > 0
};

// (14) to (17): the log moment alpha(order) = ln max(E_{u0}[(u0 / u)^order], E_u[(u / u0)^order]),
// u0 = N(0, sigma^2), u1 = N(1, sigma^2), u = (1 - q) u0 + q u1: by the trapezoidal rule, to about
// 1e-9. (The paper prints the first expectation for V and the second for Phi; it means the larger
// of both for each.) order > 0, not necessarily an integer; NaN outside the domain.
double LogMoment(const SampledQuery& query, double order);

// The moments of one step for two queries V and Phi that share the batch.
struct TwoQueries {
  double sampling_probability = 0;
  double embedding_noise_multiplier = 0;
  double residual_noise_multiplier = 0;
};
enum class Combination {
  // Theorem 1 (i) as if the two queries were independent: alpha_V + alpha_Phi. UNSOUND: they share
  // the sampling mask.
  kSum,
  // (11), Hoelder: min over xi1 + xi2 = 1 of xi1 alpha_V(order / xi1) + xi2 alpha_Phi(order / xi2).
  // Sound, and loose.
  kHoelder,
  // The two queries as one Gaussian query, which they are together:
  // 1 / sigma^2 = 1 / sigma_V^2 + 1 / sigma_Phi^2. Exact.
  kJoint,
};
double CombinedLogMoment(const TwoQueries& queries, double order, Combination combination);

// The moments of d coordinates with one noise multiplier each and a common sampling mask.
enum class Coordinates {
  // (12) as printed, "Minkowski": sum_j d alpha_j(order / d). UNSOUND: below the truth by Jensen's
  // inequality.
  kPrinted,
  // Hoelder's inequality the right way around: sum_j alpha_j(d order) / d.
  kHoelder,
  // One Gaussian query of noise multiplier sigma / sqrt(d). Exact.
  kJoint,
};
double CoordinatesLogMoment(const SampledQuery& coordinate, int count, double order,
                            Coordinates combination);

// The moments of one step for V and Phi, each of d coordinates with one noise multiplier, and one
// sampling mask for all 2 d coordinates.
enum class TwoQueriesOfCoordinates {
  // (13) as printed, which is (12) put into (11): the min over xi1 + xi2 = 1 of
  //   sum_j xi1 d alpha_Vj(order / (d xi1)) + sum_j xi2 d alpha_Phij(order / (d xi2)).
  // UNSOUND for d > 1, as (12) is. For d = 1 it equals (11).
  kPrinted,
  // Hoelder's inequality the right way around: the min over xi1 + xi2 = 1 of
  //   sum_j (xi1 / d) alpha_Vj(d order / xi1) + sum_j (xi2 / d) alpha_Phij(d order / xi2).
  // Sound, and loose.
  kHoelder,
  // One Gaussian query, 1 / sigma^2 = d (1 / sigma_V^2 + 1 / sigma_Phi^2). Exact.
  kJoint,
};
// `coordinates` holds the noise of each single coordinate of V and of Phi; count = d >= 1.
double CombinedCoordinatesLogMoment(const TwoQueries& coordinates, int count, double order,
                                    TwoQueriesOfCoordinates combination);

// Theorem 1 (ii): the smallest epsilon over orders of (steps * alpha(order) + ln(1 / delta)) /
// order, for integer orders 1 to 64, as in the paper's accountant.
double PrintedEpsilon(const TwoQueries& queries, int64_t steps, double delta,
                      Combination combination);

// What the paper's formulas print of a run of Table 2.
//
// V and Phi of a layer each have the noise multiplier of (8), sqrt(2 ln(1.25 / delta)) / epsilon:
// its deviation over what the paper calls the sensitivity. (The epsilon_j of (7) differ by record
// and row and have mean epsilon; here each is epsilon.) Layers and steps add, by Theorem 1 (i);
// epsilon is by (ii) over whole orders 1 to 64.
class PrintedAccountant {
 public:
  // rows_of_layers: d of each layer's gradient, >= 1.
  PrintedAccountant(const PublishedBudget& budget, double sampling_probability,
                    const std::vector<int>& rows_of_layers);

  // Returns epsilon at the budget's delta after `steps` >= 1 steps, by (13): every row of V and Phi
  // is a query. NOT PROVEN: (13) is below the moments of even such queries. +inf if the arguments
  // of the constructor are outside their domains.
  double Epsilon(int64_t steps) const;

  // The same by (11): V and Phi of a layer are one query each.
  double EpsilonOfWholeReleases(int64_t steps) const;

 private:
  double delta_;
  // The moments of one step, at whole orders from 1 on.
  std::vector<double> row_moments_;
  std::vector<double> release_moments_;
};

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_PRINTED_ACCOUNTING_H_
