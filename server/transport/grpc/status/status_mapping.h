#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_STATUS_MAPPING_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_STATUS_MAPPING_H_

// Every error that a client can see, one factory each. The code says what the caller does next;
// the details (google.rpc.Status) carry google.rpc.ErrorInfo with a reason that never changes and
// the domain "epsledger.dev". Messages fit a client's default limit for trailers.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "epsledger/v1/charge.pb.h"
#include "grpcpp/support/status.h"

namespace epsledger::transport {

inline constexpr char kErrorDomain[] = "epsledger.dev";

// An error of the core or of a check, code by code:
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
//   PERMISSION_DENIED    ROLE_TOO_SMALL: ask somebody who may
//   UNIMPLEMENTED        NOT_IN_THIS_VERSION
//   any other            UNEXPECTED
// REQUIRES: !status.ok().
grpc::Status ToGrpcStatus(const absl::Status& status);

// True if the same call may be made again later, and would be a load if it came at once:
// UNAVAILABLE.
bool IsRefusedForNow(const grpc::Status& status);

// The reason in the ErrorInfo of an error of these; empty of another, and of OK.
std::string ReasonOf(const grpc::Status& status);

// A refused charge: FAILED_PRECONDITION, or ABORTED when the attempt is fenced, reason as in
// v1.Refusal.Reason, one sentence that says which cap, what is spent, what was asked and how many
// steps would fit. Details: ErrorInfo with metadata limitingResource, quantity, order, cap, spent,
// requested, stepsThatFit (those that apply), then `charge` itself, without its event where that
// is large. REQUIRES: charge.decision() == REFUSED.
grpc::Status RefusedCharge(const v1::Charge& charge);

// A DECLARED session whose plan did not fit: as above with the v1.Refusal as detail.
grpc::Status RefusedPlan(std::string_view session_name, const v1::Refusal& refusal);

// The sentence of the two above, for answers that carry refusals in their body too.
std::string Sentence(const v1::Refusal& refusal);

// Overload: more calls are open already, or more bytes of requests, than this server takes.
absl::Status TooManyCalls();

// Overload: more computations wait already than this server takes.
absl::Status TooBusy();

// DEADLINE_EXCEEDED: held for as long as this server holds a call. What was submitted cannot be
// taken back: its outcome is durable or never was, and the same key asks for it.
grpc::Status HeldTooLong();

// DEADLINE_EXCEEDED: the client waits no longer. The outcome as with HeldTooLong.
grpc::Status DeadlinePassed();

// UNAVAILABLE: the server is stopping, and this call was not answered in time.
grpc::Status Stopping();

// Overload: as many of the caller's tenant as one may have, so that others have theirs.
absl::Status TooManyCallsOfTenant();
absl::Status TooManyStreamsOfTenant();
// Overload: the tenant was told more in the last second than one may be.
absl::Status ReadsTooFast();

// FAILED_PRECONDITION: the tenant has as much as one may have here, and nothing was done.
absl::Status QuotaExceeded(std::string_view message);

// Overload: more streams are open already than this server takes.
absl::Status TooManyStreams();

// UNAVAILABLE: a stream as old as streams get. Another goes on where it ended.
grpc::Status StreamTooOld();

// DEADLINE_EXCEEDED: the client took no message of its stream for kMaxWriteDuration.
grpc::Status SlowReader();

// CANCELLED: the client cancelled, or its deadline passed, or it has gone.
grpc::Status ClientGone();

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_STATUS_MAPPING_H_
