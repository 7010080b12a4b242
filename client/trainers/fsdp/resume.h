#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_RESUME_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_RESUME_H_

#include <optional>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/command_line.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// Returns the state in --checkpoint with --resume, and sets options.ledger.noise_multiplier to that
// of its run; nullopt without --resume. A run that continues is charged to the same budget and
// session, with the same settings and noise: INVALID_ARGUMENT names the flag that differs, and
// status codes are else those of ReadStateFile. Without --resume and --new-attempt a checkpoint of
// the run's own session is FAILED_PRECONDITION (WouldStartOver).
absl::StatusOr<std::optional<TrainingState>> StateToContinueFrom(
    CommandLine& options, const network::Network<float>& network);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_RESUME_H_
