#include "client/cpp/seen_heads.h"

namespace epsledger {
namespace {

constexpr size_t kHashBytes = 32;

}  // namespace

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
