#ifndef EPSLEDGER_CLIENT_CPP_RPC_STATUS_H_
#define EPSLEDGER_CLIENT_CPP_RPC_STATUS_H_

#include <chrono>
#include <optional>
#include <string>

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "epsledger/v1/charge.pb.h"

namespace epsledger {

// Returns the same code and message, with every google.rpc.Status detail of grpc-status-details-bin
// as a payload under its type URL.
absl::Status FromGrpc(const grpc::Status& status);

// Returns the refused charge that a refusal came with; nothing if there is none.
std::optional<v1::Charge> RefusedChargeOf(const absl::Status& status);

// Returns the status of a refused charge that came in the body of an answer: FAILED_PRECONDITION,
// or ABORTED for a fenced attempt, with RefusedChargeOf(status).
absl::Status RefusedStatus(const v1::Charge& charge);

// Returns the refusal that the creation of a DECLARED session came with; nothing if there is none.
std::optional<v1::Refusal> RefusedPlanOf(const absl::Status& status);

// Returns how long the server asks to wait (google.rpc.RetryInfo); zero if it does not say.
std::chrono::nanoseconds RetryDelayOf(const absl::Status& status);

// True for codes after which the server may have committed, and asking again with the same key can
// tell: UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED (nobody here cancels: the transport did),
// UNKNOWN.
bool IsWorthRetrying(absl::StatusCode code);

// True if the server may have committed before it failed with this code: all but the codes that it
// gives before it writes.
bool MayHaveCommitted(absl::StatusCode code);

// Returns `status` with a message that says so, marked for UnknownCharge.
absl::Status OutcomeUnknown(const absl::Status& status, const std::string& charge_id,
                            const std::string& how_it_went);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_RPC_STATUS_H_
