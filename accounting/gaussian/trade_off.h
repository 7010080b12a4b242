#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_TRADE_OFF_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_TRADE_OFF_H_

#include "accounting/gaussian/profile.h"

namespace epsledger::accounting {

// Bounds on G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu), the type II error of the best test of N(0,1)
// against N(mu,1) at type I error alpha in [0, 1] ([DRS19] eq. 6). G_mu is its own inverse.
// G_mu(0) = 1 and G_mu(1) = 0 for finite mu; mu = inf gives 0. Relative width: about
// 1e-14 (1 + |Phi^-1(1 - alpha) - mu|)^2. The lower bound is the safe side. Cost: 0.3 us.
Bounds GaussianTradeOff(Bounds mu, double alpha);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_TRADE_OFF_H_
