#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_POSTGRES_STORE_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_POSTGRES_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/ledger_store.h"
#include "server/storage/postgres/connection.h"
#include "server/storage/postgres/engine/engine.h"
#include "server/storage/postgres/pending_rows.h"
#include "server/storage/postgres/schema.h"

namespace epsledger::storage {

// The ledgers of many servers, in one PostgreSQL 15 or later, or another engine that is found at
// the connection (engine/engine.h). A transaction locks the rows of the ledgers that it appends to,
// in the order of their numbers; entries are sent together with the commit.
//
// ABORTED from Append or Commit is definite: nothing of the transaction is durable.
class PostgresStore : public LedgerStore, public SharedLedgers {
 public:
  struct Options {
    // In libpq's format: keywords or a URI, with one host or several.
    std::string conninfo;
    // A file whose first line is the password. Empty: `conninfo` and libpq's own files give it.
    // Read again for every connection.
    std::string password_file;
    // Accepts a database without a synchronous standby: the loss of its one machine, or a failover,
    // loses acknowledged entries.
    bool without_standby = false;
    // Accepts an engine that the store was never run on.
    bool untested_engine = false;
    // Accepts a database in any phase. If false, the phase must be kOpen.
    bool for_migration = false;
    // A connection that has not answered for this long is given up; outcomes in flight are unknown.
    // Longer than statements wait for locks.
    absl::Duration patience = absl::Seconds(30);
  };

  // Connects, checks that the database keeps what it acknowledges, and creates or migrates the
  // tables. FAILED_PRECONDITION, with the reason, if acknowledged charges could be lost. Logs
  // warnings about MissingPrecautions.
  static absl::StatusOr<std::unique_ptr<PostgresStore>> Open(const Options& options);

  // Returns a session for reading: nothing is checked or created.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> ConnectToRead(const Options& options);

  // The incarnations at the creation of this object.
  std::vector<core::Incarnation> Incarnations() const override { return incarnations_; }
  absl::Status ReadAll(Visit visit) override;
  std::vector<std::string> LedgersWithDamagedKeys() const override {
    std::vector<std::string> root_ids;
    for (const auto& [root_id, position] : positions_) {
      if (damaged_keys_.count(position.ledger_id) > 0) root_ids.push_back(root_id);
    }
    return root_ids;
  }
  absl::Status Begin() override;
  absl::Status Append(const std::string& root_id, const core::Entry& entry) override;
  absl::Status Commit() override;
  absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id,
                                                       int64_t after_sequence, int64_t limit,
                                                       int64_t max_bytes) override;
  absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                        const core::ChargeKey& key) override;
  absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                       int64_t session_number,
                                                       int64_t after_sequence, int64_t limit,
                                                       int64_t max_bytes) override;

  SharedLedgers* shared() override { return this; }
  absl::StatusOr<std::vector<std::string>> CatchUp(Visit visit) override;
  absl::StatusOr<std::vector<std::string>> Hold(const std::vector<std::string>& root_ids,
                                                Visit visit) override;
  absl::Status Prefetch(const std::vector<StoredKey>& keys) override;
  absl::StatusOr<std::vector<std::string>> Rollback() override;
  absl::StatusOr<std::map<std::string, std::string>> FindLedgers(
      const std::vector<std::string>& budget_ids) override;

  absl::StatusOr<PostgresPhase> Phase();
  // When it returns OK, the phase is durable, and no transaction that began before is still open.
  absl::Status SetPhase(PostgresPhase phase);
  // As SetPhase, with the present phase.
  absl::Status ConfirmPhase();
  // True if the database has no entries.
  absl::StatusOr<bool> IsEmpty();

 private:
  // The position of the caller in a ledger.
  struct Position {
    int64_t ledger_id = 0;  // 0: not known
    core::LedgerHead head;
  };
  using Heads = std::map<std::string, core::LedgerHead>;  // by root id

  explicit PostgresStore(Options options) : options_(std::move(options)) {}
  absl::Status Connect();
  absl::Status ConnectIfLost();
  absl::Status CheckPhase(std::string_view phase) const;
  // `answer`: the rows of kPhase.
  absl::Status CheckPhaseAndVersion(const PostgresRows& answer) const;
  absl::Status WritePhase(absl::FunctionRef<absl::Status(PostgresConnection&)> write);
  // The call of PostgresEngine::still_durable, and the check of its answer. If the answer is no,
  // the session is given up; the next one reports the setting.
  PostgresCall StillDurable() const;
  absl::Status CheckStillDurable(const PostgresRows& answer);
  // Makes the tables, or checks that their owner has, and that the database keeps them.
  absl::Status PrepareSession(PostgresConnection& connection, const PostgresEngine& engine);
  // Runs the last statements of a transaction, which end with COMMIT and StillDurable. Returns the
  // rows of the latter. ABORTED only if nothing is durable.
  absl::StatusOr<PostgresRows> RunCommit(std::vector<PostgresCall> calls);
  // If a standby is required, returns when everything that was handed out is on the standby too. A
  // commit whose wait for the standby was canceled is visible before.
  absl::Status AwaitStandby();
  // Returns the call that reads the entries after the positions in these ledgers.
  PostgresCall TailsOf(const std::vector<std::string>& root_ids);
  absl::Status HandOut(const std::vector<std::string>& root_ids, const PostgresRows& tails,
                       Visit visit);
  // Hands out one page after the other.
  absl::Status HandOutAll(std::vector<std::string> root_ids, Visit visit);
  // Records the heads in rows of root_budget, ledger_id, sequence and hash.
  void NoteHeads(const PostgresRows& rows, Heads* heads);
  absl::Status Flush();
  // Reads only what the database holds.
  absl::StatusOr<PostgresRows> Ask(const PostgresCall& call);
  // Reads also what the open transaction has appended.
  absl::StatusOr<PostgresRows> Read(const PostgresCall& call);
  int64_t LedgerId(const std::string& root_id) const;
  void EndTransaction();

  const Options options_;
  std::unique_ptr<PostgresConnection> connection_;
  const PostgresEngine* engine_ = nullptr;     // of the connection
  std::map<std::string, Position> positions_;  // by root id
  // Root ids of ledgers with an entry that does not decode or belongs to another position. No more
  // entries of them are handed out.
  std::set<std::string> damaged_;
  std::set<int64_t> damaged_keys_;  // numbers of ledgers
  std::vector<core::Incarnation> incarnations_;
  bool seen_more_ = false;  // something was handed out since the last commit
  bool warned_ = false;     // of MissingPrecautions, once per object

  // The open transaction.
  bool began_ = false;  // Begin was called
  bool open_ = false;   // the database knows of it
  std::set<std::string> held_;
  std::set<std::string> appended_;
  PendingRows pending_;
  // Keys in their state before anything was appended here.
  std::map<StoredChargeKey, std::optional<core::Entry>> prefetched_;
  std::map<int64_t, core::LedgerHead> new_heads_;  // by ledger_id
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_POSTGRES_STORE_H_
