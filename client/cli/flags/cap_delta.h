#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_CAP_DELTA_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_CAP_DELTA_H_

// The delta at which epsilon is read where nobody says another: the one that the cap names.

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "client/cli/invocation.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/session.pb.h"

namespace epsledger::cli {

// nullopt for a cap that names none.
std::optional<double> DeltaOf(const v1::Cap& cap);

// That of the session's own cap, else of its plan, else of its budget's cap. nullopt where none of
// them names one. Asks the server for the budget.
absl::StatusOr<std::optional<double>> DeltaOfSession(Connection& connection,
                                                     const v1::Session& session);

// Adds --delta, to be asked for where it is not said.
void AddReadingDelta(CLI::App& command, std::optional<double>& delta);

// `said`, or that of the budget or session with this full name. INVALID_ARGUMENT where neither
// names one; otherwise what the server answers.
absl::StatusOr<double> SaidOrCapDelta(Connection& connection, std::optional<double> said,
                                      const std::string& name);

// How much of a budget is gone, said both ways: the share of what its cap counts, and the epsilon
// of what was charged, by the best accountant. Empty where the cap names no delta, and where the
// server does not answer: it is not what was asked.
std::string SpentSoFar(Invocation& invocation, const v1::Budget& budget);
// The same of the budget with this full name.
std::string SpentSoFar(Invocation& invocation, const std::string& budget);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_CAP_DELTA_H_
