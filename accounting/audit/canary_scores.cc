#include "accounting/audit/canary_scores.h"

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"

namespace epsledger::accounting {
namespace {

absl::Status ValidateArm(const std::string& field, const std::vector<double>& scores,
                         size_t smallest) {
  if (scores.size() < smallest) {
    return OutOfDomain(field, absl::StrCat(scores.size(), " scores"),
                       absl::StrCat("at least ", smallest));
  }
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      return OutOfDomain(absl::StrCat(field, "[", i, "]"), "NaN", "a number");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const CanaryScores& scores, size_t smallest_arm) {
  RETURN_IF_ERROR(ValidateArm("memberScores", scores.members, smallest_arm));
  return ValidateArm("nonMemberScores", scores.non_members, smallest_arm);
}

std::vector<size_t> FixedShuffle(size_t count, uint64_t salt) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 generator(salt);
  for (size_t i = count; i > 1; --i) {
    // The remainder is uneven by 2^-44 for a million scores; no test of 2^20 scores can detect
    // this.
    std::swap(order[i - 1], order[generator() % i]);
  }
  return order;
}

}  // namespace epsledger::accounting
