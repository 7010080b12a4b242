#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_ACCESS_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_ACCESS_CONVERT_H_

// Converts tokens, callers and denials from and to their messages.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/audit_service.pb.h"
#include "server/access/access_control.h"
#include "server/access/caller.h"
#include "server/core/access_command.h"
#include "server/core/tenant.h"

namespace epsledger::transport {

// Returns a new token of the tenant for the request. INVALID_ARGUMENT names the field.
absl::StatusOr<access::NewToken> FromProto(const v1::CreateTokenRequest& request,
                                           const core::Tenant& tenant, absl::Time now);

// Returns the id in "tokens/{token}". INVALID_ARGUMENT names `field`.
absl::StatusOr<std::string> ParseTokenName(const std::string& field, std::string_view name);

// Writes the token with its state at `now`.
void ToProto(const core::Token& token, absl::Time now, v1::Token* message);
void ToProto(const access::Caller& caller, v1::Caller* message);
void ToProto(const core::DenialCount& denial, int64_t time_micros, v1::Denial* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_ACCESS_CONVERT_H_
