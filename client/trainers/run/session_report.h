#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_SESSION_REPORT_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_SESSION_REPORT_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/trainers/run/ledger_flags.h"
#include "epsledger/mechanism.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// What the ledger says about a run, for people. All of it is public.
struct SessionReport {
  const Session& session;
  const Mechanism& mechanism;
  double delta = 0;
};

// Returns "RENYI 0.31, ZCDP 0.33": epsilon so far, rounded up, for every accountant that has one.
// Returns an empty string if the ledger does not answer.
std::string EpsilonsSoFar(const SessionReport& report);

// Returns the smallest epsilon that an accountant proves for the session so far (the reading BEST),
// rounded up by the ledger; +inf after a non-private access. Returns nullopt if the ledger does not
// answer.
std::optional<double> BestEpsilon(const SessionReport& report);

// Returns how many more steps the ledger would accept now, or nullopt if it does not answer.
std::optional<int64_t> StepsThatFit(const SessionReport& report);

// Returns ", so that 100 steps fit" for noise that was chosen for flags.steps steps of
// `events_of_a_step` events each. If fewer steps fit now, it says how many. Empty if the ledger
// does not answer.
std::string StepsThatFitText(const SessionReport& report, const LedgerFlags& flags,
                             int events_of_a_step);

// Returns " steps left 12 by the ledger", or "by the step limit" where `steps_to_limit` is smaller.
// Empty if the ledger does not answer.
std::string StepsLeft(const SessionReport& report, int64_t steps_to_limit);

// Returns "12 x " and the event as JSON.
std::string ChargedText(int releases, const Mechanism& event);

// Prints the table of the session's history under every accountant, and what this run `charged`.
void PrintGuarantees(const SessionReport& report, const std::string& charged, std::ostream& out);

// Returns a sentence for a status of the ledger: what refused and why, or the status.
std::string LedgerStatusText(const absl::Status& status);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_SESSION_REPORT_H_
