#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_AUDIT_RECORD_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_AUDIT_RECORD_CONVERT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "epsledger/v1/session.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

// Returns the command of a request. INVALID_ARGUMENT names the field: "audit.confidence: got 1,
// want in (0, 1)".
absl::StatusOr<core::RecordAudit> FromProto(const v1::RecordAuditRequest& request);

// `claim`: the claim of the session.
void ToProto(const core::RecordedAudit& recorded, const std::optional<core::Claim>& claim,
             v1::SessionAudit* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_AUDIT_RECORD_CONVERT_H_
