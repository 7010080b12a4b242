#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_TRANSFORMATION_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_TRANSFORMATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "accounting/trade_off/trade_off_function.h"

namespace epsledger::accounting {

// f^-1 = T(alternative, null). Inverse(Inverse(f)) is f.
TradeOffFunction Inverse(const TradeOffFunction& f);

// The lower convex envelope of min{f, f^-1}: the bound on T(P, Q) and T(Q, P) if f is one of them
// and it is not known which ([DRS19] Def 4.1 for f_p). Its profile is the larger of both. Apply it
// AFTER composing: the envelope of a composition is not the composition of envelopes.
TradeOffFunction Symmetrize(const TradeOffFunction& f);

// f^S = max{f, f^-1}, a symmetric trade-off function that is at least f: if T(P, Q) >= f and T(Q,
// P)
// >= f, both are at least f^S ([DRS19] Prop 2.4; proof in accounting/trade_off/README.md). So it
// strengthens a bound that was proved for EVERY ordered pair of neighbors, which is what f-DP means
// for a symmetric relation.
//
// REQUIRES: f bounds both orders. If f bounds one order alone (add, not remove), f^-1 bounds the
// other one, f^S bounds neither, and a guarantee from it is below the truth: use Symmetrize.
// Symmetric f: f itself. Bounds at a point as f's and f^-1's; Delta as DeltaFromTradeOff, and never
// above f's or f^-1's.
TradeOffFunction MaximumOfOrders(const TradeOffFunction& f);

// f_p = p f + (1 - p) Id = T(null, (1-p) null + p alternative), p in [0, 1]: with probability p the
// outcome is one of f, otherwise it reveals nothing. The profiles are those of a mixture against
// its base and the reverse (accounting/trade_off/README.md).
absl::StatusOr<TradeOffFunction> Subsample(const TradeOffFunction& f, double probability);

// C_p(f), the symmetrized f_p: if a mechanism is f-DP under replacement of one record, f symmetric,
// then on a uniform subset of m out of n records it is C_{m/n}(f)-DP ([DRS19] Thm 4.2).
absl::StatusOr<TradeOffFunction> SubsampleSymmetrized(const TradeOffFunction& f,
                                                      double probability);

// 1 - (1 - f)^{o size}: the guarantee of an f-DP mechanism to groups of that size, f symmetric or
// not ([DRS19] Thm 2.14). G_{size mu} and the Laplace function of size theta in closed form;
// otherwise `size` evaluations per question, size in [1, 1e6] (UNIMPLEMENTED beyond). With epsilon
// = mu / size it tends to the Laplace function of mu as size grows ([DRS19] Prop 2.15).
absl::StatusOr<TradeOffFunction> GroupPrivacy(const TradeOffFunction& f, int64_t size);

// f (x) f_{0,delta} = (1 - delta) f(alpha / (1 - delta)) for alpha <= 1 - delta, 0 beyond: with
// probability delta everything is revealed. delta in [0, 1].
absl::StatusOr<TradeOffFunction> RevealWithProbability(const TradeOffFunction& f, double delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TRANSFORMATION_H_
