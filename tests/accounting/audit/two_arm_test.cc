#include "accounting/audit/two_arm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "accounting/gaussian/calibration.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "tests/accounting/audit/simulated_canaries.h"

namespace epsledger::accounting {
namespace {

// scipy 1.10: lo = beta.ppf(.025, 930, 71), hi = beta.isf(.025, 15, 986), log((lo - 1e-5) / hi),
// norm.ppf(lo) - norm.ppf(hi), and brentq on norm.cdf(-x/mu + mu/2) - exp(x) norm.cdf(-x/mu -
// mu/2).
TEST(AuditTwoArms, IsTheLogarithmOfTheBoundsOfTheRates) {
  const auto audit = *AuditTwoArms({1000, 930, 1000, 14}, {.delta = 1e-5, .confidence = 0.95});
  EXPECT_NEAR(audit.true_positive_rate_lower, 0.9123837665107, 1e-10);
  EXPECT_NEAR(audit.false_positive_rate_upper, 0.02337815601031, 1e-10);
  EXPECT_NEAR(audit.epsilon_lower, 3.664247655272, 1e-9);
  EXPECT_NEAR(audit.mu_lower, 3.344082136442, 1e-9);
  EXPECT_NEAR(audit.epsilon_lower_if_gaussian, 19.21183412818, 1e-8);
}

TEST(AuditTwoArms, UsesTheSideThatShowsMore) {
  // Few misses show as much as few false alarms.
  const AuditTarget target{.delta = 1e-5, .confidence = 0.95};
  const auto alarms = *AuditTwoArms({1000, 400, 1000, 0}, target);
  const auto misses = *AuditTwoArms({1000, 1000, 1000, 600}, target);
  EXPECT_GT(alarms.epsilon_lower, 4);
  EXPECT_NEAR(alarms.epsilon_lower, misses.epsilon_lower, 1e-9);
  EXPECT_NEAR(alarms.mu_lower, misses.mu_lower, 1e-9);
}

TEST(AuditTwoArms, ShowsNothingByWhatNullScoresGive) {
  for (const int64_t positives : {0, 1, 500, 999, 1000}) {
    const auto audit =
        *AuditTwoArms({1000, positives, 1000, positives}, {.delta = 0, .confidence = 0.5});
    EXPECT_EQ(audit.epsilon_lower, 0) << positives;
    EXPECT_EQ(audit.mu_lower, 0) << positives;
    EXPECT_EQ(audit.epsilon_lower_if_gaussian, 0) << positives;
  }
}

TEST(AuditTwoArms, IsBoundedByTheNumberOfRuns) {
  // Everything told: log of the trials, never infinity.
  const auto audit = *AuditTwoArms({100000, 100000, 100000, 0}, {.delta = 0, .confidence = 0.95});
  // TPR_lo = .025^(1/1e5), FPR_hi = 1 - that: log(TPR_lo / FPR_hi).
  EXPECT_NEAR(audit.epsilon_lower, 10.207584279553, 1e-9);
}

TEST(AuditTwoArms, FallsWithConfidenceAndDelta) {
  double epsilon = kInfinity;
  double mu = kInfinity;
  for (const double confidence : {0.5, 0.9, 0.99, 0.9999, 1 - 1e-6, 1 - 1e-12}) {
    const auto audit =
        *AuditTwoArms({10000, 6000, 10000, 1000}, {.delta = 1e-5, .confidence = confidence});
    EXPECT_LT(audit.epsilon_lower, epsilon);
    EXPECT_LT(audit.mu_lower, mu);
    epsilon = audit.epsilon_lower;
    mu = audit.mu_lower;
  }
  double last = kInfinity;
  for (const double delta : {0.0, 1e-3, 0.1, 0.5, 0.9}) {
    const auto audit =
        *AuditTwoArms({10000, 6000, 10000, 1000}, {.delta = delta, .confidence = 0.95});
    EXPECT_LE(audit.epsilon_lower, last);
    last = audit.epsilon_lower;
  }
  EXPECT_EQ(last, 0);
}

TEST(AuditTwoArms, NamesTheFieldThatIsWrong) {
  const AuditTarget target{.delta = 1e-5, .confidence = 0.95};
  const auto message = [&](const TwoArmCounts& counts, const AuditTarget& asked) {
    const auto audit = AuditTwoArms(counts, asked);
    EXPECT_EQ(audit.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(audit.status().message());
  };
  EXPECT_EQ(message({0, 0, 10, 0}, target), "members: got 0, want in [1, 2147483648]");
  EXPECT_EQ(message({10, 11, 10, 0}, target), "truePositives: got 11, want in [0, 10]");
  EXPECT_EQ(message({10, 1, 10, -1}, target), "falsePositives: got -1, want in [0, 10]");
  EXPECT_EQ(message({10, 1, 10, 1}, {.delta = 1, .confidence = 0.95}),
            "delta: got 1, want in [0, 1)");
  EXPECT_EQ(message({10, 1, 10, 1}, {.delta = 0, .confidence = std::nan("")}),
            "confidence: got NaN, want in (0, 1)");
}

TEST(AuditTwoArmScores, RefusesWhatIsNoNumberAndNamesIt) {
  CanaryScores scores;
  scores.members.assign(20, 1);
  scores.non_members.assign(20, 0);
  scores.non_members[7] = std::nan("");
  const AuditTarget target{.delta = 1e-5, .confidence = 0.95};
  EXPECT_EQ(AuditTwoArmScores(scores, AuditObjective::kMu, target).status().message(),
            "nonMemberScores[7]: got NaN, want a number");
  scores.non_members.assign(7, 0);
  EXPECT_EQ(AuditTwoArmScores(scores, AuditObjective::kMu, target).status().message(),
            "nonMemberScores: got 7 scores, want at least 8");
}

TEST(AuditTwoArmScores, CountsTiesOnOneSideForBothArms) {
  // All scores alike: no threshold tells anything, at any confidence.
  CanaryScores scores;
  scores.members.assign(1000, 0.5);
  scores.non_members.assign(1000, 0.5);
  const AuditTarget target{.delta = 0, .confidence = 0.5};
  const auto audit = *AuditTwoArmScores(scores, AuditObjective::kEpsilon, target);
  EXPECT_EQ(audit.audit.epsilon_lower, 0);
  EXPECT_EQ(audit.audit.mu_lower, 0);
  // Two values, and infinities among them.
  scores.members.assign(1000, kInfinity);
  scores.non_members.assign(1000, -kInfinity);
  const auto told = *AuditTwoArmScores(scores, AuditObjective::kEpsilon, target);
  EXPECT_EQ(told.counts.true_positives, told.counts.members);
  EXPECT_EQ(told.counts.false_positives, 0);
  EXPECT_EQ(told.counts.members, 750);
  EXPECT_GT(told.audit.epsilon_lower, 5);
}

TEST(AuditTwoArmScores, DoesNotTrustTheOrderOfTheScores) {
  // Sorted scores are sampled like any others: the audit stays what it is for such scores.
  CanaryScores scores = SimulatedCanaries(5).TwoArms(1, 4000, 4000);
  const AuditTarget target{.delta = 1e-5, .confidence = 0.95};
  const double mu = AuditTwoArmScores(scores, AuditObjective::kMu, target)->audit.mu_lower;
  std::sort(scores.members.begin(), scores.members.end(), std::greater<>());
  std::sort(scores.non_members.begin(), scores.non_members.end());
  const double sorted = AuditTwoArmScores(scores, AuditObjective::kMu, target)->audit.mu_lower;
  EXPECT_NEAR(mu, sorted, 0.15);
  EXPECT_LT(sorted, 1);
}

// At most 10% of 400 audits at confidence .9 exceed the truth but for chance: 62 of 400 or more are
// seen with probability below 4e-4 (scipy: binom.sf(61, 400, .1)).
TEST(AuditTwoArmScores, IsBelowTheTruthAsOftenAsItSays) {
  const AuditTarget target{.delta = 1e-5, .confidence = 0.9};
  for (const double epsilon : {0.0, 1.0, 4.0}) {
    const double mu = epsilon == 0 ? 0 : LargestGaussianMu(epsilon, std::log(1e-5));
    SimulatedCanaries canaries(17);
    int above_epsilon = 0;
    int above_mu = 0;
    for (int run = 0; run < 400; ++run) {
      const CanaryScores scores = canaries.TwoArms(mu, 100, 100);
      above_epsilon +=
          AuditTwoArmScores(scores, AuditObjective::kEpsilon, target)->audit.epsilon_lower >
          epsilon;
      above_mu += AuditTwoArmScores(scores, AuditObjective::kMu, target)->audit.mu_lower > mu;
    }
    EXPECT_LT(above_epsilon, 62) << epsilon;
    EXPECT_LT(above_mu, 62) << epsilon;
    if (epsilon == 0) {
      // Null scores: 0 at the stated confidence, and nearly always here.
      EXPECT_LT(above_mu, 30);
    }
  }
}

// 10^5 runs an arm of an exactly Gaussian mechanism, five times. At confidence 1 - 1e-6 below the
// claim, and by mu above .7 of it, so that noise larger than claimed is noticed too. At .95 about
// what another implementation of both audits gave of one draw: .31/.50/1.30/2.67 by counting and
// .458/.924/1.870/3.943 by mu. Ours over ten draws: .19/.55/1.17/2.46 and .423/.922/1.915/3.900.
TEST(AuditTwoArmScores, IsCloseToTheTruthWithManyRuns) {
  struct Row {
    double epsilon;
    double by_counting;
    double by_mu;
  };
  constexpr int kDraws = 5;
  for (const Row& row :
       {Row{0.5, 0.31, 0.458}, Row{1, 0.50, 0.924}, Row{2, 1.30, 1.870}, Row{4, 2.67, 3.943}}) {
    const double mu = LargestGaussianMu(row.epsilon, std::log(1e-5));
    SimulatedCanaries canaries(23);
    double counted = 0;
    double fitted = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const CanaryScores scores = canaries.TwoArms(mu, 100000, 100000);
      const AuditTarget usual{.delta = 1e-5, .confidence = 0.95};
      counted += AuditTwoArmScores(scores, AuditObjective::kEpsilon, usual)->audit.epsilon_lower;
      fitted +=
          AuditTwoArmScores(scores, AuditObjective::kMu, usual)->audit.epsilon_lower_if_gaussian;

      const AuditTarget sure{.delta = 1e-5, .confidence = 1 - 1e-6};
      const TwoArmAudit audit = AuditTwoArmScores(scores, AuditObjective::kMu, sure)->audit;
      EXPECT_LT(audit.mu_lower, mu);
      EXPECT_LT(audit.epsilon_lower, row.epsilon);
      EXPECT_LT(audit.epsilon_lower_if_gaussian, row.epsilon);
      if (row.epsilon >= 1) {
        EXPECT_GT(audit.epsilon_lower_if_gaussian, 0.7 * row.epsilon);
      }
    }
    EXPECT_GT(counted / kDraws, 0.55 * row.by_counting) << row.epsilon;
    EXPECT_LT(counted / kDraws, 1.25 * row.by_counting) << row.epsilon;
    EXPECT_NEAR(fitted / kDraws / row.by_mu, 1, 0.15) << row.epsilon;
  }
}

}  // namespace
}  // namespace epsledger::accounting
