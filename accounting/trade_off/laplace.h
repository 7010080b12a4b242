#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_LAPLACE_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_LAPLACE_H_

#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Bounds on T(Lap(0,1), Lap(theta,1))(alpha) = F(F^-1(1 - alpha) - theta), F the distribution
// function of Lap(0,1), for any theta in [theta.lower, theta.upper] (the likelihood ratio is
// monotone, so thresholds are best; [DRS19] Prop A.3):
//   1 - e^theta alpha   for alpha < e^-theta / 2,
//   e^-theta / (4 alpha)   up to alpha = 1/2,
//   e^-theta (1 - alpha)   beyond.
// The function is its own inverse; theta = sensitivity / scale in [0, inf]. 1 and 0 at alpha = 0
// and 1 (theta finite). Relative error: 1e-15. Cost: 20 ns.
Bounds LaplaceTradeOff(Bounds theta, double alpha);

// Returns bounds on the profile of this pair: delta(epsilon) = 1 - e^((epsilon - theta)/2) for
// |epsilon| <= theta, 0 beyond theta, 1 - e^epsilon below -theta ([BW18] Thm 3). Relative error:
// 1e-15.
Bounds LaplaceDelta(Bounds theta, double epsilon);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_LAPLACE_H_
