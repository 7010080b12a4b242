#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_

// The port to durable storage: append-only ledgers and an index of charge keys. One contract suite
// (tests/server/storage/store_contract_test.cc) tests every implementation.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/core/incarnation.h"
#include "server/core/ledger.h"

namespace epsledger::storage {

class SharedLedgers;

inline constexpr int64_t kAnyBytes = std::numeric_limits<int64_t>::max();

// A key of one ledger.
struct StoredKey {
  std::string root_id;
  core::ChargeKey key;
};

// Transaction rules:
//  * Append is called between Begin and Commit; FindCharge and ListCharges also see what the open
//    transaction has appended.
//  * After Commit returns OK everything appended survives power loss. After any error of Begin,
//    Append or Commit it is unknown whether the transaction is durable. The store then holds a
//    prefix of the appended entries that ends with this transaction or the previous one, never part
//    of a transaction.
//  * A store is held or shared. A HELD store belongs to one process: opening it a second time
//    fails, and after an error nothing is appended before Rollback and Resume have succeeded. Other
//    processes append to the ledgers of a SHARED store too: see SharedLedgers.
//
// Root ids are names from core::StoredId; budget ids are unique within a tenant.
//
// Not thread-safe.
class LedgerStore {
 public:
  virtual ~LedgerStore() = default;

  using Visit = absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)>;

  // Calls `visit` with every stored entry: ledgers in order of creation, the entries of each in
  // order of sequence. Stops at the first error and returns it. DATA_LOSS for an entry that does
  // not decode.
  virtual absl::Status ReadAll(Visit visit) = 0;

  // Returns the incarnations of the store, the present one last. Empty if the store does not record
  // them.
  virtual std::vector<core::Incarnation> Incarnations() const { return {}; }

  // After ReadAll: returns the ledgers whose table of charge keys contradicted their entries at
  // that moment (KeyTable). No answer may come from such a row.
  virtual std::vector<std::string> LedgersWithDamagedKeys() const { return {}; }

  // After ReadAll: DATA_LOSS if something is damaged that does not belong to a single ledger. The
  // entries are intact, otherwise ReadAll would have failed; but a write could destroy some of
  // them.
  virtual absl::Status Damage() const { return absl::OkStatus(); }

  virtual absl::Status Begin() = 0;

  // Adds the next entry of the ledger of `root_id`; the first entry of a ledger creates it. ABORTED
  // if the sequence number, the charge key or the budget id of the entry is taken already: the
  // caller's view is stale. A shared store may return this only at Commit.
  virtual absl::Status Append(const std::string& root_id, const core::Entry& entry) = 0;

  virtual absl::Status Commit() = 0;

  // Ends the transaction in any state. Returns the ledgers to which it had appended: the caller
  // must discard everything that it knows of them and read them again. After an error nothing can
  // be read any more.
  virtual absl::StatusOr<std::vector<std::string>> Rollback() {
    return absl::UnavailableError("this store cannot be read after an error");
  }

  // Held stores: OK while transactions may begin. Otherwise the reason why the store can only be
  // read, after an error or from the start.
  virtual absl::Status Writable() const { return absl::OkStatus(); }

  // Held stores, after Rollback: writes and syncs test data. OK: transactions may begin again, and
  // everything readable is durable. UNAVAILABLE: not possible now. FAILED_PRECONDITION: not
  // possible until the store is opened again.
  virtual absl::Status Resume() {
    return absl::FailedPreconditionError("this store is not written again after an error");
  }

  // Returns the entries of one ledger with sequence > after_sequence, in order: at most `limit`,
  // and no further entry once their contents have reached `max_bytes`, but at least one if any
  // exists.
  virtual absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id,
                                                               int64_t after_sequence,
                                                               int64_t limit,
                                                               int64_t max_bytes) = 0;

  // Returns the entry that took a key (core::KeyOf), or nothing.
  virtual absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                                const core::ChargeKey& key) = 0;

  // Returns the charges of a session (entries with a ChargeKeyOf) with sequence > after_sequence,
  // in order: at most `limit`, and no further charge once their contents have reached `max_bytes`,
  // but at least one if any exists.
  virtual absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                               int64_t session_number,
                                                               int64_t after_sequence,
                                                               int64_t limit,
                                                               int64_t max_bytes) = 0;

  // Returns the stored hash of an entry, or nothing if there is no such entry.
  absl::StatusOr<std::optional<core::Hash>> HashOf(const std::string& root_id, int64_t sequence) {
    const auto found = ReadEntries(root_id, sequence - 1, /*limit=*/1, kAnyBytes);
    if (!found.ok()) return found.status();
    if (found->empty() || found->front().sequence != sequence) return std::nullopt;
    return found->front().hash;
  }

  // Nullptr for a held store.
  virtual SharedLedgers* shared() { return nullptr; }
};

// The additional operations of a shared store. It remembers the position of its caller in each
// ledger: ReadAll, CatchUp or Hold hands out an entry once, unless it was appended here.
class SharedLedgers {
 public:
  virtual ~SharedLedgers() = default;

  // CatchUp and Hold hand out the entries that others have appended. They return the ledgers of
  // which the store has LOST entries that its caller has: the store is an older copy, or another
  // history.

  // Hands out entries of any ledger. Reconnects if the connection is lost; a read outside of a
  // transaction does not reconnect and returns UNAVAILABLE. When it returns OK, everything that was
  // ever handed out survives whatever a commit survives.
  virtual absl::StatusOr<std::vector<std::string>> CatchUp(LedgerStore::Visit visit) = 0;

  // Holds these ledgers and creates missing ones: until the transaction ends, nobody else appends
  // to them. Called after Begin and before the first Append. DEADLINE_EXCEEDED if somebody else
  // holds one of them for longer than a short time.
  virtual absl::StatusOr<std::vector<std::string>> Hold(const std::vector<std::string>& root_ids,
                                                        LedgerStore::Visit visit) = 0;

  // Looks up all of these keys in one request: until the transaction ends, FindCharge answers them
  // without a request. REQUIRES: their ledgers are held.
  virtual absl::Status Prefetch(const std::vector<StoredKey>& keys) = 0;

  // Returns the ledgers of those of the budgets that exist, named by core::StoredId. Called outside
  // of a transaction.
  virtual absl::StatusOr<std::map<std::string, std::string>> FindLedgers(
      const std::vector<std::string>& budget_ids) = 0;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_
