#include "server/storage/ledger_inspection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/codec.h"
#include "server/core/ledger_verifier.h"
#include "server/core/tenant.h"

namespace epsledger::storage {
namespace {

using core::LedgerFault;

// Compares the rows of charges with the entries.
class ChargeCheck {
 public:
  explicit ChargeCheck(RowCursor& rows) : rows_(rows), left_(rows.Next()) {}

  // Returns a fault if the table contradicts `entry`. REQUIRES: entries come in order.
  std::optional<LedgerFault> Check(const core::Entry& entry) {
    const std::optional<core::ChargeKey> key = core::KeyOf(entry.body);
    const bool listed = left_ && sequence() <= entry.sequence;
    if (!listed && !key.has_value()) return std::nullopt;
    if (listed && key.has_value() && sequence() == entry.sequence &&
        rows_.Int(1) == key->session_number && rows_.Int(2) == key->attempt &&
        rows_.Bytes(3) == key->charge_id) {
      left_ = rows_.Next();
      return std::nullopt;
    }
    return LedgerFault{
        entry.sequence,
        absl::StrCat("the table of charge keys says something else than entry ", entry.sequence)};
  }

  // Called after the last entry: returns a fault if rows are left.
  std::optional<LedgerFault> CheckEnd(int64_t next_sequence) const {
    if (!left_) return std::nullopt;
    return LedgerFault{next_sequence, absl::StrCat("the table of charge keys names entry ",
                                                   sequence(), ", which is missing")};
  }

 private:
  int64_t sequence() const { return rows_.Int(0); }

  RowCursor& rows_;
  bool left_;
};

std::optional<core::Hash> ReadHash(const std::string& bytes) {
  core::Hash hash;
  if (bytes.size() != hash.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

// Checks the present row of `row`, a cursor over entries.
std::optional<LedgerFault> CheckEntry(const RowCursor& row, core::LedgerVerifier& verifier,
                                      ChargeCheck& charges,
                                      absl::FunctionRef<void(const core::Entry&)> visit) {
  const int64_t want = verifier.next_sequence();
  const std::optional<core::Hash> hash = ReadHash(row.Bytes(1));
  if (!hash.has_value()) {
    return LedgerFault{want, absl::StrCat("the hash of entry ", want, " has not 32 bytes")};
  }
  std::string content = row.Bytes(2);
  std::optional<LedgerFault> fault = verifier.Check(content, *hash);
  if (fault.has_value()) return fault;
  const core::Entry entry = *core::DecodeEntry(std::move(content), *hash);
  if (row.Int(0) != want || !verifier.NameFits()) {
    return LedgerFault{want,
                       absl::StrCat("entry ", want, " is stored under another number or root")};
  }
  fault = charges.Check(entry);
  if (!fault.has_value()) visit(entry);
  return fault;
}

bool SameBudgets(const std::string& root_id, const core::Ledger& ledger, RowCursor& rows) {
  for (const auto& [id, budget] : ledger.budgets()) {
    if (!rows.Next() || rows.Bytes(0) != core::StoredId(core::TenantNameOf(root_id), id)) {
      return false;
    }
  }
  return !rows.Next();
}

}  // namespace

absl::StatusOr<LedgerReport> InspectLedger(const std::string& root_id, const StoredRows& rows,
                                           absl::FunctionRef<void(const core::Entry&)> visit,
                                           core::PriceCheck prices) {
  LedgerReport report{.root_id = root_id};
  core::LedgerVerifier verifier(root_id, prices);
  ChargeCheck charges(rows.charges);
  while (!report.fault.has_value() && rows.entries.Next()) {
    report.fault = CheckEntry(rows.entries, verifier, charges, visit);
  }
  for (const RowCursor* read : {&rows.entries, &rows.charges}) {
    if (!read->status().ok()) return read->status();
  }
  if (!report.fault.has_value()) report.fault = charges.CheckEnd(verifier.next_sequence());
  if (!report.fault.has_value() && verifier.head().sequence == 0) {
    report.fault = {1, "entry 1 is missing"};
  }
  report.head = verifier.head();
  report.merkle_root = verifier.merkle_root();
  report.proved_prices = verifier.proved_prices();
  if (report.fault.has_value()) return report;
  const bool same = SameBudgets(root_id, verifier.ledger(), rows.budgets);
  if (!rows.budgets.status().ok()) return rows.budgets.status();
  if (!same) {
    report.fault = {0, "the table of budgets says something else than the entries"};
  }
  return report;
}

}  // namespace epsledger::storage
