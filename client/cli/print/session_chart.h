#ifndef EPSLEDGER_CLIENT_CLI_PRINT_SESSION_CHART_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_SESSION_CHART_H_

#include <optional>
#include <string>

#include "client/cli/invocation.h"
#include "epsledger/v1/session.pb.h"

namespace epsledger::cli {

// Returns how a session's epsilon grew and will grow, as a line with its legend. It is at `delta`,
// else at the delta of its own cap, of its plan or of its budget's cap. Empty if none of them has
// one, or before the first charge. If the server fails, returns the reason: nothing else fails,
// because the chart is not the answer.
std::string SessionChart(Invocation& invocation, const v1::Session& session,
                         std::optional<double> delta);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_SESSION_CHART_H_
