#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_ANNOTATION_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_ANNOTATION_CONVERT_H_

// What people say about a budget or a session.

#include <string>

#include "absl/status/statusor.h"
#include "epsledger/v1/audit_service.pb.h"
#include "server/core/command.h"
#include "server/core/ledger.h"
#include "server/statement/signing_key.h"

namespace epsledger::transport {

// INVALID_ARGUMENT names the field.
absl::StatusOr<core::Annotate> FromProto(const v1::UpdateAnnotationsRequest& request);

// Takes what the statement says from its JSON. `key` is the server's, `tenant` the caller's.
// Sets `head` to the entry that the statement was made at, which the ledger must hold.
// INVALID_ARGUMENT names the field, also if `key` did not sign the statement, or if it is of
// another resource or tenant.
absl::StatusOr<core::RecordSignOff> FromProto(const v1::RecordSignOffRequest& request,
                                              const statement::SigningKey& key,
                                              const std::string& tenant, core::SeenHead* head);

// Returns what a command was about, of what is said about its resource.
core::Annotations PartOf(const core::Annotations& said, const core::AnnotationsOutcome& recorded);

void ToProto(const core::SessionName& resource, const core::Annotations& said,
             v1::Annotations* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_ANNOTATION_CONVERT_H_
