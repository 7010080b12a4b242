#ifndef EPSLEDGER_CLIENT_CPP_WATCH_CHANGES_H_
#define EPSLEDGER_CLIENT_CPP_WATCH_CHANGES_H_

#include <cstdint>
#include <functional>
#include <string>

#include <grpcpp/grpcpp.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/cpp/connection.h"
#include "epsledger/v1/change.pb.h"

namespace epsledger {

// Ends the watch that uses it. Any thread may call it.
class Canceller {
 public:
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);
  bool cancelled() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets the call to cancel; nullptr: none. After Cancel, a new call is cancelled immediately.
  void Attach(grpc::ClientContext* context) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// Watches a budget ("budgets/{budget}") or a session and calls `on_change` with every change after
// `after_sequence`, bookmarks included, once each and in order. Ends when on_change returns false,
// when `canceller` is cancelled, or when the server ends the watch for good. A stream that breaks
// is opened again after the last change that was seen. Returns OK if on_change ended it, CANCELLED
// if the canceller did, otherwise the status of the server, or the last error if nothing came for
// RetryOptions.overall_timeout.
absl::Status WatchChanges(Connection& connection, const std::string& name, int64_t after_sequence,
                          Canceller& canceller,
                          const std::function<bool(const v1::LedgerChange&)>& on_change);

// Returns the name of the resource that changed; empty for a bookmark.
const std::string& NameOf(const v1::LedgerChange& change);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_WATCH_CHANGES_H_
