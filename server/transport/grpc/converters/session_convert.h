#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_SESSION_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_SESSION_CONVERT_H_

// Sessions from and to their messages.

#include "absl/status/statusor.h"
#include "epsledger/v1/session.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "server/core/command.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

// What to create. INVALID_ARGUMENT names the field. ADAPTIVE: exactly one of own_cap and
// no_own_cap, no plan. DECLARED: a plan and its delta, own_cap only as approximate_dp or
// trade_off_curve.
absl::StatusOr<core::CreateSession> ReadCreateSession(const v1::CreateSessionRequest& request);
absl::StatusOr<core::SessionSpec> FromProto(const v1::CreateSessionRequest& request);

// What an attempt says of itself. INVALID_ARGUMENT names the field.
absl::StatusOr<core::Provenance> FromProto(const v1::Provenance& message, const std::string& path);
void ToProto(const core::Provenance& provenance, v1::Provenance* message);

// What was asked for, without what only a session that exists has. For validate_only.
void ToProto(const core::SessionSpec& spec, v1::Session* message);
void AddPlan(const std::vector<accounting::CountedEvent>& plan, v1::Session* message);
// A session as it is now; with events_omitted, without its plan too. Cost: up to a millisecond.
void ToProto(const core::SessionState& state, v1::Session* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_SESSION_CONVERT_H_
