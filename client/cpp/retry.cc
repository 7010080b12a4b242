#include "client/cpp/retry.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/rpc_status.h"

namespace epsledger {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

steady_clock::time_point Now(const RetryOptions& options) {
  return options.now ? options.now() : steady_clock::now();
}

void Sleep(const RetryOptions& options, nanoseconds duration) {
  if (options.sleep) {
    options.sleep(duration);
  } else {
    std::this_thread::sleep_for(duration);
  }
}

}  // namespace

absl::Status ValidateRetryOptions(const RetryOptions& options) {
  const auto invalid = [](const char* field, long long got, const char* want) {
    return absl::InvalidArgumentError(
        absl::StrCat("retry.", field, ": got ", got, ", want ", want));
  };
  if (options.call_timeout.count() <= 0) {
    return invalid("call_timeout", options.call_timeout.count(), "more than 0 ms");
  }
  if (options.overall_timeout.count() <= 0) {
    return invalid("overall_timeout", options.overall_timeout.count(), "more than 0 ms");
  }
  if (options.max_tries < 0) return invalid("max_tries", options.max_tries, "0 or more");
  if (options.initial_backoff.count() < 0) {
    return invalid("initial_backoff", options.initial_backoff.count(), "0 ms or more");
  }
  if (options.max_backoff < options.initial_backoff) {
    return invalid("max_backoff", options.max_backoff.count(), "at least initial_backoff");
  }
  return absl::OkStatus();
}

std::string Tries::Describe() const {
  return absl::StrFormat("%d %s in %.1f s", count, count == 1 ? "try" : "tries",
                         std::chrono::duration<double>(elapsed).count());
}

Tries RetryUntilDefinite(const RetryOptions& options,
                         const std::function<absl::Status(nanoseconds)>& try_once) {
  const steady_clock::time_point start = Now(options);
  const steady_clock::time_point deadline = start + options.overall_timeout;
  absl::BitGen random;
  nanoseconds backoff = options.initial_backoff;
  Tries tries;
  nanoseconds left = options.overall_timeout;
  while (true) {
    tries.last = try_once(std::min<nanoseconds>(options.call_timeout, left));
    ++tries.count;
    tries.elapsed = Now(options) - start;
    if (tries.last.ok() || !IsWorthRetrying(tries.last.code())) return tries;
    if (options.max_tries > 0 && tries.count >= options.max_tries) return tries;

    nanoseconds wait(
        absl::Uniform(absl::IntervalClosed, random, backoff.count() / 2, backoff.count()));
    wait = std::max(wait, RetryDelayOf(tries.last));
    if (Now(options) + wait >= deadline) return tries;
    tries.may_have_committed_before =
        tries.may_have_committed_before || MayHaveCommitted(tries.last.code());
    if (options.on_wait) {
      options.on_wait(
          {.last = tries.last, .elapsed = tries.elapsed, .left = deadline - Now(options)});
    }
    Sleep(options, wait);
    backoff = std::min<nanoseconds>(2 * backoff, options.max_backoff);
    left = deadline - Now(options);
    if (left <= nanoseconds::zero()) return tries;
  }
}

}  // namespace epsledger
