#include "server/transport/rates/rate_limiter.h"

#include <algorithm>
#include <iterator>

namespace epsledger::transport {

double RateLimiter::LeftAt(const Allowance& allowance, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - allowance.time).count();
  return std::min(limits_.burst, allowance.left + limits_.per_second * std::max(0.0, seconds));
}

void RateLimiter::ForgetIdle(Clock::time_point now) {
  if (now < forget_time_) return;
  const std::chrono::duration<double> fill(limits_.burst / limits_.per_second);
  forget_time_ = now + std::chrono::duration_cast<Clock::duration>(fill);
  for (auto it = of_key_.begin(); it != of_key_.end();) {
    it = LeftAt(it->second, now) >= limits_.burst ? of_key_.erase(it) : std::next(it);
  }
}

RateLimiter::Allowance& RateLimiter::AllowanceOf(const std::string& key, Clock::time_point now) {
  auto known = of_key_.find(key);
  if (known == of_key_.end() && of_key_.size() >= limits_.keys) ForgetIdle(now);
  if (known == of_key_.end() && of_key_.size() < limits_.keys) {
    known = of_key_.emplace(key, Allowance{.left = limits_.burst, .time = now}).first;
  }
  Allowance& allowance = known == of_key_.end() ? of_others_ : known->second;
  allowance.left = LeftAt(allowance, now);
  allowance.time = now;
  return allowance;
}

bool RateLimiter::Take(const std::string& key, Clock::time_point now, double amount) {
  Allowance& allowance = AllowanceOf(key, now);
  if (allowance.left < std::min(amount, limits_.burst)) return false;
  allowance.left -= amount;
  return true;
}

void RateLimiter::Count(const std::string& key, Clock::time_point now, double amount) {
  AllowanceOf(key, now).left -= amount;
}

double RateLimiter::LeftOf(const std::string& key, Clock::time_point now) const {
  const auto known = of_key_.find(key);
  if (known != of_key_.end()) return LeftAt(known->second, now);
  return of_key_.size() < limits_.keys ? limits_.burst : LeftAt(of_others_, now);
}

bool RateLimiter::HasPaid(const std::string& key, Clock::time_point now) const {
  return LeftOf(key, now) >= 0;
}

RateLimiter::Clock::duration RateLimiter::TimeToPay(const std::string& key,
                                                    Clock::time_point now) const {
  return std::chrono::ceil<Clock::duration>(
      std::chrono::duration<double>(std::max(0.0, -LeftOf(key, now)) / limits_.per_second));
}

}  // namespace epsledger::transport
