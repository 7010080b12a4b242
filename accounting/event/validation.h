#ifndef EPSLEDGER_ACCOUNTING_EVENT_VALIDATION_H_
#define EPSLEDGER_ACCOUNTING_EVENT_VALIDATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "accounting/event/mechanism_event.h"

namespace epsledger::accounting {

// Bounds on the size of one event, so that no request can exhaust the server.
inline constexpr int kMaxEventDepth = 16;             // events inside events
inline constexpr int64_t kMaxEventNodes = 10'000;     // events in one event, all depths together
inline constexpr int64_t kMaxCurvePoints = 10'000;    // points of a tabulated curve
inline constexpr int64_t kMaxMatrixSteps = 100;       // columns of a matrix that is given
inline constexpr int64_t kMaxToeplitzSteps = 32'768;  // steps of a Toeplitz strategy
inline constexpr int64_t kMaxBuffers = 16;            // of a buffered Toeplitz strategy
inline constexpr int64_t kMaxTextBytes = 1'024;       // citation, reason
inline constexpr int64_t kMaxEventCount = int64_t{1} << 53;  // exact as a double

// OK if every number of `event` is in its domain (mechanism_event.h states each), at every depth.
// Otherwise INVALID_ARGUMENT names the first offending field in proto3 JSON form under `path`:
// "events[0].event.poissonSampled.samplingProbability: got 1.5, want in (0, 1]". NaN is never in a
// domain. Linear in the size of the event.
absl::Status Validate(const MechanismEvent& event, const std::string& path);

// As above; also checks count in [1, kMaxEventCount].
absl::Status Validate(const CountedEvent& event, const std::string& path);

// True if the event or one inside it is an unverified claim.
bool ContainsUnverifiedClaim(const MechanismEvent& event);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_VALIDATION_H_
