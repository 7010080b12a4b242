#ifndef EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_TRADE_OFF_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_TRADE_OFF_H_

// The one-run audit of f-DP: the same game as one_run.h, against a whole trade-off function instead
// of one (epsilon, delta) ([MMC24]). The statement and its proof: accounting/audit/README.md,
// "Audits".

#include <cstdint>

#include "absl/status/statusor.h"
#include "accounting/audit/audit_target.h"
#include "accounting/audit/one_run.h"
#include "accounting/trade_off/trade_off_function.h"

namespace epsledger::accounting {

// True only if no mechanism that is f-DP under adding or removing one canary gives `correct` or
// more right guesses with probability `probability` or more ([MMC24], Algorithm 3 with k = 2, with
// our proof). Rejecting a hypothesis on this ground is wrong with probability below `probability`.
// Everything is rounded towards false; f is read at its lower bound.
// REQUIRES: Validate(counts) is OK; f = f^-1 (the function of an unordered relation); probability
// in (0, 1]. Cost: at most `correct` readings of f.
bool ContradictsTradeOff(const OneRunCounts& counts, const TradeOffFunction& f, double probability);

// Returns >= P[at least `correct` right guesses] for any f-DP mechanism: the smallest probability
// found, within 2^-10 relative, at which ContradictsTradeOff is true; 1 if none exists. Searches
// down to 1e-12. Cost: 50 times that of ContradictsTradeOff.
double OneRunTradeOffPValue(const OneRunCounts& counts, const TradeOffFunction& f);

struct OneRunGaussianAudit {
  // <= the smallest mu at which the mechanism is mu-GDP. No hypothesis.
  double mu_lower = 0;
  // <= the epsilon at delta of exactly mu_lower-GDP: a lower bound on the mechanism's epsilon ONLY
  // UNDER THE HYPOTHESIS that its trade-off function is Gaussian.
  double epsilon_lower_if_gaussian = 0;
};

// Returns the largest mu found whose G_mu is contradicted at 1 - confidence, to 1e-6 relative. G_mu
// falls with mu, so every smaller mu is contradicted too. 0 if none is contradicted.
// Status: INVALID_ARGUMENT as Validate. Cost: 30 times ContradictsTradeOff, 0.3 us per reading.
absl::StatusOr<OneRunGaussianAudit> AuditOneRunGaussian(const OneRunCounts& counts,
                                                        const AuditTarget& target);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_TRADE_OFF_H_
