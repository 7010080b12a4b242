#ifndef EPSLEDGER_CLIENT_CLI_COMMANDS_CAP_CALIBRATION_H_
#define EPSLEDGER_CLIENT_CLI_COMMANDS_CAP_CALIBRATION_H_

#include <cstdint>
#include <string>

#include "client/cli/flags/event_flags.h"
#include "client/cli/invocation.h"

namespace epsledger::cli {

// What `calibrate` searches for under the caps of a budget or session.
enum class Sought { kNoiseMultiplier, kCount, kSamplingProbability };

// Finds the smallest noise multiplier, the largest count or the largest sampling probability of the
// flags' event with which that many single charges fit now under every cap on the way up. Asks the
// server's preview, and prints the result or Fails. `budget` or `session` is a full name, the other
// is empty. A budget is asked for a new session that expects the event.
void CalibrateAgainstCap(Invocation& invocation, const std::string& budget,
                         const std::string& session, const EventFlags& event, Sought sought);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMMANDS_CAP_CALIBRATION_H_
