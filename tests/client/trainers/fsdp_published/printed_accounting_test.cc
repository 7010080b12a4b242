#include "client/trainers/fsdp_published/printed_accounting.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

#include "accounting/answer.h"

namespace epsledger::trainers::fsdp_published {
namespace {

// E_{u0}[(u / u0)^n] for whole n, a binomial sum; E_u[(u / u0)^order] is n = order + 1. The terms
// of a sum with probabilities as weights, less 1, so that nothing cancels.
double ClosedMoment(double q, double sigma, int order) {
  const long double variance = static_cast<long double>(sigma) * sigma;
  const int n = order + 1;
  long double binomial = 1;
  long double excess = 0;
  for (int k = 0; k <= n; ++k) {
    excess += binomial * std::pow(1.0L - q, static_cast<long double>(n - k)) *
              std::pow(static_cast<long double>(q), static_cast<long double>(k)) *
              std::expm1(k * (k - 1) / (2 * variance));
    binomial = binomial * (n - k) / (k + 1);
  }
  return static_cast<double>(std::log1p(excess));
}

TEST(LogMoment, IsTheClosedFormAtWholeOrders) {
  // For these the second expectation is the larger one.
  for (const double q : {0.01, 0.3}) {
    for (const double sigma : {0.8, 4.0}) {
      for (const int order : {1, 2, 7, 32}) {
        const double want = ClosedMoment(q, sigma, order);
        EXPECT_NEAR(LogMoment({q, sigma}, order), want, 1e-9 * (1 + want))
            << q << " " << sigma << " " << order;
      }
    }
  }
}

TEST(LogMoment, OfAQueryWithoutSamplingIsTheGaussians) {
  EXPECT_NEAR(LogMoment({1, 2}, 3), 3 * 4 / (2 * 4.0), 1e-9);
  EXPECT_NEAR(LogMoment({1, 2}, 0.5), 0.5 * 1.5 / (2 * 4.0), 1e-9);
}

TEST(LogMoment, IsNanOutsideItsDomain) {
  EXPECT_TRUE(std::isnan(LogMoment({0, 1}, 1)));
  EXPECT_TRUE(std::isnan(LogMoment({0.5, 0}, 1)));
  EXPECT_TRUE(std::isnan(LogMoment({0.5, 1}, -1)));
  EXPECT_TRUE(std::isnan(LogMoment({0.5, 1}, INFINITY)));
}

// Erratum 13, equation (12): q = .01, sigma = 8, 8 coordinates, order 4.
TEST(CoordinatesLogMoment, AsPrintedIsBelowTheTruth) {
  const SampledQuery coordinate{0.01, 8};
  const auto moment = [&](Coordinates combination) {
    return CoordinatesLogMoment(coordinate, 8, 4, combination);
  };
  EXPECT_NEAR(moment(Coordinates::kJoint), 0.00013, 5e-6);
  EXPECT_NEAR(moment(Coordinates::kPrinted), 0.00004, 5e-6);
  EXPECT_NEAR(moment(Coordinates::kHoelder), 0.00084, 5e-6);
  EXPECT_LT(moment(Coordinates::kPrinted), moment(Coordinates::kJoint));
  EXPECT_LT(moment(Coordinates::kJoint), moment(Coordinates::kHoelder));
}

// Erratum 14, equation (13). With equal noise the minimum over the shares is at 1/2, since moments
// are convex in the order: so at order 4 of 8 coordinates (12) is taken at 4 / (1/2) / 8 = 1, and
// its correction at 4 / (1/2) * 8 = 64.
TEST(CombinedCoordinatesLogMoment, AsPrintedIsBelowTheTruth) {
  const TwoQueries coordinates{0.01, 8, 8};
  const auto moment = [&](TwoQueriesOfCoordinates combination) {
    return CombinedCoordinatesLogMoment(coordinates, 8, 4, combination);
  };
  const double printed = moment(TwoQueriesOfCoordinates::kPrinted);
  const double hoelder = moment(TwoQueriesOfCoordinates::kHoelder);
  const double joint = moment(TwoQueriesOfCoordinates::kJoint);
  EXPECT_NEAR(printed, 8 * 8 * ClosedMoment(0.01, 8, 1), 1e-7);
  EXPECT_NEAR(hoelder, ClosedMoment(0.01, 8, 64), 1e-8);
  // 16 coordinates in all.
  EXPECT_NEAR(joint, ClosedMoment(0.01, 8 / 4.0, 4), 1e-8);
  EXPECT_LT(printed, joint);
  EXPECT_LT(joint, hoelder);
}

TEST(CombinedCoordinatesLogMoment, OfUnequalNoiseIsAtMostWhatEachShareGives) {
  const TwoQueries coordinates{0.02, 4, 6};
  const double hoelder =
      CombinedCoordinatesLogMoment(coordinates, 2, 3, TwoQueriesOfCoordinates::kHoelder);
  const double printed =
      CombinedCoordinatesLogMoment(coordinates, 2, 3, TwoQueriesOfCoordinates::kPrinted);
  // Shares at which all orders are whole: of (13) corrected 2 * 3 / xi, as printed 3 / (2 xi).
  for (const double share : {0.25, 0.5, 0.75}) {
    const double other = 1 - share;
    EXPECT_LE(hoelder, share * ClosedMoment(0.02, 4, static_cast<int>(6 / share)) +
                           other * ClosedMoment(0.02, 6, static_cast<int>(6 / other)) + 1e-8);
  }
  EXPECT_LE(printed, 4 * (ClosedMoment(0.02, 4, 3) + ClosedMoment(0.02, 6, 3)) / 2 + 1e-8);
  const double truth = ClosedMoment(0.02, 1 / std::sqrt(2 * (1 / 16.0 + 1 / 36.0)), 3);
  EXPECT_NEAR(CombinedCoordinatesLogMoment(coordinates, 2, 3, TwoQueriesOfCoordinates::kJoint),
              truth, 1e-8);
  EXPECT_LT(printed, truth);
  EXPECT_LT(truth, hoelder);
}

TEST(CombinedCoordinatesLogMoment, OfOneCoordinateIsEquation11) {
  const TwoQueries coordinates{0.01, 4, 5};
  const double want = CombinedLogMoment(coordinates, 6, Combination::kHoelder);
  EXPECT_EQ(CombinedCoordinatesLogMoment(coordinates, 1, 6, TwoQueriesOfCoordinates::kPrinted),
            want);
  EXPECT_EQ(CombinedCoordinatesLogMoment(coordinates, 1, 6, TwoQueriesOfCoordinates::kHoelder),
            want);
}

// Erratum 15: q = .01, sigma_V = sigma_Phi = 4, 2500 steps, delta = 1e-5.
TEST(PrintedEpsilon, SideBySideWithTheTruth) {
  const TwoQueries queries{0.01, 4, 4};
  const double sum = PrintedEpsilon(queries, 2500, 1e-5, Combination::kSum);
  const double joint = PrintedEpsilon(queries, 2500, 1e-5, Combination::kJoint);
  const double hoelder = PrintedEpsilon(queries, 2500, 1e-5, Combination::kHoelder);
  EXPECT_NEAR(sum, 0.885, 5e-4);
  EXPECT_NEAR(joint, 0.908, 5e-4);
  EXPECT_NEAR(hoelder, 1.250, 5e-4);
  // Adding moments of queries that share a batch is below their joint moment: it proves nothing.
  EXPECT_LT(sum, joint);

  // What is true, by the ledger's own mathematics, of the one event that the step is.
  accounting::Question question;
  question.accountant = accounting::Accountant::kPld;
  question.events = {
      {accounting::MechanismEvent(accounting::PoissonSampled{
           0.01, accounting::MechanismEvent(accounting::Gaussian{4 / std::sqrt(2.0)})}),
       2500}};
  question.query = accounting::EpsilonAtDelta::FromDelta(1e-5);
  const auto answer = accounting::Answer(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_NEAR(*answer->upper, 0.665266, 1e-3);
  EXPECT_LE(*answer->lower, 0.6653);
  EXPECT_LT(*answer->upper, sum);
}

// (13) and (11) at equal noise, by the general functions that minimize over shares, and Theorem 1.
TEST(PrintedAccountant, IsThePrintedEquationsPutTogether) {
  const PublishedBudget budget{.epsilon = 2, .delta = 1e-5};
  const double sigma = std::sqrt(2 * std::log(1.25e5)) / 2;
  const TwoQueries queries{0.05, sigma, sigma};
  const PrintedAccountant accountant(budget, 0.05, {3, 8});
  double by_rows = INFINITY;
  double by_releases = INFINITY;
  for (int order = 1; order <= 64; ++order) {
    double rows = 0;
    for (const int d : {3, 8}) {
      rows += CombinedCoordinatesLogMoment(queries, d, order, TwoQueriesOfCoordinates::kPrinted);
    }
    by_rows = std::min(by_rows, (20 * rows + std::log(1e5)) / order);
    const double releases = 2 * CombinedLogMoment(queries, order, Combination::kHoelder);
    by_releases = std::min(by_releases, (20 * releases + std::log(1e5)) / order);
  }
  EXPECT_NEAR(accountant.Epsilon(20), by_rows, 1e-6 * by_rows);
  EXPECT_NEAR(accountant.EpsilonOfWholeReleases(20), by_releases, 1e-6 * by_releases);
}

// For one row, (12) changes nothing.
TEST(PrintedAccountant, OfOneRowIsEquation11) {
  const PrintedAccountant accountant({.epsilon = 3, .delta = 1e-5}, 0.02, {1});
  EXPECT_DOUBLE_EQ(accountant.Epsilon(10), accountant.EpsilonOfWholeReleases(10));
}

TEST(PrintedAccountant, GrowsWithStepsRowsAndLayersAndIsInfiniteOutsideItsDomain) {
  const PublishedBudget budget{.epsilon = 2, .delta = 1e-5};
  const PrintedAccountant small(budget, 0.05, {10});
  EXPECT_LT(small.Epsilon(1), small.Epsilon(2));
  EXPECT_LT(small.Epsilon(5), PrintedAccountant(budget, 0.05, {20}).Epsilon(5));
  EXPECT_LT(small.Epsilon(5), PrintedAccountant(budget, 0.05, {10, 10}).Epsilon(5));
  EXPECT_EQ(PrintedAccountant(budget, 0, {10}).Epsilon(1), INFINITY);
}

// What the printed number is worth: of a release with noise for d rows of one record, each with the
// multiplier of (8), the exact moments say more. (And the published releases have no such bound.)
TEST(PrintedAccountant, IsBelowTheMomentsOfTheQueriesItIsOf) {
  constexpr int kRows = 64;
  const PublishedBudget budget{.epsilon = 2, .delta = 1e-5};
  const double sigma = std::sqrt(2 * std::log(1.25e5)) / 2;
  const PrintedAccountant accountant(budget, 0.01, {kRows});
  double exact = INFINITY;
  for (int order = 1; order <= 64; ++order) {
    const double moment = CombinedCoordinatesLogMoment({0.01, sigma, sigma}, kRows, order,
                                                       TwoQueriesOfCoordinates::kJoint);
    exact = std::min(exact, (100 * moment + std::log(1e5)) / order);
  }
  EXPECT_LT(accountant.Epsilon(100), exact);
}

// Table 4 of the paper: "4.4" is a noise multiplier of sqrt(2 ln(1.25 / delta)) / 4.4 = 1.101, and
// the row of DP-SGD is one query with q = 250 / 60000: 25 epochs of 240 steps and 50.
TEST(PrintedEpsilon, OfOneQueryReproducesTable4) {
  const double sigma = std::sqrt(2 * std::log(1.25e5)) / 4.4;
  const TwoQueries one{250.0 / 60000, sigma, 1e6};
  EXPECT_NEAR(PrintedEpsilon(one, 25 * 240, 1e-5, Combination::kJoint), 1.93, 0.01);
  EXPECT_NEAR(PrintedEpsilon(one, 50 * 240, 1e-5, Combination::kJoint), 2.71, 0.01);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
