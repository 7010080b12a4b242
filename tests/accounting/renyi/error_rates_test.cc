#include "accounting/renyi/error_rates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// D_a of two outcomes of probabilities p, 1 - p and q, 1 - q.
double BinaryDivergence(double order, double p, double q) {
  return std::log(std::pow(p, order) * std::pow(q, 1 - order) +
                  std::pow(1 - p, order) * std::pow(1 - q, 1 - order)) /
         (order - 1);
}
double BothDivergences(double order, double p, double q) {
  return std::max(BinaryDivergence(order, p, q), BinaryDivergence(order, q, p));
}
bool IsAt(double order, double at) { return std::abs(order - at) < 1e-9 * at; }

// 10 y^2 + (1 - y)^2 / .9 = e at y = 1 - beta.
TEST(ErrorRates, AreTheRootOfAQuadraticAtOrderTwo) {
  const double a = 10 + 1 / .9, b = -2 / .9, c = 1 / .9 - std::exp(1.0);
  const double truth = 1 - (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
  const auto at_two = [](double order) { return IsAt(order, 2) ? 1.0 : kNone; };
  const Conversion bound = TypeTwoErrorFromRenyi(at_two, true, 0, .1);
  EXPECT_LE(bound.value, truth);
  EXPECT_NEAR(bound.value, truth, 1e-12);
  EXPECT_NEAR(bound.order, 2, 1e-9);
}

// A pair of two outcomes has the errors alpha and beta. Its divergence at one order proves beta and
// no more; all of its divergences prove no more either.
TEST(ErrorRates, AreThoseOfAPairOfTwoOutcomes) {
  for (const double alpha : {1e-9, .001, .1, .5, .9}) {
    for (const double share : {1e-6, .01, .3, .9}) {
      const double beta = share * (1 - alpha);
      for (const bool both : {false, true}) {
        const auto divergence = [&](double order) {
          return both ? BothDivergences(order, 1 - beta, alpha)
                      : BinaryDivergence(order, 1 - beta, alpha);
        };
        // The search passes 1 + e^0 = 2.
        const auto at_two = [&](double order) { return IsAt(order, 2) ? divergence(2) : kNone; };
        const double one = TypeTwoErrorFromRenyi(at_two, both, 0, alpha).value;
        EXPECT_LE(one, beta * (1 + 1e-9) + 1e-13) << alpha << " " << beta << " " << both;
        if (!both || divergence(2) == BinaryDivergence(2, 1 - beta, alpha)) {
          EXPECT_GE(one, beta * (1 - 1e-7) - 1e-7) << alpha << " " << beta << " " << both;
        }
        EXPECT_LE(TypeTwoErrorFromRenyi(divergence, both, 0, alpha).value, beta * (1 + 1e-6) + 1e-9)
            << alpha << " " << beta << " " << both;
      }
    }
  }
}

TEST(ErrorRates, AreBelowThoseOfTheGaussian) {
  for (const double mu : {.01, .5, 1.0, 4.0, 30.0}) {
    for (const double alpha : {1e-12, 1e-3, .1, .5, .99}) {
      // Phi(Phi^-1(1 - alpha) - mu) by its own accountant.
      Question question = AskEpsilon(Accountant::kGaussian, Gaussian{1 / mu}, 1, 1e-5);
      question.query = TypeTwoErrorAt{alpha};
      const auto truth = Answer(question);
      ASSERT_TRUE(truth.ok()) << truth.status();
      const auto divergence = [&](double order) { return .5 * order * mu * mu; };
      const double bound = TypeTwoErrorFromRenyi(divergence, true, 0, alpha).value;
      EXPECT_LE(bound, *truth->upper) << mu << " " << alpha;
      if (mu <= 1) {
        EXPECT_GE(bound, *truth->lower - .12) << mu << " " << alpha;
      }
    }
  }
}

TEST(ErrorRates, EndWhereTheyShould) {
  const auto nothing = [](double) { return 0.0; };
  const auto everything = [](double) { return kNone; };
  const auto some = [](double order) { return order; };
  EXPECT_NEAR(TypeTwoErrorFromRenyi(nothing, true, 0, .25).value, .75, 1e-9);
  EXPECT_EQ(TypeTwoErrorFromRenyi(everything, true, 0, .25).value, 0);
  EXPECT_EQ(TypeTwoErrorFromRenyi(some, true, 0, 1).value, 0);
  EXPECT_NEAR(TypeTwoErrorFromRenyi(some, true, 0, 0).value, 1, 1e-12);
  // All is revealed with probability delta: f_{0, delta} = 1 - delta - alpha ([DRS19] eq. 5).
  EXPECT_NEAR(TypeTwoErrorFromRenyi(nothing, true, .1, .25).value, .65, 1e-9);
  EXPECT_LE(TypeTwoErrorFromRenyi(nothing, true, .1, .25).value, .65);
  EXPECT_EQ(TypeTwoErrorFromRenyi(nothing, true, 1, .25).value, 0);
  EXPECT_EQ(TypeTwoErrorFromRenyi(nothing, true, .1, .95).value, 0);
}

// Deltas from the same divergences prove less.
TEST(ErrorRates, OfACurveAreAboveWhatDeltasProve) {
  Question question = AskEpsilon(Accountant::kRenyi, RenyiCurve{{2}, {1}}, 1, 1e-5);
  question.query = TypeTwoErrorAt{.1};
  const auto beta = Answer(question);
  ASSERT_TRUE(beta.ok()) << beta.status();
  for (const double epsilon : {.5, 1.0, 1.5, 2.0, 2.5}) {
    question.query = DeltaAtEpsilon{epsilon};
    const auto delta = Answer(question);
    ASSERT_TRUE(delta.ok()) << delta.status();
    EXPECT_GT(*beta->lower, 1 - *delta->upper - .1 * std::exp(epsilon)) << epsilon;
  }
}

}  // namespace
}  // namespace epsledger::accounting
