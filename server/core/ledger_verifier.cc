#include "server/core/ledger_verifier.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/codec.h"
#include "server/core/merkle.h"

namespace epsledger::core {
namespace {

absl::uint128 Fingerprint(const ChargeKey& key) {
  const Hash hash =
      MerkleLeaf(absl::StrCat(key.session_number, "/", key.attempt, "/", key.charge_id));
  absl::uint128 fingerprint = 0;
  for (int i = 0; i < 16; ++i) fingerprint = fingerprint << 8 | hash[i];
  return fingerprint;
}

}  // namespace

std::optional<LedgerFault> LedgerVerifier::Check(std::string content, const Hash& hash) {
  // Check the hash first: damaged content has a wrong hash, even if its bytes look valid.
  if (hash != ChainHash(head().hash, content)) {
    const absl::StatusOr<Entry> entry = DecodeEntry(std::move(content), hash);
    if (entry.ok() && entry->sequence != next_sequence()) return Check(*entry);
    return LedgerFault{next_sequence(),
                       absl::StrCat("the hash of entry ", next_sequence(),
                                    " does not follow from its content and the entry before it")};
  }
  const absl::StatusOr<Entry> entry = DecodeEntry(std::move(content), hash);
  if (!entry.ok()) return LedgerFault{next_sequence(), std::string(entry.status().message())};
  return Check(*entry);
}

std::optional<LedgerFault> LedgerVerifier::Check(const Entry& entry) {
  const int64_t want = next_sequence();
  if (entry.sequence > want) {
    return LedgerFault{want, absl::StrCat("entry ", want, " is missing: entry ", entry.sequence,
                                          " stands in its place")};
  }
  if (entry.sequence < want) {
    return LedgerFault{
        want, absl::StrCat("entry ", entry.sequence, " stands again in the place of entry ", want)};
  }
  if (prover_.has_value() && !IsAccess()) {
    if (std::optional<std::string> problem = prover_->Check(ledger_, entry)) {
      return LedgerFault{want, *std::move(problem)};
    }
  }
  const absl::Status status = IsAccess() ? access_.Apply(entry) : ledger_.Apply(entry);
  if (!status.ok()) return LedgerFault{want, std::string(status.message())};
  tree_.Append(MerkleLeaf(entry.content));
  const std::optional<ChargeKey> key = KeyOf(entry.body);
  if (key.has_value() && !keys_.insert(Fingerprint(*key)).second) {
    return LedgerFault{want, absl::StrCat("the charge id \"", key->charge_id, "\" of session ",
                                          key->session_number, ", attempt ", key->attempt,
                                          " is decided a second time")};
  }
  return std::nullopt;
}

bool LedgerVerifier::NameFits() const {
  return IsAccess() || StoredId(TenantNameOf(stored_id_), ledger_.root_id()) == stored_id_;
}

}  // namespace epsledger::core
