#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ANSWER_CACHE_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ANSWER_CACHE_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "server/core/sha256.h"

namespace epsledger::transport {

// A cache of answers that never change, by the SHA-256 of their whole question, such as those that
// a chart asks again with every charge. A question may be long (the history of a budget), so it is
// not kept. When the cache holds `capacity` answers, the next one empties it. Thread-safe.
template <class Answer>
class AnswerCache {
 public:
  explicit AnswerCache(size_t capacity) : capacity_(capacity) {}

  // Returns the cached answer, or the result of `compute`. Two threads may compute the same answer.
  Answer Get(const std::string& question, absl::FunctionRef<Answer()> compute)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const core::Hash key = core::Sha256({question});
    {
      absl::MutexLock lock(&mutex_);
      const auto kept = answers_.find(key);
      if (kept != answers_.end()) return kept->second;
    }
    Answer answer = compute();
    absl::MutexLock lock(&mutex_);
    if (answers_.size() >= capacity_) answers_.clear();
    answers_.emplace(key, answer);
    return answer;
  }

 private:
  const size_t capacity_;
  absl::Mutex mutex_;
  std::map<core::Hash, Answer> answers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_ANSWER_CACHE_H_
