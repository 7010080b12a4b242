#include "client/trainers/run/program.h"

#include <iostream>

#include "accounting/event/status_macros.h"
#include "client/trainers/run/session_report.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"

namespace epsledger::trainers {
namespace {

enum ExitCode { kTrained = 0, kFailed = 1, kRefusedFromTheStart = 3 };

int ExitCodeOf(const RunEnd& end) {
  switch (end.reason) {
    case RunEnd::Reason::kComplete:
      return kTrained;
    case RunEnd::Reason::kRefused:
      return end.releases > 0 ? kTrained : kRefusedFromTheStart;
    case RunEnd::Reason::kFailed:
      break;
  }
  return kFailed;
}

absl::StatusOr<RunEnd> Run(TrainerProgram& program) {
  RETURN_IF_ERROR(program.Prepare());
  const LedgerFlags& flags = program.ledger();
  ASSIGN_OR_RETURN(Client client, Client::Connect(flags.client));
  ASSIGN_OR_RETURN(const Budget budget, client.GetBudget(flags.budget));
  ASSIGN_OR_RETURN(OpenedRun run,
                   OpenGaussianRun(flags, program.Description(budget), budget, client));
  return program.Train(run, budget);
}

}  // namespace

int RunTrainer(const std::string& name, TrainerProgram& program) {
  const absl::StatusOr<RunEnd> end = Run(program);
  if (end.ok()) return ExitCodeOf(*end);
  std::cerr << name << ": " << LedgerStatusText(end.status()) << "\n";
  return RefusalOf(end.status()).has_value() ? kRefusedFromTheStart : kFailed;
}

}  // namespace epsledger::trainers
