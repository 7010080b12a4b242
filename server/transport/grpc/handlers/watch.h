#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_WATCH_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_WATCH_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/stream_call.h"
#include "server/transport/grpc/calls/watch_turns.h"
#include "server/transport/grpc/converters/change_convert.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// WatchBudget and WatchSession: sends every change after a sequence number, in order and once each,
// then new changes. It pulls: it reads a page of the ledger, sends it message by message, and reads
// the next page only when the last message is taken. So a slow client costs its own page and
// nothing else. When it has read everything it waits for the next commit. Thread-safe.
class Watch final : public StreamCall, public core::CommitListener {
 public:
  // `method` is its full name; `watched` is an error if the request was wrong. The stream ends with
  //   UNAUTHENTICATED, PERMISSION_DENIED  as Admission
  //   INVALID_ARGUMENT  after_sequence is negative
  //   NOT_FOUND         there is no such budget or session
  //   DATA_LOSS         the ledger is behind after_sequence: it lost entries that the client saw
  static std::shared_ptr<wire::StreamedCall> Start(const HandlerContext& context,
                                                   wire::StreamRequest request,
                                                   std::string_view method,
                                                   const absl::StatusOr<Watched>& watched,
                                                   int64_t after_sequence);

  void Drain() override;
  void OnCommit() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Watch(const HandlerContext& context, wire::StreamRequest& request, std::string_view method,
        Watched watched, int64_t after_sequence);

  void Continue() override ABSL_LOCKS_EXCLUDED(mutex_);
  // Asks the ledger for a page when it is the watch's turn.
  void AskForPage() ABSL_LOCKS_EXCLUDED(mutex_);
  // On the ledger's thread.
  absl::Status ReadPage(core::LedgerReader& reader) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<const core::Ledger*> FindLedger(core::LedgerReader& reader) const;
  bool WantsBookmark(SteadyTime now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Change {
    int64_t sequence = 0;
    std::string message;
  };

  core::DurableLedger& ledger_;
  const std::shared_ptr<WatchTurns> turns_;
  const Watched watched_;
  std::deque<Change> page_ ABSL_GUARDED_BY(mutex_);  // read and not yet sent
  int64_t read_sequence_ ABSL_GUARDED_BY(mutex_);    // everything up to it was read
  int64_t told_sequence_ ABSL_GUARDED_BY(mutex_);
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool behind_ ABSL_GUARDED_BY(mutex_) = true;  // there may be more to read
  SteadyTime bookmark_time_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_WATCH_H_
