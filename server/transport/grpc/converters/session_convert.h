#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_SESSION_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_SESSION_CONVERT_H_

// Converts sessions from and to their messages.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/v1/session.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "server/core/command.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

// Returns the session to create. INVALID_ARGUMENT names the field. ADAPTIVE: exactly one of own_cap
// and no_own_cap, no plan. DECLARED: a plan and its delta, own_cap only as approximate_dp or
// trade_off_curve.
absl::StatusOr<core::CreateSession> ReadCreateSession(const v1::CreateSessionRequest& request);
absl::StatusOr<core::SessionSpec> FromProto(const v1::CreateSessionRequest& request);

// Returns the provenance of an attempt. INVALID_ARGUMENT names the field.
absl::StatusOr<core::Provenance> FromProto(const v1::Provenance& message, const std::string& path);
void ToProto(const core::Provenance& provenance, v1::Provenance* message);

// Writes the requested session, without the fields that only an existing session has. For
// validate_only.
void ToProto(const core::SessionSpec& spec, v1::Session* message);
void AddPlan(const std::vector<accounting::CountedEvent>& plan, v1::Session* message);
// Returns the number of accepted uses of events, at most 2^63 - 1.
int64_t StepCountOf(const core::SessionState& state);
// Writes the present state of a session; with events_omitted, also without its plan. Cost: up to a
// millisecond.
void ToProto(const core::SessionState& state, v1::Session* message);
// Writes what a row of a list shows: as ToProto, without events, plan, leases, cells, audits and
// provenance, and with events_omitted. Cost: O(distinct events), microseconds.
void ToOutline(const core::SessionState& state, v1::Session* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_SESSION_CONVERT_H_
