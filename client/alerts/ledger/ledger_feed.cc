#include "client/alerts/ledger/ledger_feed.h"

#include <utility>

#include "client/cpp/rpc_status.h"

namespace epsledger::alerts {

LedgerFeed::LedgerFeed(std::shared_ptr<Connection> connection, OnChange on_change, OnEnd on_end)
    : connection_(std::move(connection)),
      on_change_(std::move(on_change)),
      on_end_(std::move(on_end)) {}

LedgerFeed::~LedgerFeed() {
  for (auto& [tree, watched] : watched_) watched->canceller.Cancel();
  for (auto& [tree, watched] : watched_) watched->thread.join();
}

void LedgerFeed::Watch(const std::string& tree, int64_t after_sequence) {
  std::unique_ptr<Watched>& watched = watched_[tree];
  if (watched != nullptr) watched->thread.join();
  watched = std::make_unique<Watched>();
  Canceller& canceller = watched->canceller;
  watched->thread = std::thread(
      [this, tree, after_sequence, &canceller] { Loop(tree, after_sequence, canceller); });
}

void LedgerFeed::Loop(const std::string& tree, int64_t after_sequence, Canceller& canceller) {
  int64_t seen = after_sequence;
  bool ended = false;  // by on_change
  while (true) {
    const absl::Status status =
        WatchChanges(*connection_, tree, seen, canceller, [&](const v1::LedgerChange& change) {
          seen = change.sequence();
          ended = !on_change_(tree, change);
          return !ended;
        });
    if (ended || canceller.cancelled()) return;
    // A server that is away comes back. WatchChanges has waited between its tries.
    if (IsWorthRetrying(status.code())) continue;
    on_end_(tree, status);
    return;
  }
}

}  // namespace epsledger::alerts
