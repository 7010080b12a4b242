#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_UNPROVEN_RUN_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_UNPROVEN_RUN_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp_published/noise_scales.h"
#include "epsledger/budget.h"
#include "epsledger/client.h"
#include "epsledger/session.h"

namespace epsledger::trainers::fsdp_published {

struct UnprovenRun {
  std::string session;    // its id
  std::string data;       // for people
  PublishedBudget claim;  // what the paper claims
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;
};

// Opens a session whose claim has a known counterexample, charges one nonPrivate event to it, and
// waits until the ledger has recorded it. Private records may be read only after this returned a
// session: from then on every epsilon of the session and its budgets is infinite.
// FAILED_PRECONDITION if the ledger refuses, as every cap with a finite epsilon does: then nothing
// was charged. Other codes as Client::OpenSession and Session::Charge.
absl::StatusOr<Session> OpenUnprovenRun(const UnprovenRun& run, const Budget& budget,
                                        Client& client);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_UNPROVEN_RUN_H_
