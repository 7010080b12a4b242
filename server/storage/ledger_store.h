#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_

// The port to durable storage: append-only ledgers and an index of charge keys. One contract suite
// (tests/server/storage/store_contract_test.cc) holds every implementation.

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
//    Append or Commit it is unknown what of the transaction is durable; what is stored is then a
//    prefix of the appended entries that ends with this transaction or the one before, never part
//    of a transaction.
//  * A store is held or shared. One that is HELD belongs to one process: opening a second one
//    fails, and after an error nothing is appended before Rollback and Resume have succeeded. To
//    the ledgers of a SHARED one other processes append too: see SharedLedgers.
//
// Root ids here are names of core::StoredId; budget ids are unique within a tenant.
//
// Not thread-safe.
class LedgerStore {
 public:
  virtual ~LedgerStore() = default;

  using Visit = absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)>;

  // Calls `visit` with every stored entry: each ledger's in order of sequence, ledgers in order of
  // creation. Stops at the first error and returns it. DATA_LOSS for an entry that does not decode.
  virtual absl::Status ReadAll(Visit visit) = 0;

  // The lives of the store, the present one last. Empty: it keeps no account of them.
  virtual std::vector<core::Incarnation> Incarnations() const { return {}; }

  // After ReadAll: the ledgers whose table of charge keys said something else than their entries at
  // that moment (KeyTable). No answer may come from such a row.
  virtual std::vector<std::string> LedgersWithDamagedKeys() const { return {}; }

  // After ReadAll: DATA_LOSS if something is damaged that belongs to no one ledger, or to all. The
  // entries are whole, or ReadAll would have said so; to write could destroy some of them.
  virtual absl::Status Damage() const { return absl::OkStatus(); }

  virtual absl::Status Begin() = 0;

  // Adds the next entry of the ledger of `root_id`; the first entry of a ledger creates it.
  // ABORTED if the sequence number, the charge key or the budget id of the entry is taken already:
  // the caller's view is stale. A shared store may say so at Commit.
  virtual absl::Status Append(const std::string& root_id, const core::Entry& entry) = 0;

  virtual absl::Status Commit() = 0;

  // Ends the transaction in any state. The ledgers to which it had appended: the caller must forget
  // all that it knows of them and read them again. An error: nothing can be read any more.
  virtual absl::StatusOr<std::vector<std::string>> Rollback() {
    return absl::UnavailableError("this store cannot be read after an error");
  }

  // Held stores: OK while transactions may begin. Otherwise why the store can only be read: after
  // an error, or from the start.
  virtual absl::Status Writable() const { return absl::OkStatus(); }

  // Held stores, after Rollback: writes and syncs a trial. OK: transactions may begin again, and
  // all that can be read is durable. UNAVAILABLE: not now. FAILED_PRECONDITION: not before the
  // store is opened again.
  virtual absl::Status Resume() {
    return absl::FailedPreconditionError("this store is not written again after an error");
  }

  // The entries of one ledger with sequence > after_sequence in order, at most `limit`, and none
  // after those whose contents come to `max_bytes`: one at least, where there is one.
  virtual absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id,
                                                               int64_t after_sequence,
                                                               int64_t limit,
                                                               int64_t max_bytes) = 0;

  // The entry that took a key (core::KeyOf), or nothing.
  virtual absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                                const core::ChargeKey& key) = 0;

  // The charges of a session, the entries with a ChargeKeyOf, with sequence > after_sequence in
  // order, at most `limit`, and none after those whose contents come to `max_bytes`: one at least,
  // where there is one.
  virtual absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                               int64_t session_number,
                                                               int64_t after_sequence,
                                                               int64_t limit,
                                                               int64_t max_bytes) = 0;

  // Nullptr of a store that is held.
  virtual SharedLedgers* shared() { return nullptr; }
};

// What a shared store does besides. It remembers how far its caller has come in each ledger: an
// entry is handed out by ReadAll, CatchUp or Hold once, unless it was appended here.
class SharedLedgers {
 public:
  virtual ~SharedLedgers() = default;

  // Both hand out what others have appended, and name the ledgers of which the store has LOST
  // entries that its caller has: it is an older copy, or another history.

  // Entries of any ledger. Reconnects if the connection is lost; a read outside of a transaction
  // does not, and says UNAVAILABLE. When it returns OK all that was ever handed out survives what a
  // commit survives.
  virtual absl::StatusOr<std::vector<std::string>> CatchUp(LedgerStore::Visit visit) = 0;

  // Holds these ledgers, and makes those that are missing: until the transaction ends nobody else
  // appends to them. After Begin and before the first Append. DEADLINE_EXCEEDED if somebody else
  // holds one of them for longer than a moment.
  virtual absl::StatusOr<std::vector<std::string>> Hold(const std::vector<std::string>& root_ids,
                                                        LedgerStore::Visit visit) = 0;

  // Asks for all of these keys at once: until the transaction ends FindCharge knows them without
  // asking. REQUIRES: their ledgers are held.
  virtual absl::Status Prefetch(const std::vector<StoredKey>& keys) = 0;

  // The ledgers of those of the budgets, named by core::StoredId, that there are. Outside of a
  // transaction.
  virtual absl::StatusOr<std::map<std::string, std::string>> FindLedgers(
      const std::vector<std::string>& budget_ids) = 0;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_STORE_H_
