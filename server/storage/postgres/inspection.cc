#include "server/storage/postgres/inspection.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/storage/ledger_inspection.h"
#include "server/storage/postgres/connection.h"
#include "server/storage/postgres/incarnations.h"

namespace epsledger::storage {
namespace {

constexpr int kInspectedPage = 5'000;  // as in the statements below

constexpr PostgresStatement kLedgers = {
    "SELECT ledger_id, root_budget, sequence, hash FROM ledgers WHERE sequence > 0"
    " ORDER BY ledger_id"};
// The pages of the cursors below.
constexpr PostgresStatement kFetchEntries = {"FETCH 5000 FROM entry_rows"};
constexpr PostgresStatement kFetchCharges = {"FETCH 5000 FROM charge_rows"};
constexpr PostgresStatement kFetchBudgets = {"FETCH 5000 FROM budget_rows"};
// Rows that belong to no ledger, or to one without entries, and tables that contradict each other.
constexpr PostgresStatement kStrays = {
    "SELECT 'a row of entries belongs to no ledger' FROM entries WHERE ledger_id NOT IN"
    "  (SELECT ledger_id FROM ledgers WHERE sequence > 0)"
    " UNION ALL"
    " SELECT 'a row of charges belongs to no ledger' FROM charges WHERE ledger_id NOT IN"
    "  (SELECT ledger_id FROM ledgers WHERE sequence > 0)"
    " UNION ALL"
    " SELECT 'a row of budgets belongs to no ledger' FROM budgets WHERE ledger_id NOT IN"
    "  (SELECT ledger_id FROM ledgers WHERE sequence > 0)"
    " UNION ALL (SELECT 'a block holds no charge of its session' FROM"
    "  (SELECT ledger_id, session_number, block FROM charge_blocks"
    "   EXCEPT SELECT ledger_id, session_number, sequence >> 6 FROM charges) a LIMIT 1)"
    " UNION ALL (SELECT 'a charge is in no block' FROM"
    "  (SELECT ledger_id, session_number, sequence >> 6 FROM charges"
    "   EXCEPT SELECT ledger_id, session_number, block FROM charge_blocks) b LIMIT 1)"
    " LIMIT 1"};

// The rows of one query, page by page.
class Cursor : public RowCursor {
 public:
  Cursor(PostgresConnection& connection, const std::string& name, const PostgresStatement& fetch,
         const std::string& sql)
      : connection_(connection), name_(name), fetch_(fetch) {
    status_ = connection.Execute(absl::StrCat("DECLARE ", name, " CURSOR FOR ", sql));
  }
  ~Cursor() override { connection_.Execute("CLOSE " + name_).IgnoreError(); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  bool Next() override {
    if (!status_.ok()) return false;
    ++row_;
    if (!page_.has_value() || (row_ == page_->count() && row_ == kInspectedPage)) {
      absl::StatusOr<std::vector<PostgresRows>> page = connection_.Run({{&fetch_}});
      if (!page.ok()) {
        status_ = page.status();
        return false;
      }
      page_.emplace(std::move(page->front()));
      row_ = 0;
    }
    return row_ < page_->count();
  }
  int64_t Int(int column) const override { return page_->Int(row_, column); }
  std::string Bytes(int column) const override { return std::string(page_->Bytes(row_, column)); }
  const absl::Status& status() const override { return status_; }

 private:
  PostgresConnection& connection_;
  const std::string name_;
  const PostgresStatement& fetch_;
  std::optional<PostgresRows> page_;
  int row_ = -1;
  absl::Status status_;
};

class LedgerRows {
 public:
  LedgerRows(PostgresConnection& connection, int64_t ledger_id)
      : entries_(connection, "entry_rows", kFetchEntries,
                 absl::StrCat("SELECT sequence, hash, content FROM entries WHERE ledger_id = ",
                              ledger_id, " ORDER BY sequence")),
        charges_(connection, "charge_rows", kFetchCharges,
                 absl::StrCat("SELECT sequence, session_number, attempt, charge_id FROM charges"
                              " WHERE ledger_id = ",
                              ledger_id, " ORDER BY sequence")),
        budgets_(connection, "budget_rows", kFetchBudgets,
                 absl::StrCat("SELECT budget_id FROM budgets WHERE ledger_id = ", ledger_id,
                              " ORDER BY budget_id")) {}

  StoredRows stored() { return {entries_, charges_, budgets_}; }

 private:
  Cursor entries_;
  Cursor charges_;
  Cursor budgets_;
};

struct ListedLedger {
  int64_t id;
  std::string root_id;
  int64_t sequence;
  std::string hash;
};

// A session that sees the whole database as of one moment.
struct Snapshot {
  std::unique_ptr<PostgresConnection> connection;
  std::vector<ListedLedger> ledgers;
};

absl::StatusOr<Snapshot> TakeSnapshot(const PostgresStore::Options& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection,
                   PostgresStore::ConnectToRead(options));
  RETURN_IF_ERROR(
      connection->Execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"));
  ASSIGN_OR_RETURN(const auto rows, connection->Run({{&kLedgers}}));
  Snapshot snapshot;
  for (int row = 0; row < rows.front().count(); ++row) {
    snapshot.ledgers.push_back({rows.front().Int(row, 0), std::string(rows.front().Bytes(row, 1)),
                                rows.front().Int(row, 2), std::string(rows.front().Bytes(row, 3))});
  }
  snapshot.connection = std::move(connection);
  return snapshot;
}

absl::StatusOr<LedgerReport> Inspect(const Snapshot& snapshot, const ListedLedger& ledger,
                                     absl::FunctionRef<void(const core::Entry&)> visit,
                                     core::PriceCheck prices = core::PriceCheck::kStored) {
  LedgerRows rows(*snapshot.connection, ledger.id);
  absl::StatusOr<LedgerReport> report = InspectLedger(ledger.root_id, rows.stored(), visit, prices);
  if (!report.ok() || report->fault.has_value()) return report;
  if (report->head.sequence != ledger.sequence || ledger.hash.size() != report->head.hash.size() ||
      std::memcmp(ledger.hash.data(), report->head.hash.data(), ledger.hash.size()) != 0) {
    report->fault = {0, "the table of ledgers names another head than the last entry"};
  }
  return report;
}

}  // namespace

absl::StatusOr<std::vector<LedgerReport>> VerifyPostgres(const PostgresStore::Options& options,
                                                         core::PriceCheck prices,
                                                         VisitEntry visit) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, TakeSnapshot(options));
  std::vector<LedgerReport> reports;
  for (const ListedLedger& ledger : snapshot.ledgers) {
    ASSIGN_OR_RETURN(LedgerReport report,
                     Inspect(
                         snapshot, ledger,
                         [&](const core::Entry& entry) { visit(ledger.root_id, entry); }, prices));
    reports.push_back(std::move(report));
  }
  ASSIGN_OR_RETURN(const auto strays, snapshot.connection->Run({{&kStrays}}));
  if (strays.front().count() > 0) {
    reports.push_back({.fault = core::LedgerFault{0, std::string(strays.front().Bytes(0, 0))}});
  }
  return reports;
}

absl::StatusOr<std::vector<core::Incarnation>> PostgresIncarnations(
    const PostgresStore::Options& options) {
  const auto connection = PostgresStore::ConnectToRead(options);
  return connection.ok() ? ReadIncarnations(**connection) : connection.status();
}

absl::StatusOr<LedgerReport> ExportPostgres(const PostgresStore::Options& options,
                                            const std::string& root_id, std::ostream& out) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, TakeSnapshot(options));
  for (const ListedLedger& ledger : snapshot.ledgers) {
    if (ledger.root_id != root_id) continue;
    ExportWriter writer(out, root_id);
    absl::StatusOr<LedgerReport> report =
        Inspect(snapshot, ledger, [&](const core::Entry& entry) { writer.Add(entry); });
    if (!report.ok() || report->fault.has_value()) return report;
    RETURN_IF_ERROR(writer.Finish(report->head, report->merkle_root));
    return report;
  }
  return absl::NotFoundError(
      absl::StrCat("--postgres: holds no ledger of the root budget budgets/", root_id));
}

}  // namespace epsledger::storage
