#include "server/transport/grpc/converters/audit_convert.h"

#include "server/core/describe.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/resource_names.h"

namespace epsledger::transport {

std::string ToBytes(const core::Hash& hash) { return std::string(hash.begin(), hash.end()); }

void ToProto(const core::Actor& actor, v1::Actor* message) {
  message->set_principal(actor.principal);
  message->set_door(static_cast<v1::Actor::Door>(actor.door));
  message->set_client(actor.client);
}

void ToProto(const core::Ledger& ledger, v1::LedgerHead* message) {
  message->set_root_budget(FormatBudgetName(ledger.root_id()));
  message->set_sequence(ledger.head().sequence);
  message->set_hash(ToBytes(ledger.head().hash));
  message->set_merkle_root(ToBytes(ledger.merkle().Root()));
}

void ToProto(const core::Entry& entry, const core::Hash& previous, const core::Ledger& ledger,
             v1::AuditEntry* message) {
  message->set_sequence(entry.sequence);
  message->set_previous_hash(ToBytes(previous));
  message->set_hash(ToBytes(entry.hash));
  message->set_content(entry.content);
  message->set_description(core::Describe(entry.body, ledger));
  ToProto(entry.time_micros, message->mutable_time());
  if (entry.actor) ToProto(*entry.actor, message->mutable_actor());
}

}  // namespace epsledger::transport
