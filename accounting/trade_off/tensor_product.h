#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_TENSOR_PRODUCT_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_TENSOR_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/trade_off/trade_off_function.h"

namespace epsledger::accounting {

struct CountedTradeOff {
  TradeOffFunction f;
  int64_t count = 1;
};

// f_1 (x) ... (x) f_n, f (x) g = T(P x P', Q x Q') for f = T(P, Q) and g = T(P', Q'): what a
// sequence of mechanisms guarantees ([DRS19] Def 3.1, Thm 3.2). Commutative, associative, Id is
// neutral.
//
// All the Gaussians together are G of sqrt(sum mu_i^2) ([DRS19] Cor 3.3). All the piecewise linear
// ones are enumerated: outcomes are pairs of outcomes, and those of equal likelihood ratio become
// one. One more function, of any kind, is composed with the discrete result exactly: with (p_j,
// q_j) the masses of the outcomes,
//   delta(x) = sum_j q_j delta_f(x p_j / q_j).
// Everything else needs a grid on the privacy loss, which is not here: UNIMPLEMENTED with the
// reason, as is a product of more than kMaxEnumeratedOutcomes outcomes.
//
// Relative error: about 1e-12 a factor for enumerated ones. INVALID_ARGUMENT unless every count is
// at least 1. An empty list is Id.
absl::StatusOr<TradeOffFunction> TensorProduct(const std::vector<CountedTradeOff>& factors);

// f (x) g.
absl::StatusOr<TradeOffFunction> TensorProduct(const TradeOffFunction& f,
                                               const TradeOffFunction& g);

// Pairs of outcomes that one product may enumerate: a second of work, 64 MB.
inline constexpr double kMaxEnumeratedOutcomes = 4e6;

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TENSOR_PRODUCT_H_
