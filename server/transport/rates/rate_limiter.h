#ifndef EPSLEDGER_SERVER_TRANSPORT_RATES_RATE_LIMITER_H_
#define EPSLEDGER_SERVER_TRANSPORT_RATES_RATE_LIMITER_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace epsledger::transport {

struct RateLimits {
  // What each may take in quick succession, and how fast that much is allowed again.
  double burst = 1;
  double per_second = 1;
  // So many are remembered. Others share one allowance while there are that many.
  size_t keys = 16'384;
};

// How fast each of many takes something (connections of a peer, commands of a tenant), and whether
// one more is too fast. Not thread-safe.
class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RateLimiter(RateLimits limits) : limits_(limits) {}

  // True if `key` may take `amount` more at `now`, which is counted. More than the burst is allowed
  // where the allowance is whole, and is paid off afterwards. REQUIRES: `now` never goes back,
  // amount > 0. Cost: O(1), and O(keys) at most once in the time in which an allowance fills.
  bool Take(const std::string& key, Clock::time_point now, double amount = 1);
  // Counts what `key` has taken already, be it more than is left: that is paid off afterwards.
  // REQUIRES and cost as Take.
  void Count(const std::string& key, Clock::time_point now, double amount);
  // True if `key` has paid off all that it took. Cost: O(1). REQUIRES: as Take.
  bool HasPaid(const std::string& key, Clock::time_point now) const;
  // Until then; zero if it has.
  Clock::duration TimeToPay(const std::string& key, Clock::time_point now) const;

 private:
  struct Allowance {
    double left = 0;
    Clock::time_point time;  // at which `left` was
  };

  // Of `key` if it is remembered, otherwise that of the others, as it is at `now`.
  Allowance& AllowanceOf(const std::string& key, Clock::time_point now);
  double LeftAt(const Allowance& allowance, Clock::time_point now) const;
  double LeftOf(const std::string& key, Clock::time_point now) const;
  // Forgets keys whose allowance is whole again: they are as those that never came.
  void ForgetIdle(Clock::time_point now);

  const RateLimits limits_;
  std::unordered_map<std::string, Allowance> of_key_;
  Allowance of_others_;
  Clock::time_point forget_time_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_RATES_RATE_LIMITER_H_
