#include "client/alerts/delivery/courier.h"

#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace epsledger::alerts {

Courier::Courier(TryOnce try_once, RetryPolicy policy, Report report)
    : try_once_(std::move(try_once)),
      policy_(policy),
      report_(std::move(report)),
      thread_([this] { Loop(); }) {}

Courier::~Courier() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void Courier::Give(const Alert& alert) {
  absl::MutexLock lock(&mutex_);
  given_.push_back(alert);
}

bool Courier::IsStopping() const {
  absl::MutexLock lock(&mutex_);
  return stopping_;
}

void Courier::Loop() {
  while (true) {
    Alert alert;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &Courier::HasWork));
      if (stopping_) return;
      alert = std::move(given_.front());
      given_.pop_front();
    }
    Bring(alert);
  }
}

void Courier::Bring(const Alert& alert) {
  const absl::Time end = absl::FromUnixMicros(alert.time_micros) + policy_.give_up_after;
  absl::BitGen random;
  for (int tries = 1;; ++tries) {
    const SendOutcome outcome = try_once_(alert, [this] { return IsStopping(); });
    if (outcome.status.ok()) {
      report_(alert, outcome.status, tries, absl::ZeroDuration());
      return;
    }
    if (IsStopping()) return;  // the outbox keeps it
    if (absl::IsFailedPrecondition(outcome.status)) {
      report_(alert, outcome.status, tries, absl::ZeroDuration());
      return;
    }
    const absl::Duration wait =
        Backoff(policy_, tries, absl::Uniform(random, 0.0, 1.0), outcome.asked_wait);
    if (absl::Now() + wait > end) {
      report_(alert,
              absl::FailedPreconditionError(absl::StrCat("given up: ", outcome.status.message())),
              tries, absl::ZeroDuration());
      return;
    }
    report_(alert, outcome.status, tries, wait);
    absl::MutexLock lock(&mutex_);
    if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_), wait)) return;
  }
}

}  // namespace epsledger::alerts
