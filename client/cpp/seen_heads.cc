#include "client/cpp/seen_heads.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace epsledger {
namespace {

constexpr size_t kHashBytes = 32;

constexpr char kWhatToDo[] = "; have the operator compare the server with its backups";

}  // namespace

std::string SeenHeads::Contradiction(const std::string& session_name, int64_t sequence,
                                     const std::string& hash, int64_t sent) const {
  if (sequence < 1 || hash.size() != kHashBytes) return "";
  absl::MutexLock lock(&mutex_);
  const auto seen = heads_.find(session_name);
  if (seen != heads_.end() && seen->second.sequence() == sequence && seen->second.hash() != hash) {
    return absl::StrCat("a fork of the ledger: entry ", sequence, " has the hash ",
                        absl::BytesToHexString(hash), " here, and had ",
                        absl::BytesToHexString(seen->second.hash()), " before", kWhatToDo);
  }
  if (sequence <= sent) {
    return absl::StrCat("the ledger went back: the new entry has number ", sequence,
                        ", after entry ", sent, " was seen", kWhatToDo);
  }
  return "";
}

void SeenHeads::Remember(const std::string& session_name, int64_t sequence, const std::string& hash,
                         const std::string& tag) {
  if (sequence < 1 || hash.size() != kHashBytes) return;
  absl::MutexLock lock(&mutex_);
  v1::LedgerHead& head = heads_[session_name];
  if (head.sequence() >= sequence) return;
  // Any budget of a ledger names it.
  head.set_root_budget(session_name.substr(0, session_name.find("/sessions/")));
  head.set_sequence(sequence);
  head.set_hash(hash);
  head.set_tag(tag);
}

}  // namespace epsledger
