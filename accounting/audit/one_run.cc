#include "accounting/audit/one_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/audit/binomial_tail.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

// Returns >= max over i in [1, v] of P[B >= v - i] / i for B ~ Bin(r, e^eps / (1 + e^eps)), given
// the tail at v.
double WorstTailPerStep(double epsilon, int64_t guesses, int64_t correct, const BinomialTail& at) {
  // P[B = j - 1] / P[B = j] = j / (r - j + 1) e^-eps, from the tail's own first term downwards.
  const double odds = RoundUp(std::exp(-epsilon));
  double worst = 0;
  double sum = at.tail;
  double mass = at.mass;
  double terms = 8;
  for (int64_t i = 1; i <= correct; ++i) {
    const auto j = static_cast<double>(correct - i + 1);
    mass *= j / (static_cast<double>(guesses) - j + 1) * odds;
    sum += mass;
    terms += 1;
    const double probability = std::min(1.0, RoundUp(sum, 8 * terms));
    worst = std::max(worst, RoundUp(probability / static_cast<double>(i)));
    // No later value can be above 1 / i.
    if (probability >= 1 || worst * static_cast<double>(i + 1) >= 1) break;
  }
  return worst;
}

}  // namespace

absl::Status Validate(const OneRunCounts& counts) {
  RETURN_IF_ERROR(CheckRange("canaries", counts.canaries, 1, kMaxOneRunCanaries));
  RETURN_IF_ERROR(CheckRange("guesses", counts.guesses, 1, counts.canaries));
  return CheckRange("correct", counts.correct, 0, counts.guesses);
}

double OneRunPValue(const OneRunCounts& counts, double epsilon, double delta) {
  if (!(epsilon >= 0) || !(epsilon <= kLargestEpsilon) || !(delta >= 0)) return 1;
  const BinomialTail at = BinomialUpperTailAndMass(epsilon, counts.guesses, counts.correct);
  if (at.tail >= 1 || delta == 0) return at.tail;
  const double worst = WorstTailPerStep(epsilon, counts.guesses, counts.correct, at);
  const double extra = RoundUp(2 * static_cast<double>(counts.canaries) * delta * worst, 3);
  return std::min(1.0, RoundUp(at.tail + extra));
}

absl::StatusOr<double> OneRunEpsilonLowerBound(const OneRunCounts& counts,
                                               const AuditTarget& target) {
  RETURN_IF_ERROR(Validate(target));
  RETURN_IF_ERROR(Validate(counts));
  const double failure_probability = target.failure_probability();
  const auto excess = [&](double epsilon) {
    return OneRunPValue(counts, epsilon, target.delta) - failure_probability;
  };
  if (excess(0) > 0) return 0;
  double fails = 1;
  while (fails < kLargestEpsilon && excess(fails) <= 0) fails *= 2;
  if (fails >= kLargestEpsilon) return 0;  // a p-value of 1 comes earlier; else nothing is sure
  return NarrowCrossing(excess, 0, fails, 1e-9).holds;
}

absl::StatusOr<OneRunCounts> CountGuesses(const CanaryScores& scores, int64_t guesses) {
  absl::Status status = Validate(scores, 0);
  if (!status.ok()) return status;
  const size_t total = scores.members.size() + scores.non_members.size();
  status = CheckRange("canaries", static_cast<int64_t>(total), 1, kMaxOneRunCanaries);
  if (!status.ok()) return status;
  status = CheckRange("guesses", guesses, 1, static_cast<int64_t>(total));
  if (!status.ok()) return status;
  struct Canary {
    double score;
    bool is_member;
  };
  std::vector<Canary> ranked;
  ranked.reserve(total);
  for (const double score : scores.members) ranked.push_back({score, true});
  for (const double score : scores.non_members) ranked.push_back({score, false});
  std::sort(ranked.begin(), ranked.end(),
            [](const Canary& a, const Canary& b) { return a.score > b.score; });
  const auto splits_a_tie = [&](size_t place) {
    return place > 0 && place < total && ranked[place - 1].score == ranked[place].score;
  };
  const auto wanted = static_cast<size_t>(guesses);
  // Half of the guesses from each end, by whole ties.
  size_t in_end = (wanted + 1) / 2;
  while (splits_a_tie(in_end)) --in_end;
  size_t out_begin = total - wanted / 2;
  while (splits_a_tie(out_begin)) ++out_begin;
  // The remaining guesses may be enough for the next ties.
  const auto left = [&] { return wanted - in_end - (total - out_begin); };
  size_t next = std::min(in_end + 1, out_begin);
  while (next < out_begin && splits_a_tie(next)) ++next;
  if (next - in_end <= left()) in_end = next;
  next = std::max(in_end, out_begin == 0 ? 0 : out_begin - 1);
  while (next > in_end && splits_a_tie(next)) --next;
  if (out_begin - next <= left()) out_begin = next;
  OneRunCounts counts;
  counts.canaries = static_cast<int64_t>(total);
  counts.guesses = guesses;
  for (size_t i = 0; i < in_end; ++i) counts.correct += ranked[i].is_member ? 1 : 0;
  for (size_t i = out_begin; i < total; ++i) counts.correct += ranked[i].is_member ? 0 : 1;
  return counts;
}

std::vector<int64_t> DefaultGuesses(int64_t canaries) {
  std::vector<int64_t> guesses;
  for (int64_t share = 1; share <= 64; share *= 4) {
    if (canaries / share >= 1) guesses.push_back(canaries / share);
  }
  return guesses;
}

}  // namespace epsledger::accounting
