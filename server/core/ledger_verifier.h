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

// The first wrong entry of a ledger, and the problem.
struct LedgerFault {
  int64_t sequence = 0;
  std::string problem;
};

// Whether stored prices in units are trusted, or proved again (50 ms each).
enum class PriceCheck { kStored, kProved };

// Replays a ledger from an empty state and trusts nothing. It checks that every entry decodes,
// follows the previous one without a gap, has the hash that follows, keeps every cap, and takes no
// charge key twice.
//
// No replay can detect a history that somebody rewrote from some entry on, hashes included, within
// all caps. An earlier head or Merkle root reveals it.
//
// Memory: the ledger's and 16 bytes for each charge.
class LedgerVerifier {
 public:
  LedgerVerifier() = default;
  // For the ledger that is stored under this name: a tenant's ledger, or the ledger of access
  // (tenant.h).
  explicit LedgerVerifier(std::string stored_id, PriceCheck prices = PriceCheck::kStored)
      : stored_id_(std::move(stored_id)) {
    if (prices == PriceCheck::kProved) prover_.emplace();
  }

  // Checks the next stored row. Returns nothing if it is right. REQUIRES: no fault was found
  // before.
  std::optional<LedgerFault> Check(std::string content, const Hash& hash);
  std::optional<LedgerFault> Check(const Entry& entry);

  // The sequence number of the next entry.
  int64_t next_sequence() const { return head().sequence + 1; }
  const LedgerHead& head() const { return IsAccess() ? access_.head() : ledger_.head(); }
  Hash merkle_root() const { return tree_.Root(); }
  // The number of references and prices that were proved again.
  int64_t proved_prices() const { return prover_.has_value() ? prover_->proved() : 0; }
  // Empty for the ledger of access.
  const Ledger& ledger() const { return ledger_; }
  // True if the entries so far belong to the ledger of the stored name.
  bool NameFits() const;

 private:
  bool IsAccess() const { return stored_id_ == kAccessRootId; }

  const std::string stored_id_;
  Ledger ledger_;
  AccessLedger access_;
  std::optional<PriceProver> prover_;
  MerkleFrontier tree_;
  // The first 16 bytes of SHA-256 of every key. A collision would be a false alarm.
  absl::flat_hash_set<absl::uint128> keys_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_LEDGER_VERIFIER_H_
