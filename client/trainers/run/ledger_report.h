#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_REPORT_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_REPORT_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/trainers/run/ledger_flags.h"
#include "epsledger/mechanism.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// What the ledger says of a run, for people. All of it is public.
struct LedgerReport {
  const Session& session;
  const Mechanism& mechanism;
  double delta = 0;
};

// "RENYI 0.31, ZCDP 0.33": epsilon so far, rounded up, of every accountant that has one; empty if
// the ledger does not answer.
std::string EpsilonsSoFar(const LedgerReport& report);

// The smallest epsilon that an accountant proves of the session so far (the reading BEST), rounded
// up by the ledger; +inf after a non-private access. Nothing if the ledger does not answer.
std::optional<double> BestEpsilon(const LedgerReport& report);

// How many more steps the ledger would accept now; nothing if it does not answer.
std::optional<int64_t> StepsThatFit(const LedgerReport& report);

// ", so that 100 steps fit" where the noise was chosen for flags.steps steps of so many events
// each; where fewer of them fit now, how many. Empty if the ledger does not answer.
std::string StepsThatFitText(const LedgerReport& report, const LedgerFlags& flags,
                             int events_of_a_step);

// "  steps left 12 by the ledger", or "by the step limit" where `steps_to_limit` is smaller; empty
// if the ledger does not answer.
std::string StepsLeft(const LedgerReport& report, int64_t steps_to_limit);

// "12 x " and the event as JSON.
std::string ChargedText(int releases, const Mechanism& event);

// The table of the session's history under every accountant, after this run `charged` so much.
void PrintGuarantees(const LedgerReport& report, const std::string& charged, std::ostream& out);

// A sentence for a status of the ledger: what refused and why, or the status.
std::string LedgerStatusText(const absl::Status& status);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_REPORT_H_
