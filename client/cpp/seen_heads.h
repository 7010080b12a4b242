#ifndef EPSLEDGER_CLIENT_CPP_SEEN_HEADS_H_
#define EPSLEDGER_CLIENT_CPP_SEEN_HEADS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "epsledger/v1/audit.pb.h"

namespace epsledger {

// The newest ledger entry that this client has seen in each session. A server that is behind it has
// lost charges. When the client sends it the entry, such a server answers DATA_LOSS instead of
// charging twice into the same room. Thread-safe.
class SeenHeads {
 public:
  // Remembers the head of an answer, unless a newer one was seen or `hash` is not a hash.
  void Remember(const std::string& session_name, int64_t sequence, const std::string& hash,
                const std::string& tag) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns how the entry of an answer contradicts what was seen; "" if it does not, or if `hash`
  // is not a hash. A fork: it has the sequence number of the newest entry, and another hash. The
  // ledger went back: it is not after `sent`, the number of the head that a new key, or an attempt,
  // was sent with. An older key may have an older entry: its `sent` is 0.
  std::string Contradiction(const std::string& session_name, int64_t sequence,
                            const std::string& hash, int64_t sent) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets request.last_seen_head, if anything was seen.
  template <class Request>
  void AddTo(Request& request, const std::string& session_name) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto seen = heads_.find(session_name);
    if (seen != heads_.end()) *request.mutable_last_seen_head() = seen->second;
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, v1::LedgerHead> heads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_SEEN_HEADS_H_
