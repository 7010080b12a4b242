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

// Returns the refused charge that a refusal carries; nullopt if there is none.
std::optional<v1::Charge> RefusedChargeOf(const absl::Status& status);

// Returns the status of a refused charge in the body of an answer: FAILED_PRECONDITION, or ABORTED
// for a fenced attempt, with RefusedChargeOf(status).
absl::Status RefusedStatus(const v1::Charge& charge);

// Returns the refusal of a DECLARED session's creation that `status` carries; nullopt if none.
std::optional<v1::Refusal> RefusedPlanOf(const absl::Status& status);

// Returns how long the server asks to wait (google.rpc.RetryInfo); zero if it does not say.
std::chrono::nanoseconds RetryDelayOf(const absl::Status& status);

// Returns true for codes after which the server may have committed and a repetition with the same
// key can find out: UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED (the transport cancelled: the client
// never does), UNKNOWN.
bool IsWorthRetrying(absl::StatusCode code);

// Returns true if the server may have committed before it failed with this code: for all codes but
// those that it returns before it writes.
bool MayHaveCommitted(absl::StatusCode code);

// Returns `status` marked for UnknownCharge, with a message that says that the outcome is unknown.
absl::Status OutcomeUnknown(const absl::Status& status, const std::string& charge_id,
                            const std::string& how_it_went);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_RPC_STATUS_H_
