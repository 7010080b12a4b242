#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHANGE_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHANGE_CONVERT_H_

// Converts entries of a ledger to what watchers see.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "epsledger/v1/change.pb.h"
#include "server/core/durable_ledger.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

// The watched resource: a budget with its descendants and their sessions, or one session.
struct Watched {
  std::string budget_id;
  std::string session_id;  // empty: the budget
};

// Returns the change that a watcher sees for `entry`, with its sequence and time. Returns nullopt
// if the entry is not about the watched resource, or shows nothing by itself (EventPriced). Budgets
// and sessions have their present state in `ledger`; charges, attempts and leases the state after
// the entry. DATA_LOSS if the entry does not belong to the ledger. Cost: a look-up by key for a
// lease, otherwise microseconds.
absl::StatusOr<std::optional<v1::LedgerChange>> ToChange(core::LedgerReader& reader,
                                                         const core::Ledger& ledger,
                                                         const Watched& watched,
                                                         const core::Entry& entry);

// Returns a change that says only that everything up to `sequence` has been sent.
v1::LedgerChange Bookmark(int64_t sequence, int64_t now_micros);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHANGE_CONVERT_H_
