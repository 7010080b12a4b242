#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_STATUS_MAPPING_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_STATUS_MAPPING_H_

// One factory for each error that a client can see. The code says what the caller should do next;
// the details (google.rpc.Status) carry google.rpc.ErrorInfo with a reason that never changes and
// the domain "epsledger.dev". Messages fit a client's default limit for trailers.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "epsledger/v1/charge.pb.h"
#include "grpcpp/support/status.h"

namespace epsledger::transport {

inline constexpr char kErrorDomain[] = "epsledger.dev";

// Converts an error of the core or of a check, code by code:
//   INVALID_ARGUMENT     INVALID_FIELD, with google.rpc.BadRequest: correct the field
//   NOT_FOUND            RESOURCE_NOT_FOUND: correct the name
//   ALREADY_EXISTS       CONTENT_DIFFERS: use another name or key
//   FAILED_PRECONDITION  STATE_FORBIDS: change something else first
//                        QUOTA_EXCEEDED: QuotaExceeded, ask who runs the server
//                        APPROVAL_REQUIRED, SECOND_PERSON_REQUIRED: core/proposal.h
//   UNAVAILABLE          TRY_AGAIN, with google.rpc.RetryInfo: repeat with the same key
//                        OVERLOADED, likewise: core::Overload, nothing was done
//                        LEDGER_READ_ONLY, likewise: core::ReadOnly, nothing was done
//   DATA_LOSS            LEDGER_DAMAGED: an operator is needed
//   UNAUTHENTICATED      CALLER_UNKNOWN: give a token that is valid
//   PERMISSION_DENIED    ROLE_TOO_SMALL, METHOD_NOT_GRANTED, LIMITED_TO_A_PART: ask somebody who
//   may UNIMPLEMENTED        NOT_IN_THIS_VERSION any other            UNEXPECTED
// REQUIRES: !status.ok().
grpc::Status ToGrpcStatus(const absl::Status& status);

// Returns true if the client should repeat the same call later, and would cause load by repeating
// it immediately: UNAVAILABLE.
bool IsRefusedForNow(const grpc::Status& status);

// Returns the reason in the ErrorInfo of one of these errors; empty for any other status and for
// OK.
std::string ReasonOf(const grpc::Status& status);

// A refused charge: FAILED_PRECONDITION, or ABORTED if the attempt is fenced. The reason is that of
// v1.Refusal.Reason. The message is one sentence with the cap, what is spent, what was requested
// and how many steps would fit. Details: ErrorInfo with metadata limitingResource, quantity, order,
// cap, spent, requested, stepsThatFit (those that apply), then `charge` itself, without its event
// if that is large. REQUIRES: charge.decision() == REFUSED.
grpc::Status RefusedCharge(const v1::Charge& charge);

// A DECLARED session whose plan did not fit: as above, with the v1.Refusal as detail.
grpc::Status RefusedPlan(std::string_view session_name, const v1::Refusal& refusal);

// Returns the sentence of the two above, also for answers that contain refusals in their body.
std::string Sentence(const v1::Refusal& refusal);

// Overload: too many calls are open on this server already, or too many bytes of requests.
absl::Status TooManyCalls();

// Overload: too many computations wait on this server already.
absl::Status TooBusy();

// DEADLINE_EXCEEDED: the call was held as long as this server holds a call. A submitted command
// cannot be taken back: its outcome is durable or never happened, and repeating it with the same
// key shows which.
grpc::Status HeldTooLong();

// DEADLINE_EXCEEDED: the client waits no longer. The outcome is as for HeldTooLong.
grpc::Status DeadlinePassed();

// UNAVAILABLE: the server is stopping, and this call was not answered in time.
grpc::Status Stopping();

// Overload: the caller or its tenant has its full share already; the rest is for others.
absl::Status TooManyCallsOfTenant();
absl::Status TooManyStreamsOfTenant();
// Overload: the tenant reads faster than allowed.
absl::Status ReadsTooFast();

// FAILED_PRECONDITION: the tenant has used up its quota, and nothing was done.
absl::Status QuotaExceeded(std::string_view message);

// Overload: too many streams are open on this server already.
absl::Status TooManyStreams();

// UNAVAILABLE: the stream has reached the maximum age. A new one can continue where it ended.
grpc::Status StreamTooOld();

// DEADLINE_EXCEEDED: the client took no message of its stream for kMaxWriteDuration.
grpc::Status SlowReader();

// CANCELLED: the client cancelled, its deadline passed, or it has gone.
grpc::Status ClientGone();

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_STATUS_MAPPING_H_
