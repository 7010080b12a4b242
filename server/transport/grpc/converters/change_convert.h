#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHANGE_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHANGE_CONVERT_H_

// Entries of a ledger as watchers see them.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "epsledger/v1/change.pb.h"
#include "server/core/durable_ledger.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

// What is watched: a budget with its descendants and their sessions, or one session.
struct Watched {
  std::string budget_id;
  std::string session_id;  // empty: the budget
};

// The change that `entry` is to a watcher, with its sequence and time; nothing if it is not of what
// is watched, or tells nothing by itself (EventPriced). Budgets and sessions are as they are in
// `ledger` now; charges, attempts and leases as they became. DATA_LOSS if the entry does not belong
// to the ledger. Takes a look-up by key for a lease, otherwise microseconds.
absl::StatusOr<std::optional<v1::LedgerChange>> ToChange(core::LedgerReader& reader,
                                                         const core::Ledger& ledger,
                                                         const Watched& watched,
                                                         const core::Entry& entry);

// A change that says only that everything up to `sequence` has been told.
v1::LedgerChange Bookmark(int64_t sequence, int64_t now_micros);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_CHANGE_CONVERT_H_
