#include "server/storage/ledger_inspection.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/core/codec.h"
#include "server/core/ledger_verifier.h"
#include "server/core/tenant.h"

namespace epsledger::storage {
namespace {

using core::LedgerFault;

// The rows of charges against the entries that come by.
class ChargeCheck {
 public:
  explicit ChargeCheck(StoredRows& rows) : rows_(rows), row_(rows.NextCharge()) {}

  // Whether the table says of `entry` what the entry says. REQUIRES: entries come in order.
  std::optional<LedgerFault> Check(const core::Entry& entry) {
    const std::optional<core::ChargeKey> key = core::KeyOf(entry.body);
    const bool listed = row_.has_value() && row_->sequence <= entry.sequence;
    if (!listed && !key.has_value()) return std::nullopt;
    if (listed && key.has_value() && row_->sequence == entry.sequence &&
        row_->key.session_number == key->session_number && row_->key.attempt == key->attempt &&
        row_->key.charge_id == key->charge_id) {
      row_ = rows_.NextCharge();
      return std::nullopt;
    }
    return LedgerFault{
        entry.sequence,
        absl::StrCat("the table of charge keys says something else than entry ", entry.sequence)};
  }

  // After the last entry: nothing may be left.
  std::optional<LedgerFault> CheckEnd(int64_t next_sequence) const {
    if (!row_.has_value()) return std::nullopt;
    return LedgerFault{next_sequence, absl::StrCat("the table of charge keys names entry ",
                                                   row_->sequence, ", which is missing")};
  }

 private:
  StoredRows& rows_;
  std::optional<StoredRows::ChargeRow> row_;
};

std::optional<core::Hash> ReadHash(const std::string& bytes) {
  core::Hash hash;
  if (bytes.size() != hash.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

std::optional<LedgerFault> CheckEntry(const StoredRows::EntryRow& row,
                                      core::LedgerVerifier& verifier, ChargeCheck& charges,
                                      absl::FunctionRef<void(const core::Entry&)> visit) {
  const int64_t want = verifier.next_sequence();
  const std::optional<core::Hash> hash = ReadHash(row.hash);
  if (!hash.has_value()) {
    return LedgerFault{want, absl::StrCat("the hash of entry ", want, " has not 32 bytes")};
  }
  std::optional<LedgerFault> fault = verifier.Check(row.content, *hash);
  if (fault.has_value()) return fault;
  const core::Entry entry = *core::DecodeEntry(row.content, *hash);
  if (row.sequence != want || !verifier.NameFits()) {
    return LedgerFault{want,
                       absl::StrCat("entry ", want, " is stored under another number or root")};
  }
  fault = charges.Check(entry);
  if (!fault.has_value()) visit(entry);
  return fault;
}

bool SameBudgets(const std::string& root_id, const core::Ledger& ledger, StoredRows& rows) {
  for (const auto& [id, budget] : ledger.budgets()) {
    if (rows.NextBudget() != core::StoredId(core::TenantNameOf(root_id), id)) return false;
  }
  return !rows.NextBudget().has_value();
}

}  // namespace

absl::StatusOr<LedgerReport> InspectLedger(const std::string& root_id, StoredRows& rows,
                                           absl::FunctionRef<void(const core::Entry&)> visit) {
  LedgerReport report{.root_id = root_id};
  core::LedgerVerifier verifier(root_id);
  ChargeCheck charges(rows);
  while (!report.fault.has_value()) {
    const std::optional<StoredRows::EntryRow> row = rows.NextEntry();
    if (!row.has_value()) break;
    report.fault = CheckEntry(*row, verifier, charges, visit);
  }
  if (!rows.status().ok()) return rows.status();
  if (!report.fault.has_value()) report.fault = charges.CheckEnd(verifier.next_sequence());
  if (!report.fault.has_value() && verifier.head().sequence == 0) {
    report.fault = {1, "entry 1 is missing"};
  }
  report.head = verifier.head();
  report.merkle_root = verifier.merkle_root();
  if (report.fault.has_value()) return report;
  const bool same = SameBudgets(root_id, verifier.ledger(), rows);
  if (!rows.status().ok()) return rows.status();
  if (!same) {
    report.fault = {0, "the table of budgets says something else than the entries"};
  }
  return report;
}

}  // namespace epsledger::storage
