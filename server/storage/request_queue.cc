#include "server/storage/request_queue.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/core/unavailable.h"
#include "spdlog/spdlog.h"

namespace epsledger::storage {

void RequestQueue::Batch::Add(Item item) {
  if (Write* write = std::get_if<Write>(&item)) {
    writes.push_back(std::move(*write));
  } else {
    reads.push_back(std::move(std::get<Read>(item)));
  }
}

void RequestQueue::Put(Item item, absl::FunctionRef<bool()> is_from_ledger) {
  absl::Status refused;
  bool full = false;
  {
    absl::MutexLock lock(&mutex_);
    // A head that may prove a loss is checked even while nothing can be written.
    const auto* const write = std::get_if<Write>(&item);
    const bool needs_writing = write != nullptr && !write->command.last_seen.has_value();
    if (const absl::Status& failure = needs_writing ? no_commands_ : nothing_; !failure.ok()) {
      refused = failure;
      has_refused_ = true;
    } else if (stopping_) {
      refused = absl::UnavailableError("the server is shutting down; try another or later");
    } else if ((queue_.SizeOf(TenantOf(item)) >= options_.max_waiting ||
                queue_.size() / 2 >= options_.max_waiting) &&
               !is_from_ledger()) {
      full = true;  // the message is built without the lock
    } else {
      const std::string tenant = TenantOf(item);
      queue_.PushBack(tenant, std::move(item));
      return;
    }
  }
  if (full) {
    refused = core::Overload(absl::StrCat(
        "as many requests as may, ", options_.max_waiting,
        " of one tenant, wait for the ledger already; nothing was charged, try again"));
  }
  if (Write* write = std::get_if<Write>(&item)) {
    std::move(write->reply)(refused);
  } else {
    std::move(std::get<Read>(item).read)(refused);
  }
}

std::optional<RequestQueue::Batch> RequestQueue::Take(size_t max, Clock::time_point until,
                                                      bool others_wait) {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty() || (options_.wake_when_refusing && has_refused_);
  };
  const absl::Duration idle = until == Clock::time_point::max()
                                  ? absl::InfiniteDuration()
                                  : absl::FromChrono(until - Clock::now());
  Batch batch;
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(&ready), idle);
  if (queue_.empty() && !others_wait && stopping_) return std::nullopt;  // everything is done
  has_refused_ = false;
  while (!queue_.empty() && batch.size() < max) batch.Add(queue_.Pop());
  return batch;
}

std::optional<RequestQueue::Item> RequestQueue::TakeNext() {
  absl::MutexLock lock(&mutex_);
  if (queue_.empty()) return std::nullopt;
  return queue_.Pop();
}

void RequestQueue::PutBack(Item item) {
  const std::string tenant = TenantOf(item);
  absl::MutexLock lock(&mutex_);
  queue_.PushFront(tenant, std::move(item));
}

void RequestQueue::Stop() {
  absl::MutexLock lock(&mutex_);
  stopping_ = true;
}

void RequestQueue::ServeReadsOnly(absl::Status why) {
  absl::MutexLock lock(&mutex_);
  no_commands_ = std::move(why);
}

void RequestQueue::StopServing(const absl::Status& why) {
  {
    absl::MutexLock lock(&mutex_);
    if (!nothing_.ok()) return;
    nothing_ = absl::UnavailableError(absl::StrCat(
        "the ledger cannot use its database; what was in flight counts as charged until a "
        "repetition says what became of it: ",
        why.ToString()));
    no_commands_ = nothing_;
  }
  spdlog::error("not serving: {}", why.ToString());
}

void RequestQueue::ServeAll(const char* why) {
  {
    absl::MutexLock lock(&mutex_);
    if (no_commands_.ok()) return;
    no_commands_ = nothing_ = absl::OkStatus();
  }
  spdlog::info("serving again: {}", why);
}

absl::Status RequestQueue::WhyNoCommands() const {
  absl::MutexLock lock(&mutex_);
  return no_commands_;
}

absl::Status RequestQueue::WhyNothing() const {
  absl::MutexLock lock(&mutex_);
  return nothing_;
}

}  // namespace epsledger::storage
