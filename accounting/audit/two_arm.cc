#include "accounting/audit/two_arm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "accounting/audit/binomial_tail.h"
#include "accounting/audit/gaussian_hypothesis.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr size_t kSmallestArm = 8;
// One score in this many chooses the threshold.
constexpr size_t kChoiceShare = 4;
// Arbitrary, but different numbers.
constexpr uint64_t kMemberSalt = 1;
constexpr uint64_t kNonMemberSalt = 2;

// Returns log((rate - delta) / error) rounded down, 0 where that is negative; `error` is above 0.
double LogRatioDown(double rate, double delta, double error) {
  const double excess = RoundDown(rate - delta, 1);
  if (!(excess > 0) || !(error > 0)) return 0;
  const double ratio = RoundDown(excess / error, 1);
  return ratio > 1 ? RoundDownNonNegative(std::log(ratio)) : 0;
}

// Returns <= Phi^-1(p): moves the quantile down until the distribution function proves it.
double NormalQuantileDown(double p) {
  const double z = NormalQuantile(p);
  if (!std::isfinite(z)) return -std::numeric_limits<double>::infinity();
  for (double step = 1e-14 * (1 + std::abs(z)); step < 1e-6; step *= 4) {
    if (RoundUp(NormalCdf(z - step) * (1 + kNormalRelativeError), 2) <= p) return z - step;
  }
  return -std::numeric_limits<double>::infinity();
}

double NormalQuantileUp(double p) {
  const double z = NormalQuantile(p);
  if (!std::isfinite(z)) return std::numeric_limits<double>::infinity();
  for (double step = 1e-14 * (1 + std::abs(z)); step < 1e-6; step *= 4) {
    if (RoundDown(NormalCdf(z + step) * (1 - kNormalRelativeError), 2) >= p) return z + step;
  }
  return std::numeric_limits<double>::infinity();
}

TwoArmAudit Evaluate(const TwoArmCounts& counts, const AuditTarget& target) {
  const double share = 0.5 * target.failure_probability();
  const double member_logit = LogitLowerBound(counts.true_positives, counts.members, share);
  const double non_member_logit =
      LogitUpperBound(counts.false_positives, counts.non_members, share);
  TwoArmAudit audit;
  audit.true_positive_rate_lower = ProportionDown(member_logit);
  audit.false_positive_rate_upper = ProportionUp(non_member_logit);
  audit.epsilon_lower = std::max(
      LogRatioDown(audit.true_positive_rate_lower, target.delta, audit.false_positive_rate_upper),
      LogRatioDown(ProportionDown(-non_member_logit), target.delta, ProportionUp(-member_logit)));
  const double mu = RoundDown(NormalQuantileDown(audit.true_positive_rate_lower) -
                              NormalQuantileUp(audit.false_positive_rate_upper));
  audit.mu_lower = mu > 0 && std::isfinite(mu) ? mu : 0;
  audit.epsilon_lower_if_gaussian = GaussianEpsilonLower(audit.mu_lower, target.delta);
  return audit;
}

absl::Status CheckCounts(const std::string& all, int64_t count, const std::string& some,
                         int64_t positives) {
  RETURN_IF_ERROR(CheckRange(all, count, 1, kMaxAuditTrials));
  return CheckRange(some, positives, 0, count);
}

// A part of an arm, sorted.
std::vector<double> Part(const std::vector<double>& scores, const std::vector<size_t>& order,
                         size_t first, size_t last) {
  std::vector<double> part;
  part.reserve(last - first);
  for (size_t i = first; i < last; ++i) part.push_back(scores[order[i]]);
  std::sort(part.begin(), part.end());
  return part;
}

int64_t CountAtLeast(const std::vector<double>& sorted, double threshold) {
  return sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), threshold);
}

// Returns the thresholds to try: scores of both arms, densely in both tails, which determine
// epsilon.
std::vector<double> Candidates(const std::vector<double>& members,
                               const std::vector<double>& non_members) {
  std::vector<double> candidates;
  for (const std::vector<double>* arm : {&members, &non_members}) {
    const size_t size = arm->size();
    for (double rank = 0; rank < static_cast<double>(size);
         rank = std::max(rank + 1, rank * 1.15)) {
      const auto i = static_cast<size_t>(rank);
      candidates.push_back((*arm)[i]);
      candidates.push_back((*arm)[size - 1 - i]);
    }
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

// Returns how many errors of `size` runs to expect after `errors` of `count`: the errors seen plus
// one plus two standard deviations. So the largest of many noisy estimates is not the noisiest one,
// and a tail without any errors does not count as empty.
int64_t PromisedErrors(int64_t errors, size_t count, int64_t size) {
  const auto n = static_cast<double>(count);
  const auto seen = static_cast<double>(errors);
  const double cautious = seen + 1 + 2 * std::sqrt(std::max(0.0, seen * (1 - seen / n)));
  const double promised = std::round(cautious / n * static_cast<double>(size));
  return promised < static_cast<double>(size) ? static_cast<int64_t>(promised) : size;
}

}  // namespace

absl::StatusOr<TwoArmAudit> AuditTwoArms(const TwoArmCounts& counts, const AuditTarget& target) {
  RETURN_IF_ERROR(Validate(target));
  RETURN_IF_ERROR(CheckCounts("members", counts.members, "truePositives", counts.true_positives));
  RETURN_IF_ERROR(
      CheckCounts("nonMembers", counts.non_members, "falsePositives", counts.false_positives));
  return Evaluate(counts, target);
}

absl::StatusOr<TwoArmScoreAudit> AuditTwoArmScores(const CanaryScores& scores,
                                                   AuditObjective objective,
                                                   const AuditTarget& target) {
  RETURN_IF_ERROR(Validate(target));
  RETURN_IF_ERROR(Validate(scores, kSmallestArm));
  const auto member_order = FixedShuffle(scores.members.size(), kMemberSalt);
  const auto non_member_order = FixedShuffle(scores.non_members.size(), kNonMemberSalt);
  const size_t member_split = scores.members.size() / kChoiceShare;
  const size_t non_member_split = scores.non_members.size() / kChoiceShare;
  const auto members_seen = Part(scores.members, member_order, 0, member_split);
  const auto non_members_seen = Part(scores.non_members, non_member_order, 0, non_member_split);

  TwoArmScoreAudit result;
  result.counts.members = static_cast<int64_t>(scores.members.size() - member_split);
  result.counts.non_members = static_cast<int64_t>(scores.non_members.size() - non_member_split);
  double best = -1;
  for (const double candidate : Candidates(members_seen, non_members_seen)) {
    TwoArmCounts promised = result.counts;
    const int64_t misses =
        static_cast<int64_t>(member_split) - CountAtLeast(members_seen, candidate);
    promised.true_positives =
        promised.members - PromisedErrors(misses, member_split, promised.members);
    promised.false_positives = PromisedErrors(CountAtLeast(non_members_seen, candidate),
                                              non_member_split, promised.non_members);
    const TwoArmAudit audit = Evaluate(promised, target);
    const double value =
        objective == AuditObjective::kEpsilon ? audit.epsilon_lower : audit.mu_lower;
    if (value > best) {
      best = value;
      result.threshold = candidate;
    }
  }
  const auto members = Part(scores.members, member_order, member_split, member_order.size());
  const auto non_members =
      Part(scores.non_members, non_member_order, non_member_split, non_member_order.size());
  result.counts.true_positives = CountAtLeast(members, result.threshold);
  result.counts.false_positives = CountAtLeast(non_members, result.threshold);
  result.audit = Evaluate(result.counts, target);
  return result;
}

}  // namespace epsledger::accounting
