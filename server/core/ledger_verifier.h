#ifndef EPSLEDGER_SERVER_CORE_LEDGER_VERIFIER_H_
#define EPSLEDGER_SERVER_CORE_LEDGER_VERIFIER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/numeric/int128.h"
#include "server/core/access_ledger.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"
#include "server/core/merkle.h"
#include "server/core/price_prover.h"
#include "server/core/tenant.h"

namespace epsledger::core {

// The first entry of a ledger that is not what it must be, and why.
struct LedgerFault {
  int64_t sequence = 0;
  std::string problem;
};

// Whether prices in units are taken as they stand, or proved again: 50 ms each.
enum class PriceCheck { kStored, kProved };

// Replays a ledger from empty, as if nothing of it were known: that every entry decodes, follows
// the one before without a gap, has the hash that follows, keeps every cap, and takes no charge key
// twice.
//
// What no replay can see: a history that somebody wrote anew from some entry on, hashes included,
// within all caps. A head or Merkle root that was seen before tells.
//
// Memory: the ledger's and 16 bytes for each charge.
class LedgerVerifier {
 public:
  LedgerVerifier() = default;
  // For what is stored under this name: a tenant's ledger, or that of access (tenant.h).
  explicit LedgerVerifier(std::string stored_id, PriceCheck prices = PriceCheck::kStored)
      : stored_id_(std::move(stored_id)) {
    if (prices == PriceCheck::kProved) prover_.emplace();
  }

  // Checks the next stored row. Nothing if it is right. REQUIRES: no fault was found before.
  std::optional<LedgerFault> Check(std::string content, const Hash& hash);
  std::optional<LedgerFault> Check(const Entry& entry);

  // The entry that must come next.
  int64_t next_sequence() const { return head().sequence + 1; }
  const LedgerHead& head() const { return IsAccess() ? access_.head() : ledger_.head(); }
  Hash merkle_root() const { return tree_.Root(); }
  // References and prices that were proved again.
  int64_t proved_prices() const { return prover_.has_value() ? prover_->proved() : 0; }
  // Empty for the ledger of access.
  const Ledger& ledger() const { return ledger_; }
  // Whether the entries so far are of the ledger that the stored name says.
  bool NameFits() const;

 private:
  bool IsAccess() const { return stored_id_ == kAccessRootId; }

  const std::string stored_id_;
  Ledger ledger_;
  AccessLedger access_;
  std::optional<PriceProver> prover_;
  MerkleFrontier tree_;
  // The first 16 bytes of SHA-256 of every key: two that collide would be a false alarm.
  absl::flat_hash_set<absl::uint128> keys_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_LEDGER_VERIFIER_H_
