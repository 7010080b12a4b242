#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STEADY_TIME_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STEADY_TIME_H_

#include <chrono>
#include <optional>

#include "absl/time/time.h"

namespace epsledger::transport {

// A time of the steady clock, which nobody sets, from an arbitrary start. It measures ages and
// patience: the wall clock can jump, and a call does not get older by that.
using SteadyTime = absl::Duration;

inline SteadyTime SteadyNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// Converts a deadline; without one, returns a time that never comes.
inline SteadyTime SteadyDeadline(
    const std::optional<std::chrono::steady_clock::time_point>& deadline) {
  if (!deadline) return absl::InfiniteDuration();
  return absl::FromChrono(deadline->time_since_epoch());
}

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STEADY_TIME_H_
