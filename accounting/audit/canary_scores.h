#ifndef EPSLEDGER_ACCOUNTING_AUDIT_CANARY_SCORES_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_CANARY_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace epsledger::accounting {

// What an attack says of canaries: the higher a score, the more the canary looks like a member.
// Infinities are scores like others.
struct CanaryScores {
  // Scores of canaries that were in the data set, and of those that were left out.
  std::vector<double> members;
  std::vector<double> non_members;
};

// INVALID_ARGUMENT if a score is NaN ("memberScores[3]: got NaN, want a number") or an arm has
// fewer than `smallest_arm` scores.
absl::Status Validate(const CanaryScores& scores, size_t smallest_arm);

// Puts 0, ..., count - 1 into an order that depends on `count` and `salt` alone: what is drawn by
// it from data in any order is a simple random sample of them, so that sorted scores do
// not tell who was a member. The generator is std::mt19937_64, the shuffle our own: the same
// everywhere.
std::vector<size_t> FixedShuffle(size_t count, uint64_t salt);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_CANARY_SCORES_H_
