#ifndef EPSLEDGER_CLIENT_CLI_COMMANDS_H_
#define EPSLEDGER_CLIENT_CLI_COMMANDS_H_

#include <CLI/CLI.hpp>

#include "client/cli/invocation.h"
#include "client/cli/table.h"
#include "epsledger/v1/budget.pb.h"

namespace epsledger::cli {

// Each adds one noun with its verbs to `app`. A verb runs while the command line is parsed and
// leaves its outcome in `invocation`, which outlives `app`.
void AddBudgetCommands(CLI::App& app, Invocation& invocation);
void AddSessionCommands(CLI::App& app, Invocation& invocation);
void AddChargeCommands(CLI::App& app, Invocation& invocation);
void AddLedgerCommands(CLI::App& app, Invocation& invocation);
void AddStatementCommands(CLI::App& app, Invocation& invocation);
void AddComputeCommand(CLI::App& app, Invocation& invocation);
void AddCompareCommand(CLI::App& app, Invocation& invocation);
void AddCalibrateCommand(CLI::App& app, Invocation& invocation);
void AddCurveCommand(CLI::App& app, Invocation& invocation);
void AddTokenCommands(CLI::App& app, Invocation& invocation);
void AddVersionCommand(CLI::App& app, Invocation& invocation);

// The cells of a budget or session: what each quantity's cap is and how much of it is spent.
Table CellTable(const google::protobuf::RepeatedPtrField<v1::CellBalance>& cells);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMMANDS_H_
