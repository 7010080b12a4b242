#include "server/storage/postgres/key_rows.h"

#include <limits>
#include <string>
#include <vector>

#include "accounting/event/status_macros.h"
#include "server/storage/postgres/statements.h"

namespace epsledger::storage {
namespace {

constexpr int kKeysPerPage = 1'000;

}  // namespace

absl::StatusOr<std::set<int64_t>> ReadDamagedLedgers(PostgresConnection& connection,
                                                     KeyTable keys) {
  int64_t ledger_id = std::numeric_limits<int64_t>::min();
  core::ChargeKey key;
  for (int count = kKeysPerPage; count == kKeysPerPage;) {
    ASSIGN_OR_RETURN(const auto page, connection.Run({{&kReadKeys, PostgresValues()
                                                                       .Int(ledger_id)
                                                                       .Int(key.session_number)
                                                                       .Int(key.attempt)
                                                                       .Bytes(key.charge_id)
                                                                       .Int(kKeysPerPage)}}));
    const PostgresRows& rows = page.front();
    count = rows.count();
    for (int row = 0; row < count; ++row) {
      ledger_id = rows.Int(row, 0);
      key = {rows.Int(row, 1), rows.Int(row, 2), std::string(rows.Bytes(row, 3))};
      keys.AddRow(ledger_id, key, rows.Int(row, 4));
    }
  }
  const std::vector<int64_t> damaged = keys.IsInDisorder() ? keys.Ledgers() : keys.DamagedLedgers();
  return std::set<int64_t>(damaged.begin(), damaged.end());
}

}  // namespace epsledger::storage
