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

// Opens a session that says what it is, a claim with a known counterexample, and charges one
// nonPrivate event to it, waiting until the ledger has it. Only with this session in hand may a
// private record be read: from now on every epsilon of the session and its budgets is infinite.
// FAILED_PRECONDITION if the ledger refuses, as every cap with a finite epsilon does: then nothing
// was charged. Other codes as Client::OpenSession and Session::Charge.
absl::StatusOr<Session> OpenUnprovenRun(const UnprovenRun& run, const Budget& budget,
                                        Client& client);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_UNPROVEN_RUN_H_
