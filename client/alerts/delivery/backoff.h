#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_BACKOFF_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_BACKOFF_H_

#include "absl/time/time.h"

namespace epsledger::alerts {

// How long and how often an alert is tried.
struct RetryPolicy {
  absl::Duration initial = absl::Seconds(1);
  absl::Duration most = absl::Minutes(10);
  // After this time since its event an alert is given up.
  absl::Duration give_up_after = absl::Hours(72);
};

// Returns the wait after `failures` tries that failed, in [b/2, b] with b = initial *
// 2^(failures - 1), and at most `most`. `chance` in [0, 1) chooses in the interval. Never shorter
// than `asked`, what the receiver asks for, up to `most`. REQUIRES: failures >= 1.
absl::Duration Backoff(const RetryPolicy& policy, int failures, double chance,
                       absl::Duration asked);

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_BACKOFF_H_
