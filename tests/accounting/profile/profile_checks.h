#ifndef EPSLEDGER_TESTS_ACCOUNTING_PROFILE_PROFILE_CHECKS_H_
#define EPSLEDGER_TESTS_ACCOUNTING_PROFILE_PROFILE_CHECKS_H_

// Checks that every privacy profile must pass, whatever its pair.

#include <algorithm>
#include <cmath>
#include <vector>

#include "accounting/profile/privacy_profile.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {

inline double BracketWidth(const Bounds& log_delta) {
  return log_delta.upper == log_delta.lower ? 0 : log_delta.upper - log_delta.lower;
}

// Expects that the bracket holds `truth`, which is a delta and not its logarithm.
inline void ExpectBrackets(const Bounds& log_delta, const Real& truth, const char* what,
                           double epsilon) {
  EXPECT_TRUE(Exp(Real(log_delta.lower)) <= truth)
      << what << " at " << epsilon << ": lower " << log_delta.lower << " truth "
      << Log(truth).ToDouble() << " off by " << (Real(log_delta.lower) - Log(truth)).ToDouble();
  EXPECT_TRUE(truth <= Exp(Real(log_delta.upper)))
      << what << " at " << epsilon << ": upper " << log_delta.upper << " truth "
      << Log(truth).ToDouble() << " off by " << (Real(log_delta.upper) - Log(truth)).ToDouble();
}

// Checks the order of bounds, their range, and that for e1 < e2, delta(e1) - delta(e2) is between
// tail(e2) and tail(e1) times e^e2 - e^e1.
inline void ExpectConsistent(const PrivacyProfile& profile, std::vector<double> epsilons,
                             const char* what) {
  std::sort(epsilons.begin(), epsilons.end());
  for (size_t i = 0; i < epsilons.size(); ++i) {
    const double epsilon = epsilons[i];
    const Bounds log_delta = profile.LogDelta(epsilon);
    const Bounds tail = profile.TailUnderQ(epsilon);
    EXPECT_LE(log_delta.lower, log_delta.upper) << what << " at " << epsilon;
    EXPECT_LE(log_delta.upper, 0) << what << " at " << epsilon;
    EXPECT_TRUE(Real(1) - Exp(Real(epsilon)) <= Exp(Real(log_delta.upper)))
        << what << " at " << epsilon;
    EXPECT_LE(tail.lower, tail.upper) << what << " at " << epsilon;
    EXPECT_GE(tail.lower, 0) << what << " at " << epsilon;
    EXPECT_LE(tail.upper, 1) << what << " at " << epsilon;
    if (epsilon >= profile.LargestLoss()) {
      EXPECT_LE(std::exp(log_delta.lower), profile.InfinityMass()) << what << " at " << epsilon;
    }
    if (i == 0) continue;
    const double before = epsilons[i - 1];
    const Bounds log_before = profile.LogDelta(before);
    const Bounds tail_before = profile.TailUnderQ(before);
    const Real step = Exp(Real(epsilon)) - Exp(Real(before));
    const Real most = Exp(Real(log_before.upper)) - Exp(Real(log_delta.lower));
    const Real least = Exp(Real(log_before.lower)) - Exp(Real(log_delta.upper));
    EXPECT_TRUE(Real(tail.lower) * step <= most) << what << " from " << before << " to " << epsilon;
    EXPECT_TRUE(least <= Real(tail_before.upper) * step)
        << what << " from " << before << " to " << epsilon;
  }
}

// Expects that the brackets do not contradict
// forward(epsilon) = 1 - e^epsilon + e^epsilon backward(-epsilon).
inline void ExpectReverses(const PrivacyProfile& forward, const PrivacyProfile& backward,
                           const std::vector<double>& epsilons, const char* what) {
  for (const double epsilon : epsilons) {
    if (epsilon > 300) continue;  // e^epsilon would take all of the 512 bits
    const Bounds a = forward.LogDelta(epsilon);
    const Bounds b = backward.LogDelta(-epsilon);
    const Real x = Exp(Real(epsilon));
    EXPECT_TRUE(Exp(Real(a.lower)) <= Real(1) - x + x * Exp(Real(b.upper)))
        << what << " at " << epsilon;
    EXPECT_TRUE(Real(1) - x + x * Exp(Real(b.lower)) <= Exp(Real(a.upper)))
        << what << " at " << epsilon;
  }
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_PROFILE_PROFILE_CHECKS_H_
