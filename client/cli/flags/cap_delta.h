#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_CAP_DELTA_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_CAP_DELTA_H_

// The default of the delta at which epsilon is read: the delta that the cap names.

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "client/cli/invocation.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/session.pb.h"

namespace epsledger::cli {

// Returns nullopt for a cap that names no delta.
std::optional<double> DeltaOf(const v1::Cap& cap);

// Returns the epsilon that a cap promises at that delta; nullopt for a cap that names none.
std::optional<double> EpsilonOf(const v1::Cap& cap);

// Returns the delta of the session's own cap, else of its plan, else of its budget's cap; nullopt
// if none of them names one. Asks the server for the budget.
absl::StatusOr<std::optional<double>> DeltaOfSession(Connection& connection,
                                                     const v1::Session& session);

// Adds --delta, which is optional.
void AddReadingDelta(CLI::App& command, std::optional<double>& delta);

// Returns `said`, or else the delta of the budget or session with this full name. INVALID_ARGUMENT
// if neither exists; otherwise the error of the server.
absl::StatusOr<double> SaidOrCapDelta(Connection& connection, std::optional<double> said,
                                      const std::string& name);

// Returns how much of a budget is spent, in two ways: the share of what its cap counts, and the
// epsilon of all charges by the best accountant. Empty if the cap names no delta, and if the server
// does not answer: this text is not what the user asked for.
std::string SpentSoFar(Invocation& invocation, const v1::Budget& budget);
// The same for the budget with this full name.
std::string SpentSoFar(Invocation& invocation, const std::string& budget);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_CAP_DELTA_H_
