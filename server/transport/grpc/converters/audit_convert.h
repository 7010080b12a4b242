#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_AUDIT_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_AUDIT_CONVERT_H_

// Converts entries, heads and proofs to their messages.

#include <string>

#include "epsledger/v1/audit.pb.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

std::string ToBytes(const core::Hash& hash);

void ToProto(const core::Actor& actor, v1::Actor* message);

// Writes the newest entry of a ledger.
void ToProto(const core::Ledger& ledger, v1::LedgerHead* message);

// `previous` is the hash of the previous entry; `ledger` has applied the entry.
void ToProto(const core::Entry& entry, const core::Hash& previous, const core::Ledger& ledger,
             v1::AuditEntry* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_AUDIT_CONVERT_H_
