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
#include "server/storage/postgres/pending_rows.h"
#include "server/storage/postgres/schema.h"

namespace epsledger::storage {

// The ledgers of many servers, in one PostgreSQL 15 or later. A transaction locks the rows of the
// ledgers that it appends to, in their order, at READ COMMITTED; entries are sent together, with
// the commit.
//
// ABORTED, from Append or Commit, is definite: nothing of the transaction is durable.
class PostgresStore : public LedgerStore, public SharedLedgers {
 public:
  struct Options {
    // libpq's: keywords or a URI, of one host or several.
    std::string conninfo;
    // Its first line is the password. Empty: as `conninfo` and libpq's own files say. Read again
    // whenever a connection is made.
    std::string password_file;
    // Takes a database without a synchronous standby: the loss of its one machine, or a failover,
    // loses what was acknowledged.
    bool without_standby = false;
    // Takes a database in any phase; others are refused unless it is kOpen.
    bool for_migration = false;
    // A connection that has not answered for so long is given up; what was in flight is unknown.
    // Longer than statements wait for locks.
    absl::Duration patience = absl::Seconds(30);
  };

  // Connects, checks that the database keeps what it acknowledges, and makes or migrates the
  // tables. FAILED_PRECONDITION, with the reason, where acknowledged charges could be lost. Warns
  // in the log of MissingPrecautions.
  static absl::StatusOr<std::unique_ptr<PostgresStore>> Open(const Options& options);

  // A session that looks only: nothing is checked or made.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> ConnectToRead(const Options& options);

  // As they were when this object was made.
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
  // Durable when it returns OK, and then no transaction that began before is open any more.
  absl::Status SetPhase(PostgresPhase phase);
  // The same of the phase that it has, whichever that is.
  absl::Status ConfirmPhase();
  // No entries.
  absl::StatusOr<bool> IsEmpty();

 private:
  // How far the caller has come in a ledger.
  struct Position {
    int64_t ledger_id = 0;  // 0: not known
    core::LedgerHead head;
  };
  using Heads = std::map<std::string, core::LedgerHead>;  // by root id

  explicit PostgresStore(Options options) : options_(std::move(options)) {}
  absl::Status Connect();
  absl::Status ConnectIfLost();
  absl::Status CheckPhase(std::string_view phase) const;
  // `answer` is that to kPhase.
  absl::Status CheckPhaseAndVersion(const PostgresRows& answer) const;
  absl::Status WritePhase(absl::FunctionRef<absl::Status(PostgresConnection&)> write);
  // kStillDurable, and what it says. Where it says no the session is given up: the next one tells
  // which setting it is.
  PostgresCall StillDurable() const;
  absl::Status CheckStillDurable(const PostgresRows& answer);
  // Returns when all that was handed out is on the standby too, if there is to be one: a commit
  // whose wait for it was cancelled is visible before.
  absl::Status AwaitStandby();
  // What comes after the positions in these ledgers.
  PostgresCall TailsOf(const std::vector<std::string>& root_ids);
  absl::Status HandOut(const std::vector<std::string>& root_ids, const PostgresRows& tails,
                       Visit visit);
  // A page after the other.
  absl::Status HandOutAll(std::vector<std::string> root_ids, Visit visit);
  // What rows of root_budget, ledger_id, sequence and hash say.
  void NoteHeads(const PostgresRows& rows, Heads* heads);
  absl::Status Flush();
  // Asks for what the database holds.
  absl::StatusOr<PostgresRows> Ask(const PostgresCall& call);
  // Reads, also of what the open transaction has appended.
  absl::StatusOr<PostgresRows> Read(const PostgresCall& call);
  int64_t LedgerId(const std::string& root_id) const;
  void EndTransaction();

  const Options options_;
  std::unique_ptr<PostgresConnection> connection_;
  std::map<std::string, Position> positions_;  // by root id
  // Root ids of ledgers with an entry that does not decode or is another's: nothing more of them is
  // handed out.
  std::set<std::string> damaged_;
  std::set<int64_t> damaged_keys_;  // numbers of ledgers
  std::vector<core::Incarnation> incarnations_;
  bool seen_more_ = false;  // something was handed out since the last commit
  bool warned_ = false;     // of MissingPrecautions, once in its life

  // The open transaction.
  bool began_ = false;  // Begin was called
  bool open_ = false;   // the database knows of it
  std::set<std::string> held_;
  std::set<std::string> appended_;
  PendingRows pending_;
  // Keys, as they were before anything was appended here.
  std::map<StoredChargeKey, std::optional<core::Entry>> prefetched_;
  std::map<int64_t, core::LedgerHead> new_heads_;  // by ledger_id
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_POSTGRES_STORE_H_
