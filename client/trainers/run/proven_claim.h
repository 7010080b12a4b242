#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_PROVEN_CLAIM_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_PROVEN_CLAIM_H_

#include <optional>
#include <string>

#include "client/trainers/run/ledger_flags.h"
#include "epsledger/budget.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// Returns the claim of a run whose guarantee is proven: an (epsilon, delta) that the run's own cap
// enforces, or else its budget's cap. For a cap in another quantity the claim is at ReportDelta,
// and its epsilon is no smaller than what the ledger can read for any run under that cap:
//
//   rho-zCDP    rho + 2 sqrt(rho log(1 / delta))           [BS16, Prop 1.3]
//   mu-GDP      the same of rho = mu^2 / 2, as a mu-GDP pair is post-processed from N(0, 1) and
//               N(mu, 1)                                   [DRS19, Thm 2.10]
//   Renyi       divergence + log(1 / delta) / (order - 1)  [Mironov17, Prop 3]
//   a curve     its first point
//
// Returns nullopt for a budget that promises nothing.
std::optional<Claim> ProvenClaim(const LedgerFlags& flags, const Budget& budget,
                                 const std::string& source);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_PROVEN_CLAIM_H_
