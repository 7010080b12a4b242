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

double LogBinomial(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// H_x of the pair, outcome by outcome, from its definition.
double PairDelta(double epsilon0, int reports, double epsilon) {
  const double q = 1 / (std::exp(epsilon0) + 1), x = std::exp(epsilon);
  const double others = reports - 1, clone = std::exp(-epsilon0);
  double sum = 0;
  for (int c = 0; c <= reports - 1; ++c) {
    const double clones =
        std::exp(LogBinomial(others, c) - c * epsilon0 + (others - c) * std::log1p(-clone));
    const auto fair = [&](int a) {
      return a < 0 || a > c ? 0 : std::exp(LogBinomial(c, a) - c * std::log(2.0));
    };
    for (int first = 0; first <= c + 1; ++first) {
      const double p = (1 - q) * fair(first - 1) + q * fair(first);
      const double r = q * fair(first - 1) + (1 - q) * fair(first);
      sum += clones * std::max(0.0, p - x * r);
    }
  }
  return sum;
}

TEST(ShuffledProfile, IsThatOfThePairWhereEveryNumberOfClonesCounts) {
  for (const double epsilon0 : {0.1, 1.0, 3.0}) {
    for (const int reports : {1, 2, 7, 40}) {
      const ShuffledProfile profile(epsilon0, reports);
      for (const double part : {-1.5, -0.9, -0.3, 0.0, 0.2, 0.5, 0.9, 0.999, 1.0}) {
        const double epsilon = part * epsilon0;
        const double truth = PairDelta(epsilon0, reports, epsilon);
        const Bounds log_delta = profile.LogDelta(epsilon);
        const std::string what =
            std::to_string(epsilon0) + " " + std::to_string(reports) + " " + std::to_string(part);
        EXPECT_LE(std::exp(log_delta.lower), truth + 1e-12) << what;
        EXPECT_GE(std::exp(log_delta.upper), truth - 1e-12) << what;
        EXPECT_NEAR(std::exp(log_delta.upper), truth, 1e-8) << what;
      }
    }
  }
}

TEST(ShuffledProfile, RoundsTheNumberOfClonesDownAndLosesLittle) {
  const double epsilon0 = 2;
  const int reports = 3000;
  const ShuffledProfile profile(epsilon0, reports);
  for (const double epsilon : {0.0, 0.05, 0.1, 0.2, 0.4}) {
    const double truth = PairDelta(epsilon0, reports, epsilon);
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
