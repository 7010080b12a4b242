#ifndef EPSLEDGER_CLIENT_CLI_COMMANDS_COMMANDS_H_
#define EPSLEDGER_CLIENT_CLI_COMMANDS_COMMANDS_H_

#include <CLI/CLI.hpp>

#include "client/cli/invocation.h"

namespace epsledger::cli {

// Each adds one noun with its verbs to `app`. A verb runs while the command line is parsed and
// leaves its outcome in `invocation`, which outlives `app`.
void AddBudgetCommands(CLI::App& app, Invocation& invocation);
void AddSessionCommands(CLI::App& app, Invocation& invocation);
void AddChargeCommands(CLI::App& app, Invocation& invocation);
void AddLedgerCommands(CLI::App& app, Invocation& invocation);
void AddStatementCommands(CLI::App& app, Invocation& invocation);
void AddAnnotationCommands(CLI::App& app, Invocation& invocation);
void AddLeaseCommands(CLI::App& app, Invocation& invocation);
void AddWatchCommands(CLI::App& app, Invocation& invocation);
void AddComputeCommand(CLI::App& app, Invocation& invocation);
void AddCompareCommand(CLI::App& app, Invocation& invocation);
void AddCalibrateCommand(CLI::App& app, Invocation& invocation);
void AddCurveCommand(CLI::App& app, Invocation& invocation);
void AddAttackCommand(CLI::App& app, Invocation& invocation);
void AddApplyCommand(CLI::App& app, Invocation& invocation);
void AddAuditCommand(CLI::App& app, Invocation& invocation);
void AddTokenCommands(CLI::App& app, Invocation& invocation);
void AddProposalCommands(CLI::App& app, Invocation& invocation);
void AddPolicyCommands(CLI::App& app, Invocation& invocation);
void AddServerCommands(CLI::App& app, Invocation& invocation);
void AddConfigCommands(CLI::App& app, Invocation& invocation);
void AddExplainCommand(CLI::App& app, Invocation& invocation);
// `completion` prints scripts for the whole tree of `app`.
void AddCompletionCommand(CLI::App& app, Invocation& invocation);
void AddVersionCommand(CLI::App& app, Invocation& invocation);

// The verbs of `budget` that change one, list what was refused, and list what was spent, those of
// `session` that read what it spends, and those of `statement` that fill forms and record
// who signed off.
void AddBudgetChanges(CLI::App& budget, Invocation& invocation);
void AddBudgetRefusals(CLI::App& budget, Invocation& invocation);
void AddBudgetSpending(CLI::App& budget, Invocation& invocation);
void AddGuardCommand(CLI::App& budget, Invocation& invocation);
void AddSessionReadings(CLI::App& session, Invocation& invocation);
void AddStatementExport(CLI::App& statement, Invocation& invocation);
void AddStatementSignOff(CLI::App& statement, Invocation& invocation);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMMANDS_COMMANDS_H_
