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

// Returns f_1 (x) ... (x) f_n, where f (x) g = T(P x P', Q x Q') for f = T(P, Q) and g = T(P', Q'):
// the guarantee of a sequence of mechanisms ([DRS19] Def 3.1, Thm 3.2). Commutative, associative,
// Id is neutral.
//
// All Gaussians together are G of sqrt(sum mu_i^2) ([DRS19] Cor 3.3). All piecewise linear
// functions are enumerated: outcomes are pairs of outcomes, and outcomes of equal likelihood ratio
// are merged. One more function, of any kind, is composed exactly with the discrete result: with
// (p_j, q_j) the masses of the outcomes,
//   delta(x) = sum_j q_j delta_f(x p_j / q_j).
// Everything else needs a grid on the privacy loss, which is not part of this function:
// UNIMPLEMENTED with the reason. A product of more than kMaxEnumeratedOutcomes outcomes is
// UNIMPLEMENTED too.
//
// Relative error: about 1e-12 per enumerated factor. INVALID_ARGUMENT unless every count is at
// least 1. An empty list is Id.
absl::StatusOr<TradeOffFunction> TensorProduct(const std::vector<CountedTradeOff>& factors);

// Returns f (x) g.
absl::StatusOr<TradeOffFunction> TensorProduct(const TradeOffFunction& f,
                                               const TradeOffFunction& g);

// The number of pairs of outcomes that one product may enumerate: a second of work, 64 MB.
inline constexpr double kMaxEnumeratedOutcomes = 4e6;

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TENSOR_PRODUCT_H_
