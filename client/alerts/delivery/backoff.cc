#include "client/alerts/delivery/backoff.h"

#include <algorithm>

namespace epsledger::alerts {

absl::Duration Backoff(const RetryPolicy& policy, int failures, double chance,
                       absl::Duration asked) {
  absl::Duration longest = std::min(policy.initial, policy.most);
  for (int i = 1; i < failures && longest < policy.most; ++i) {
    longest = std::min(2 * longest, policy.most);
  }
  const absl::Duration wait = longest / 2 + chance * (longest / 2);
  return std::max(wait, std::min(asked, policy.most));
}

}  // namespace epsledger::alerts
