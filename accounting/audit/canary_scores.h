#ifndef EPSLEDGER_ACCOUNTING_AUDIT_CANARY_SCORES_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_CANARY_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace epsledger::accounting {

// The scores that an attack gives to canaries: the higher a score, the more the canary looks like a
// member. Infinite scores are allowed.
struct CanaryScores {
  // Scores of canaries that were in the data set, and of those that were left out.
  std::vector<double> members;
  std::vector<double> non_members;
};

// INVALID_ARGUMENT if a score is NaN ("memberScores[3]: got NaN, want a number") or an arm has
// fewer than `smallest_arm` scores.
absl::Status Validate(const CanaryScores& scores, size_t smallest_arm);

// Returns 0, ..., count - 1 in an order that depends only on `count` and `salt`. A part of the data
// drawn in this order is a simple random sample whatever the order of the data, so sorted scores do
// not reveal who was a member. The generator is std::mt19937_64 and the shuffle our own, so the
// order is the same on every platform.
std::vector<size_t> FixedShuffle(size_t count, uint64_t salt);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_CANARY_SCORES_H_
