#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_ATTACKS_LOWER_BOUNDS_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_ATTACKS_LOWER_BOUNDS_H_

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <vector>

#include "client/trainers/istdp/attacks.h"

namespace epsledger::trainers::istdp {

// The one-sided bounds of Clopper and Pearson on the probability of an event that was seen
// `successes` times in `trials`: each fails with probability at most `failure`.
inline double ClopperPearsonLower(int successes, int trials, double failure) {
  return successes == 0 ? 0 : boost::math::ibeta_inv(successes, trials - successes + 1.0, failure);
}
inline double ClopperPearsonUpper(int successes, int trials, double failure) {
  return successes == trials
             ? 1
             : boost::math::ibeta_inv(successes + 1.0, trials - successes, 1 - failure);
}

// Of a test that says "with the record" above a threshold.
struct RateBounds {
  double true_positive_lower;
  double false_positive_upper;
};

inline int CountAbove(const std::vector<double>& scores, double threshold) {
  return static_cast<int>(std::count_if(scores.begin(), scores.end(),
                                        [threshold](double score) { return score > threshold; }));
}

// Both hold together with probability at least 1 - failure.
inline RateBounds BoundRates(const TrialScores& scores, double threshold, double failure) {
  return {.true_positive_lower =
              ClopperPearsonLower(CountAbove(scores.with_record, threshold),
                                  static_cast<int>(scores.with_record.size()), failure / 2),
          .false_positive_upper =
              ClopperPearsonUpper(CountAbove(scores.without_record, threshold),
                                  static_cast<int>(scores.without_record.size()), failure / 2)};
}

// (epsilon, delta)-DP implies TPR <= e^epsilon FPR + delta.
inline double EpsilonLowerBound(const RateBounds& rates, double delta) {
  const double numerator = rates.true_positive_lower - delta;
  return numerator <= 0 ? 0 : std::max(0.0, std::log(numerator / rates.false_positive_upper));
}

// mu-GDP implies Phi^-1(TPR) - Phi^-1(FPR) <= mu [DRS19, Def. 2.6 and Prop. 2.4].
inline double MuLowerBound(const RateBounds& rates) {
  if (rates.true_positive_lower <= 0 || rates.false_positive_upper >= 1) return 0;
  const boost::math::normal normal;
  return std::max(0.0, boost::math::quantile(normal, rates.true_positive_lower) -
                           boost::math::quantile(normal, rates.false_positive_upper));
}

// The threshold with the largest mu on the first half of the scores, judged on the second half.
inline double MuLowerBound(const TrialScores& scores, double failure) {
  const auto half = [](const std::vector<double>& all, bool second) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    return second ? std::vector<double>(middle, all.end())
                  : std::vector<double>(all.begin(), middle);
  };
  const TrialScores choose{half(scores.without_record, false), half(scores.with_record, false)};
  const TrialScores judge{half(scores.without_record, true), half(scores.with_record, true)};
  std::vector<double> candidates = choose.with_record;
  candidates.insert(candidates.end(), choose.without_record.begin(), choose.without_record.end());
  std::sort(candidates.begin(), candidates.end());
  double best = 0;
  double threshold = candidates.front();
  for (int k = 1; k < 200; ++k) {
    const double candidate = candidates[candidates.size() * static_cast<std::size_t>(k) / 200];
    const double mu = MuLowerBound(BoundRates(choose, candidate, failure));
    if (mu > best) {
      best = mu;
      threshold = candidate;
    }
  }
  return MuLowerBound(BoundRates(judge, threshold, failure));
}

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_ATTACKS_LOWER_BOUNDS_H_
