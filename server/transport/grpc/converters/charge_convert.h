#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHARGE_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHARGE_CONVERT_H_

// Converts charges and refusals from and to their messages.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "epsledger/v1/charge.pb.h"
#include "epsledger/v1/charge_service.pb.h"
#include "epsledger/v1/mechanism.pb.h"
#include "server/core/command.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"
#include "server/core/tenant.h"
#include "server/transport/grpc/head_key.h"

namespace epsledger::transport {

// Returns the charge to make. INVALID_ARGUMENT names the field: names, ids (distinct in a batch),
// events, counts in [1, 2^53], the size and mode of a batch.
absl::StatusOr<core::Charge> FromProto(const v1::ChargeRequest& request);
absl::StatusOr<core::Charge> FromProto(const v1::BatchChargeRequest& request);

// Returns a charge of one item that is a lease.
absl::StatusOr<core::Charge> FromProto(const v1::AcquireLeaseRequest& request, int64_t now_micros);
absl::StatusOr<core::SettleLease> FromProto(const v1::SettleLeaseRequest& request);

// Returns the head that a client says it saw, with the result of checking its tag; nullopt if it
// sent none.
absl::StatusOr<std::optional<core::SeenHead>> ReadSeenHead(const v1::LedgerHead& head, bool is_set,
                                                           const HeadKey& key,
                                                           const core::Tenant& tenant);

void ToProto(const core::Refusal& refusal, v1::Refusal* message);

// Writes a decided charge. REQUIRES: it belongs to the session.
void ToProto(const core::SessionName& session, const core::ChargeRecord& record,
             v1::Charge* message);

// Writes an open lease, without its event.
void ToProto(const core::SessionName& session, const core::OpenLease& lease, v1::Lease* message);
// Writes the lease of a charge, settled if `used_count` is set, without its expiry time.
void ToProto(const core::SessionName& session, const core::ChargeRecord& charge,
             std::optional<int64_t> used_count, v1::Lease* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHARGE_CONVERT_H_
