#ifndef EPSLEDGER_SERVER_TRANSPORT_RATES_RATE_LIMITER_H_
#define EPSLEDGER_SERVER_TRANSPORT_RATES_RATE_LIMITER_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace epsledger::transport {

struct RateLimits {
  // How much each key may take in a burst, and the rate at which its allowance grows again.
  double burst = 1;
  double per_second = 1;
  // The number of keys that are remembered. When it is reached, all other keys share one allowance.
  size_t keys = 16'384;
};

// Measures how fast each of many keys takes something (connections of a peer, commands of a
// tenant), and decides whether one more is too fast. Not thread-safe.
class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RateLimiter(RateLimits limits) : limits_(limits) {}

  // Returns true if `key` may take `amount` more at `now`, and counts it. An amount above the burst
  // is allowed if the allowance is full, and is paid off afterwards. REQUIRES: `now` never goes
  // back, amount > 0. Cost: O(1), and O(keys) at most once in the time that an allowance needs to
  // fill.
  bool Take(const std::string& key, Clock::time_point now, double amount = 1);
  // Counts what `key` has already taken, even if it is more than is left; the debt is paid off
  // afterwards. REQUIRES and cost as for Take.
  void Count(const std::string& key, Clock::time_point now, double amount);
  // Returns true if `key` has no debt. Cost: O(1). REQUIRES: as for Take.
  bool HasPaid(const std::string& key, Clock::time_point now) const;
  // Returns the time until `key` has no debt; zero if it has none.
  Clock::duration TimeToPay(const std::string& key, Clock::time_point now) const;

 private:
  struct Allowance {
    double left = 0;
    Clock::time_point time;  // of `left`
  };

  // Returns the allowance of `key` at `now` if it is remembered, otherwise the shared one.
  Allowance& AllowanceOf(const std::string& key, Clock::time_point now);
  double LeftAt(const Allowance& allowance, Clock::time_point now) const;
  double LeftOf(const std::string& key, Clock::time_point now) const;
  // Forgets keys whose allowance is full again: they are like keys that never came.
  void ForgetIdle(Clock::time_point now);

  const RateLimits limits_;
  std::unordered_map<std::string, Allowance> of_key_;
  Allowance of_others_;
  Clock::time_point forget_time_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_RATES_RATE_LIMITER_H_
