#ifndef EPSLEDGER_SERVER_STORAGE_REQUEST_QUEUE_H_
#define EPSLEDGER_SERVER_STORAGE_REQUEST_QUEUE_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/core/command.h"
#include "server/core/durable_ledger.h"
#include "server/core/tenant.h"
#include "server/storage/fair_queue.h"

namespace epsledger::storage {

// The commands and reads that wait for the deciding thread, and the reason while none are taken.
// Thread-safe: any thread puts requests in, and only the deciding thread takes them out.
class RequestQueue {
 public:
  using Clock = std::chrono::steady_clock;
  struct Write {
    core::Tenant tenant;
    core::Command command;
    core::DurableLedger::Reply reply;
    // Set while the command waits for a ledger that another server holds: the start of the wait.
    std::optional<Clock::time_point> set_aside = std::nullopt;
  };
  struct Read {
    core::Tenant tenant;
    core::DurableLedger::ReadFunction read;
  };
  using Item = std::variant<Write, Read>;
  struct Batch {
    std::vector<Write> writes;
    std::vector<Read> reads;
    size_t size() const { return writes.size() + reads.size(); }
    void Add(Item item);
  };

  struct Options {
    // Requests of one tenant; of all tenants together twice as many.
    size_t max_waiting = 0;
    // Take also returns after a request was refused for a failure. Then a failure that has passed
    // is noticed, although absl's timeouts follow the wall clock, which may have been set back.
    bool wake_when_refusing = false;
  };

  explicit RequestQueue(Options options) : options_(options) {}

  // Queues a request, or calls it at once with the reason why not: a failure, Stop, or
  // core::Overload unless `is_from_ledger`: what a reply or a read asks for is never too much. That
  // is asked only if there are too many.
  void Put(Item item, absl::FunctionRef<bool()> is_from_ledger) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until a request is there or `until` has passed, and returns the next requests, at most
  // `max` of them. After Stop it waits for nothing, and returns nullopt once nothing is left here
  // and `others_wait` is false.
  std::optional<Batch> Take(size_t max, Clock::time_point until, bool others_wait)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the next request, if there is one.
  std::optional<Item> TakeNext() ABSL_LOCKS_EXCLUDED(mutex_);
  // Puts a request back before the others of its tenant.
  void PutBack(Item item) ABSL_LOCKS_EXCLUDED(mutex_);
  // Puts back the writes or reads from `first` on, in their order.
  template <class WriteOrRead>
  void PutBack(size_t first, std::vector<WriteOrRead>* items) ABSL_LOCKS_EXCLUDED(mutex_) {
    while (items->size() > first) {
      PutBack(Item(std::move(items->back())));
      items->pop_back();
    }
  }
  // Refuses new requests from now on.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Refuses commands with `why`, except those that show a head: it may prove a loss.
  void ServeReadsOnly(absl::Status why) ABSL_LOCKS_EXCLUDED(mutex_);
  // Refuses commands and reads because the database cannot be used, unless it does so already.
  void StopServing(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes everything again.
  void ServeAll(const char* why) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns why no commands are taken, or OK.
  absl::Status WhyNoCommands() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns why neither commands nor reads are taken, or OK.
  absl::Status WhyNothing() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static const std::string& TenantOf(const Item& item) {
    return std::visit([](const auto& one) -> const std::string& { return one.tenant.name; }, item);
  }

  const Options options_;
  mutable absl::Mutex mutex_;
  FairQueue<Item> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_refused_ ABSL_GUARDED_BY(mutex_) = false;  // for a failure, since the last Take
  absl::Status no_commands_ ABSL_GUARDED_BY(mutex_);
  absl::Status nothing_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_REQUEST_QUEUE_H_
