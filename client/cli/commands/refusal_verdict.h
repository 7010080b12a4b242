#ifndef EPSLEDGER_CLIENT_CLI_COMMANDS_REFUSAL_VERDICT_H_
#define EPSLEDGER_CLIENT_CLI_COMMANDS_REFUSAL_VERDICT_H_

#include <string>

#include "client/cli/invocation.h"
#include "epsledger/v1/charge.pb.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger::cli {

// Returns one sentence on a refusal, as RefusalText does. If not even one use of `event` fits under
// the cap of a budget, it says which it is: the event is too large for the whole cap, by a lower
// bound on its own epsilon, or for what is left, or the cap is spent. Asks the server for the
// budget; without an answer it is RefusalText.
std::string RefusalVerdict(Invocation& invocation, const v1::Refusal& refusal,
                           const v1::MechanismEvent& event);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMMANDS_REFUSAL_VERDICT_H_
