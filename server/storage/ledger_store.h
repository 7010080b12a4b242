#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_

// The port to durable storage: append-only ledgers and an index of charge keys. One contract suite
// (tests/server/storage/store_contract.h) holds every implementation.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::storage {

// Transaction rules:
//  * Append is called between Begin and Commit; FindCharge and ListCharges also see what the open
//    transaction has appended.
//  * After Commit returns OK everything appended survives power loss. After any error of Begin,
//    Append or Commit it is unknown what of the transaction is durable: the caller must stop using
//    the store, and a new one opened on the same data shows a prefix of the appended entries that
//    ends with this transaction or the one before, never part of a transaction.
//  * Only one store at a time holds the data; opening a second one fails.
//
// Root ids here are names of core::StoredId; budget ids are unique within a tenant.
//
// Not thread-safe.
class LedgerStore {
 public:
  virtual ~LedgerStore() = default;

  // Calls `visit` with every stored entry: each ledger's in order of sequence, ledgers in order of
  // creation. Stops at the first error and returns it. DATA_LOSS for an entry that does not decode.
  virtual absl::Status ReadAll(
      absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)> visit) = 0;

  virtual absl::Status Begin() = 0;

  // Adds the next entry of the ledger of `root_id`; the first entry of a ledger creates it.
  // ABORTED if the sequence number, the charge key or the budget id of the entry is taken already:
  // the caller's view is stale.
  virtual absl::Status Append(const std::string& root_id, const core::Entry& entry) = 0;

  virtual absl::Status Commit() = 0;

  // The entries of one ledger with sequence > after_sequence in order, at most `limit`.
  virtual absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id,
                                                               int64_t after_sequence,
                                                               int64_t limit) = 0;

  // The entry that took a key (core::KeyOf), or nothing.
  virtual absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                                const core::ChargeKey& key) = 0;

  // The ChargeDecided entries of a session with sequence > after_sequence in order, at most
  // `limit`.
  virtual absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                               int64_t session_number,
                                                               int64_t after_sequence,
                                                               int64_t limit) = 0;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_
