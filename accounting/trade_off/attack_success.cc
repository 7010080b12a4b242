#include "accounting/trade_off/attack_success.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Below this the ratio (1 - p) / p is not a double.
constexpr double kSmallestRatioPrior = 1e-300;

// The answer takes its accountant, kind and theorem from the guarantee that it is read off.
Guarantee ReadOff(const Guarantee& source) {
  Guarantee answer;
  answer.kind = source.kind;
  answer.accountant = source.accountant;
  answer.theorem = source.theorem;
  answer.order = source.order;
  answer.contains_unverified_claim = source.contains_unverified_claim;
  return answer;
}

}  // namespace

BayesPoint BayesPointOf(double prior) {
  BayesPoint point;
  point.with_against_without = prior <= 0.5;
  const double p = prior <= 0.5 ? prior : 1 - prior;  // exact ([Higham02] Sterbenz)
  point.smaller = p;
  // (1 - p) / p = 1 + (1 - 2p) / p. The relative error of the logarithm is at most that of its
  // argument plus one ulp. For tiny p, -log p is above the truth by at most 2 p.
  point.epsilon = p < kSmallestRatioPrior ? RoundDown(-std::log(p), 4)
                                          : RoundDownNonNegative(std::log1p((1 - 2 * p) / p), 4);
  return point;
}

Guarantee BayesSuccess(const BayesPoint& point, const Guarantee& delta) {
  const double p = point.smaller;
  Guarantee answer = ReadOff(delta);
  answer.theorem = absl::StrCat(delta.theorem, " ; the Bayes risk, accounting/trade_off/README.md");
  if (delta.upper.has_value()) {
    answer.upper = std::min(1.0, RoundUp((1 - p) + p * *delta.upper, 3));
  }
  if (delta.lower.has_value() && delta.kind != GuaranteeKind::kApproximation) {
    // delta is read at x' = e^epsilon <= x = (1 - p) / p, and falls by at most x - x' until x. With
    // x <= x' e^r this costs p (x - x') <= (1 - p) r.
    const double r = 32 * kUnitRoundoff * point.epsilon;
    answer.lower = std::clamp(RoundDown((1 - p) + p * *delta.lower, 3) - r, RoundDown(1 - p), 1.0);
  }
  return answer;
}

Guarantee TruePositiveRate(const Guarantee& type_two_error) {
  Guarantee answer = ReadOff(type_two_error);
  const bool approximate = type_two_error.kind == GuaranteeKind::kApproximation;
  if (type_two_error.lower.has_value()) {
    answer.upper = OneMinusUp(*type_two_error.lower);
  } else if (approximate && type_two_error.upper.has_value()) {
    answer.upper = OneMinusUp(*type_two_error.upper);
  }
  if (type_two_error.upper.has_value() && !approximate) {
    answer.lower = OneMinusDown(*type_two_error.upper);
  }
  return answer;
}

Guarantee AsReconstructionBound(Guarantee true_positive_rate) {
  absl::StrAppend(&true_positive_rate.theorem, " ; [HMB23]");
  true_positive_rate.lower.reset();
  return true_positive_rate;
}

}  // namespace epsledger::accounting
