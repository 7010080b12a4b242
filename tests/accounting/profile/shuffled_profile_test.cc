#include "accounting/profile/shuffled_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/profile_checks.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

// H_x of the pair, outcome by outcome, from its definition, with 64-bit mantissas. With t reports
// of the two kinds, n of the first, b(n-1) = w n and b(n) = w (t - n), w = (t-1)! 2^-(t-1) / (n!
// (t-n)!).
long double PairDelta(double epsilon0, int64_t reports, double epsilon) {
  const long double e0 = epsilon0, e = epsilon, others = static_cast<long double>(reports - 1);
  const long double q = 1 / (std::exp(e0) + 1);
  const long double won = q * std::exp(e) * std::expm1(e0 - e), lost = q * std::expm1(e0 + e);
  const long double mean = others * std::exp(-e0);
  const long double spread = 40 * std::sqrt(mean * -std::expm1(-e0)) + 40;
  long double sum = 0;
  for (long double c = std::max(0.0L, std::floor(mean - spread));
       c <= std::min(others, mean + spread); ++c) {
    const long double log_clones = std::lgamma(others + 1) - std::lgamma(c + 1) -
                                   std::lgamma(others - c + 1) - c * e0 +
                                   (others - c) * std::log(-std::expm1(-e0));
    const long double t = c + 1, reach = 20 * std::sqrt(t) + 2;
    for (long double n = std::max(0.0L, std::floor(t / 2 - reach)); n <= std::min(t, t / 2 + reach);
         ++n) {
      const long double more = won * n - lost * (t - n);
      if (!(more > 0)) continue;
      sum += std::exp(log_clones + std::lgamma(t) - std::lgamma(n + 1) - std::lgamma(t - n + 1) -
                      c * std::log(2.0L)) *
             more;
    }
  }
  return sum;
}

void ExpectPair(double epsilon0, int64_t reports, double epsilon) {
  const long double truth = PairDelta(epsilon0, reports, epsilon);
  const Bounds log_delta = ShuffledProfile(epsilon0, reports).LogDelta(epsilon);
  const std::string what = std::to_string(epsilon0) + " " + std::to_string(reports) + " " +
                           std::to_string(epsilon / epsilon0);
  const long double lower = std::exp(static_cast<long double>(log_delta.lower));
  const long double upper = std::exp(static_cast<long double>(log_delta.upper));
  EXPECT_LE(lower, truth * (1 + 1e-11L)) << what;
  EXPECT_GE(upper, truth * (1 - 1e-11L)) << what;
  EXPECT_NEAR(static_cast<double>(upper / truth), 1, 1e-7) << what;
}

TEST(ShuffledProfile, IsThatOfThePairWhereEveryNumberOfClonesCounts) {
  for (const double epsilon0 : {0.1, 1.0, 3.0}) {
    for (const int reports : {1, 2, 7, 60}) {
      for (const double part : {0.0, 0.2, 0.5, 0.9, 0.999}) {
        ExpectPair(epsilon0, reports, part * epsilon0);
      }
    }
  }
  // At a tiny epsilon0 nearly every other record is a clone: long tails of the fair coin.
  for (const int64_t reports : {1000, 1'000'000}) {
    const double scale = 1e-9 / std::sqrt(static_cast<double>(reports));
    for (const double deviations : {0.0, 0.5, 2.0, 6.0}) {
      ExpectPair(1e-9, reports, deviations * scale);
    }
  }
}

TEST(ShuffledProfile, IsItsOwnReverse) {
  const ShuffledProfile profile(1, 20);
  for (const double epsilon : {0.1, 0.7, 0.99, 1.5}) {
    const double x = std::exp(-epsilon);
    const double reverse = 1 - x + x * std::exp(profile.LogDelta(epsilon).upper);
    EXPECT_NEAR(std::exp(profile.LogDelta(-epsilon).upper), reverse, 1e-9) << epsilon;
  }
}

TEST(ShuffledProfile, RoundsTheNumberOfClonesDownAndLosesLittle) {
  const double epsilon0 = 2;
  const int reports = 3000;
  const ShuffledProfile profile(epsilon0, reports);
  for (const double epsilon : {0.0, 0.05, 0.1, 0.2, 0.4}) {
    const double truth = static_cast<double>(PairDelta(epsilon0, reports, epsilon));
    const double upper = std::exp(profile.LogDelta(epsilon).upper);
    EXPECT_GE(upper, truth * (1 - 1e-9)) << epsilon;
    EXPECT_LE(upper, truth * 1.15) << epsilon << " truth " << truth;
  }
}

TEST(ShuffledProfile, SatisfiesTheLaws) {
  const std::vector<double> epsilons = {-3, -2, -1, -0.5, -0.1, 0, 1e-6, 0.1, 0.5, 1, 1.9, 2, 3};
  for (const int64_t reports :
       {int64_t{1}, int64_t{10}, int64_t{1000}, int64_t{1'000'000}, int64_t{1} << 53}) {
    const ShuffledProfile profile(2, reports);
    ExpectConsistent(profile, epsilons, std::to_string(reports).c_str());
  }
  // More reports hide better.
  for (const double epsilon : {0.01, 0.1, 0.5}) {
    double before = 1;
    for (const int64_t reports : {1, 10, 100, 1000, 100'000, 10'000'000}) {
      const double now = std::exp(ShuffledProfile(2, reports).LogDelta(epsilon).upper);
      EXPECT_LE(now, before * (1 + 1e-6)) << reports;
      before = now;
    }
  }
}

// The multisets of the reports of all records, each with its probability.
using Histogram = std::vector<int>;
std::map<Histogram, double> Shuffle(const std::vector<std::vector<double>>& laws) {
  std::map<Histogram, double> all = {{Histogram(laws[0].size(), 0), 1.0}};
  for (const std::vector<double>& law : laws) {
    std::map<Histogram, double> next;
    for (const auto& [histogram, probability] : all) {
      for (size_t report = 0; report < law.size(); ++report) {
        Histogram counted = histogram;
        ++counted[report];
        next[counted] += probability * law[report];
      }
    }
    all = std::move(next);
  }
  return all;
}

// The laws of reports of randomizers of four records that are epsilon0-DP.
std::vector<std::vector<std::vector<double>>> Randomizers(double epsilon0) {
  const double e = std::exp(epsilon0);
  std::vector<std::vector<std::vector<double>>> all;
  // Randomized response over 2, 3 and 4 values.
  for (const int values : {2, 3, 4}) {
    std::vector<std::vector<double>> laws;
    for (int record = 0; record < 4; ++record) {
      std::vector<double> law(static_cast<size_t>(values), 1 / (e + values - 1));
      law[static_cast<size_t>(record % values)] = e / (e + values - 1);
      laws.push_back(law);
    }
    all.push_back(laws);
  }
  // One that tells some records apart more than others, and often says nothing.
  all.push_back({{0.5, 0.5 * e / (e + 1), 0.5 / (e + 1)},
                 {0.5, 0.5 / (e + 1), 0.5 * e / (e + 1)},
                 {0.5, 0.25, 0.25},
                 {0.6, 0.2, 0.2}});
  return all;
}

TEST(ShuffledProfile, CoversTheReportsOfEveryRandomizerTried) {
  for (const double epsilon0 : {0.5, 1.5}) {
    for (const auto& laws : Randomizers(epsilon0)) {
      for (const int reports : {2, 4, 6}) {
        const ShuffledProfile profile(epsilon0, reports);
        // The other records: all combinations up to order.
        for (int code = 0; code < (1 << (2 * (reports - 1))); ++code) {
          std::vector<std::vector<double>> with = {laws[0]}, replaced = {laws[1]};
          bool sorted = true;
          int last = 0;
          for (int i = 0; i < reports - 1; ++i) {
            const int record = code >> (2 * i) & 3;
            sorted = sorted && record >= last;
            last = record;
            with.push_back(laws[static_cast<size_t>(record)]);
            replaced.push_back(laws[static_cast<size_t>(record)]);
          }
          if (!sorted) continue;
          const std::map<Histogram, double> p = Shuffle(with), q = Shuffle(replaced);
          for (const double part : {0.0, 0.1, 0.3, 0.7}) {
            const double x = std::exp(part * epsilon0);
            double delta = 0;
            for (const auto& [histogram, probability] : p) {
              delta += std::max(0.0, probability - x * q.at(histogram));
            }
            EXPECT_LE(delta, std::exp(profile.LogDelta(part * epsilon0).upper) * (1 + 1e-9))
                << epsilon0 << " " << reports << " " << code << " " << part;
          }
        }
      }
    }
  }
}

TEST(Shuffled, AmplifiesUnderReplacementOnly) {
  const MechanismEvent shuffled = Shuffled{100'000, MechanismEvent(PureDp{1})};
  Question question = Ask(Accountant::kBest, {{shuffled, 1}}, EpsilonAtDelta::FromDelta(1e-6));
  question.relation = NeighboringRelation::kReplaceOne;
  const auto once = Answer(question);
  ASSERT_TRUE(once.ok()) << once.status();
  EXPECT_LT(*once->upper, 0.05);
  EXPECT_GT(*once->upper, 0.005);
  EXPECT_FALSE(once->lower.has_value() && *once->lower > 0);
  question.accountant = Accountant::kRenyi;
  EXPECT_LE(*Answer(question)->upper, 1 + 1e-9);
  question.accountant = Accountant::kBest;
  question.events[0].event =
      MechanismEvent(Shuffled{100'000, MechanismEvent(RandomizedResponse{0.5, 4})});
  EXPECT_LT(*Answer(question)->upper, 0.1);
  for (const MechanismEvent& inner :
       {MechanismEvent(ApproximateDp{1, 1e-9}), MechanismEvent(Gaussian{1}),
        MechanismEvent(SampledWithoutReplacement{10, 1, MechanismEvent(PureDp{1})})}) {
    question.events[0].event = MechanismEvent(Shuffled{100, inner});
    EXPECT_TRUE(absl::IsUnimplemented(Answer(question).status())) << Describe(inner);
  }
  question.events[0].event = shuffled;
  question.relation = NeighboringRelation::kAddOrRemoveOne;
  EXPECT_TRUE(absl::IsUnimplemented(Answer(question).status()));
}

}  // namespace
}  // namespace epsledger::accounting
