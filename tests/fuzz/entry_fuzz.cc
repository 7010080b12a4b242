// Stored entries: the first byte chooses a ledger that lived, the others are an entry in place of
// the one that it has there, with a hash that follows. Whatever decodes is canonical; the ledger
// takes it or leaves it and is then unchanged, lives on with the entries that came after, and
// exceeds no cap.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "server/core/access_ledger.h"
#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "tests/fuzz/stored_histories.h"

namespace {

using namespace epsledger::core;  // NOLINT: the ledger's own words

// Within the cap, or the tolerance that the filter's rule has beyond it.
bool WithinCap(const Balance& balance) {
  const std::vector<Cell>& cells = balance.filter().cells;
  const auto fits = [&](const Cell& cell) {
    const auto i = static_cast<size_t>(&cell - cells.data());
    return balance.spent()[i] <= RoomOf(balance.filter(), i);
  };
  return balance.filter().rule == epsledger::accounting::FilterRule::kAnyCell
             ? std::any_of(cells.begin(), cells.end(), fits)
             : std::all_of(cells.begin(), cells.end(), fits);
}

void CheckCaps(const Ledger& ledger) {
  for (const auto& [id, budget] : ledger.budgets()) {
    if (!WithinCap(budget.balance)) std::abort();
  }
  for (int64_t number = 1; number <= ledger.session_count(); ++number) {
    const SessionState* session = ledger.FindSession(number);
    if (session->own_balance && !WithinCap(*session->own_balance)) std::abort();
  }
}

// Applies the entry as the next one, whatever place it was made for. False if it is refused.
template <class AnyLedger>
bool ApplyNext(Entry entry, AnyLedger* ledger) {
  const LedgerHead before = ledger->head();
  entry.hash = ChainHash(before.hash, entry.content);
  const bool applied = ledger->Apply(entry).ok();
  if (!applied && !(ledger->head() == before)) std::abort();
  return applied;
}

void Relive(const std::vector<Entry>& history, const Entry& entry) {
  const auto place = static_cast<size_t>(
      std::clamp<int64_t>(entry.sequence, 1, static_cast<int64_t>(history.size()) + 1) - 1);
  Ledger ledger;
  for (size_t i = 0; i < place; ++i) {
    if (!ledger.Apply(history[i]).ok()) std::abort();
  }
  if (ApplyNext(entry, &ledger) && ledger.root_id().empty()) std::abort();
  for (size_t i = place; i < history.size(); ++i) {
    const Entry& was = history[i];
    if (!ledger.root_id().empty()) ApplyNext(ledger.Seal(was.body, was.time_micros), &ledger);
  }
  CheckCaps(ledger);
}

void ReliveAccess(const Entry& entry) {
  AccessLedger ledger;
  TokenSpec spec;
  spec.id = "first";
  spec.secret_hash = std::string(32, 'a');
  if (!ledger
           .Execute({CreateToken{.spec = spec}}, 1, std::nullopt,
                    [](const Entry&) { return absl::OkStatus(); })
           .ok()) {
    std::abort();
  }
  ApplyNext(entry, &ledger);
  if (ledger.tokens().count(spec.secret_hash) != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string content(reinterpret_cast<const char*>(data + 1), size - 1);
  const absl::StatusOr<Entry> entry = DecodeEntry(content, Hash{});
  if (!entry.ok()) return 0;
  if (EncodeContent(entry->sequence, entry->time_micros, entry->body, entry->actor) != content) {
    std::abort();
  }
  Relive(epsledger::fuzz::StoredHistory(data[0] % epsledger::fuzz::kStoredHistories), *entry);
  ReliveAccess(*entry);
  return 0;
}
