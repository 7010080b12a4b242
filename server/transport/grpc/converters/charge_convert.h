#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHARGE_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHARGE_CONVERT_H_

// Charges and refusals from and to their messages.

#include <string>

#include "absl/status/statusor.h"
#include "epsledger/v1/charge.pb.h"
#include "epsledger/v1/charge_service.pb.h"
#include "epsledger/v1/mechanism.pb.h"
#include "server/core/command.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

// What to charge. INVALID_ARGUMENT names the field: names, ids (distinct in a batch), events,
// counts in [1, 2^53], the size and mode of a batch.
absl::StatusOr<core::Charge> FromProto(const v1::ChargeRequest& request);
absl::StatusOr<core::Charge> FromProto(const v1::BatchChargeRequest& request);

void ToProto(const core::Refusal& refusal, v1::Refusal* message);

// A decided charge of the session. REQUIRES: it is one of that session.
void ToProto(const core::SessionName& session, const core::ChargeRecord& record,
             v1::Charge* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHARGE_CONVERT_H_
