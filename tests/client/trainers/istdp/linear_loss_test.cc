#include "client/trainers/istdp/linear_loss.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/istdp/special_values.h"

namespace epsledger::trainers::istdp {
namespace {

LabeledRows Rows(const Eigen::MatrixXd& features, const std::vector<double>& labels) {
  LabeledRows rows{.features = features.sparseView(0, 0),
                   .labels = Eigen::Map<const Eigen::VectorXd>(
                       labels.data(), static_cast<Eigen::Index>(labels.size()))};
  rows.features.makeCompressed();
  return rows;
}

LinearLoss Loss(const LabeledRows& rows, double contribution) {
  absl::StatusOr<LinearLoss> loss = LinearLoss::Create(LogisticMargin{}, rows, contribution);
  EXPECT_TRUE(loss.ok()) << loss.status();
  return *std::move(loss);
}

// The norm as an oracle that shares no code: in long double, scaled.
long double ExactNorm(const Eigen::VectorXd& vector) {
  long double sum = 0;
  for (const double value : vector) sum += static_cast<long double>(value) * value;
  return std::sqrt(sum);
}

TEST(GradientSum, IsTheDerivativeOfTheLossSum) {
  const SparseProblem problem = MakeSparseProblem({.record_count = 300, .feature_count = 30});
  const LinearLoss loss = Loss(problem.rows, 1.0);
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  for (int repeat = 0; repeat < 5; ++repeat) {
    Eigen::VectorXd theta(30);
    for (double& value : theta) value = 3 * normal(generator);
    const Eigen::VectorXd gradient = loss.GradientSum(theta);
    for (int j = 0; j < 30; ++j) {
      constexpr double kDifference = 1e-4;
      Eigen::VectorXd above = theta;
      Eigen::VectorXd below = theta;
      above[j] += kDifference;
      below[j] -= kDifference;
      const double slope = (LossSum(LogisticMargin{}, problem.rows, above) -
                            LossSum(LogisticMargin{}, problem.rows, below)) /
                           (2 * kDifference);
      EXPECT_NEAR(gradient[j], slope, 1e-6);  // worst seen: 2e-8
    }
  }
}

TEST(GradientSum, IsTheSumOfResidualTimesRecord) {
  const LabeledRows rows = Rows((Eigen::MatrixXd(2, 2) << 1, 0, 0.5, -0.5).finished(), {1, 0});
  const Eigen::Vector2d theta(2, 1);
  const double first = 1 / (1 + std::exp(-2.0)) - 1;
  const double second = 1 / (1 + std::exp(-0.5));
  const Eigen::VectorXd gradient = Loss(rows, 1).GradientSum(theta);
  EXPECT_NEAR(gradient[0], first + 0.5 * second, 1e-9);
  EXPECT_NEAR(gradient[1], -0.5 * second, 1e-9);
}

TEST(GradientSum, ClipsALongRecordToTheContributionAndKeepsItsDirection) {
  const LabeledRows rows = Rows((Eigen::MatrixXd(1, 2) << 30, -40).finished(), {1});
  const Eigen::VectorXd gradient = Loss(rows, 2).GradientSum(Eigen::Vector2d::Zero());
  EXPECT_NEAR(gradient[0], -1.2, 1e-9);
  EXPECT_NEAR(gradient[1], 1.6, 1e-9);
  EXPECT_LE(ExactNorm(gradient), 2.0L);
}

TEST(GradientSum, OfARecordThatIsNotFiniteIsZero) {
  for (const double bad : {kNan, kInfinity, -kInfinity, 1.7e308}) {
    const LabeledRows rows =
        Rows((Eigen::MatrixXd(2, 2) << bad, 1.7e308, 0.6, 0.8).finished(), {1, 0});
    const LabeledRows good_only = Rows((Eigen::MatrixXd(1, 2) << 0.6, 0.8).finished(), {0});
    const Eigen::Vector2d theta(0.1, -0.1);
    EXPECT_EQ(Loss(rows, 1).GradientSum(theta), Loss(good_only, 1).GradientSum(theta)) << bad;
  }
}

TEST(GradientSum, AtAnIterateThatIsNotFiniteIsFiniteAndBounded) {
  const LabeledRows rows = Rows((Eigen::MatrixXd(2, 2) << 1, 0, 0.6, 0.8).finished(), {1, 0});
  for (const double bad : {kNan, kInfinity, -kInfinity, 1e308}) {
    const Eigen::VectorXd gradient = Loss(rows, 1).GradientSum(Eigen::Vector2d(bad, -bad));
    EXPECT_TRUE(gradient.allFinite()) << bad;
    EXPECT_LE(gradient.norm(), 2) << bad;
  }
}

RC_GTEST_PROP(GradientSum, OfOneRecordHasNormAtMostTheContribution, ()) {
  const int size = *rc::gen::inRange(1, 20);
  const double contribution = std::exp(*rc::gen::inRange(-230, 230));
  const int magnitude = *rc::gen::inRange(-700, 700);
  Eigen::MatrixXd features(1, size);
  Eigen::VectorXd theta(size);
  for (int j = 0; j < size; ++j) {
    features(0, j) = *rc::gen::inRange(-1000, 1001) * std::exp(magnitude);
    theta[j] = *rc::gen::inRange(-1000, 1001) * 1e-3;
  }
  const double label = *rc::gen::inRange(0, 2);
  const Eigen::VectorXd gradient = Loss(Rows(features, {label}), contribution).GradientSum(theta);
  RC_ASSERT(gradient.allFinite());
  RC_ASSERT(ExactNorm(gradient / contribution) <= 1.0L + 1e-15L);  // the division rounds
}

TEST(GradientSum, MovesByAtMostTheContributionWhenARecordIsTakenAway) {
  // As computed, in floating point: the difference of two sums of 2,000 terms.
  const SparseProblem problem = MakeSparseProblem({.record_count = 2000, .feature_count = 50});
  constexpr double kContribution = 0.05;  // clips most records
  const LinearLoss all = Loss(problem.rows, kContribution);
  const Eigen::VectorXd theta = 0.1 * problem.truth;
  const Eigen::VectorXd sum = all.GradientSum(theta);
  long double largest = 0;
  for (int missing = 0; missing < 2000; missing += 97) {
    std::vector<int> others;
    for (int row = 0; row < 2000; ++row) {
      if (row != missing) others.push_back(row);
    }
    const Eigen::VectorXd without =
        Loss(SelectRows(problem.rows, others), kContribution).GradientSum(theta);
    largest = std::max(largest, ExactNorm(sum - without));
  }
  EXPECT_LE(largest, static_cast<long double>(kContribution));
  EXPECT_GE(largest, 0.9999L * kContribution);
}

TEST(GradientSum, DoesNotDependOnTheOrderOfRecords) {
  const SparseProblem problem = MakeSparseProblem({.record_count = 1000});
  std::vector<int> order(1000);
  for (int row = 0; row < 1000; ++row) order[row] = 999 - row;
  EXPECT_EQ(Loss(problem.rows, 1).GradientSum(problem.truth),
            Loss(SelectRows(problem.rows, order), 1).GradientSum(problem.truth));
}

TEST(GradientSum, IsLipschitzWithAQuarterOfTheSquaredRowNorm) {
  const SparseProblem problem = MakeSparseProblem({.record_count = 500, .feature_count = 40});
  std::mt19937_64 generator(2);
  std::normal_distribution<double> normal;
  for (const double contribution : {1.0, 0.3}) {  // without and with clipping
    const LinearLoss loss = Loss(problem.rows, contribution);
    for (int repeat = 0; repeat < 50; ++repeat) {
      Eigen::VectorXd one(40);
      Eigen::VectorXd other(40);
      for (int j = 0; j < 40; ++j) {
        one[j] = normal(generator);
        other[j] = one[j] + normal(generator);
      }
      const double change = (loss.GradientSum(one) - loss.GradientSum(other)).norm() / 500;
      EXPECT_LE(change, LipschitzConstant(LogisticMargin{}, 1) * (one - other).norm() + 1e-9);
    }
  }
}

const MarginLoss kLosses[] = {LogisticMargin{}, SquaredMargin{}, HuberMargin{.knee = 0.3}};

TEST(GradientSum, OfEveryLossIsTheDerivativeOfItsLossSum) {
  const SparseProblem problem = MakeSparseProblem({.record_count = 200, .feature_count = 20});
  const Eigen::VectorXd theta = 0.05 * problem.truth;
  for (const MarginLoss& margin_loss : kLosses) {
    const LinearLoss loss = *LinearLoss::Create(margin_loss, problem.rows, 5.0);  // clips nothing
    const Eigen::VectorXd gradient = loss.GradientSum(theta);
    for (int j = 0; j < 20; ++j) {
      const Eigen::VectorXd step = Eigen::VectorXd::Unit(20, j) * 1e-5;
      const double slope = (LossSum(margin_loss, problem.rows, theta + step) -
                            LossSum(margin_loss, problem.rows, theta - step)) /
                           2e-5;
      EXPECT_NEAR(gradient[j], slope, 1e-4) << MarginLossName(margin_loss);
    }
  }
}

RC_GTEST_PROP(GradientSum, OfOneRecordAndAnyLossHasNormAtMostTheContribution, ()) {
  const int size = *rc::gen::inRange(1, 20);
  const double contribution = std::exp(*rc::gen::inRange(-200, 200));
  const int magnitude = *rc::gen::inRange(-700, 700);
  Eigen::MatrixXd features(1, size);
  Eigen::VectorXd theta(size);
  for (int j = 0; j < size; ++j) {
    features(0, j) = *rc::gen::inRange(-1000, 1001) * std::exp(magnitude);
    theta[j] = *rc::gen::inRange(-1000, 1001) * 1e3;
  }
  const double label = *rc::gen::inRange(0, 2);
  for (const MarginLoss& margin_loss : kLosses) {
    const Eigen::VectorXd gradient =
        LinearLoss::Create(margin_loss, Rows(features, {label}), contribution)->GradientSum(theta);
    RC_ASSERT(gradient.allFinite());
    RC_ASSERT(ExactNorm(gradient / contribution) <= 1.0L + 1e-15L);
  }
}

TEST(GradientSum, OfABatchIsTheSumOfItsRecords) {
  const SparseProblem problem = MakeSparseProblem({.record_count = 50, .feature_count = 20});
  const LinearLoss loss = Loss(problem.rows, 1);
  const Eigen::VectorXd theta = 0.1 * problem.truth;
  const Batch batch = {0, 7, 49};
  EXPECT_EQ(loss.GradientSum(theta, batch),
            Loss(SelectRows(problem.rows, batch), 1).GradientSum(theta));
  EXPECT_EQ(loss.GradientSum(theta, Batch()), Eigen::VectorXd::Zero(20));
}

TEST(ComparisonSum, IsTheScaledDifferenceOfLossSums) {
  const SparseProblem problem = MakeSparseProblem({.record_count = 300, .feature_count = 20});
  const Eigen::VectorXd theta = 0.1 * problem.truth;
  const std::vector<Eigen::VectorXd> candidates = {0.5 * problem.truth, theta,
                                                   Eigen::VectorXd::Ones(20)};
  for (const MarginLoss& margin_loss : {kLosses[0], kLosses[2]}) {
    // A contribution of the largest residual clips nothing.
    const LinearLoss loss =
        *LinearLoss::Create(margin_loss, problem.rows, LargestResidual(margin_loss));
    const Eigen::VectorXd sum = loss.ComparisonSum(theta, candidates, nullptr);
    for (int j = 0; j < 3; ++j) {
      const double difference = LossSum(margin_loss, problem.rows, candidates[j]) -
                                LossSum(margin_loss, problem.rows, theta);
      EXPECT_NEAR(sum[j] * loss.contribution() * (candidates[j] - theta).norm(), difference, 1e-6);
    }
    EXPECT_EQ(sum[1], 0);  // a candidate at theta
  }
}

RC_GTEST_PROP(ComparisonSum, OfOneRecordLiesInMinusOneToOne, ()) {
  const int size = *rc::gen::inRange(1, 6);
  Eigen::MatrixXd features(1, size);
  Eigen::VectorXd theta(size);
  std::vector<Eigen::VectorXd> candidates(3, Eigen::VectorXd(size));
  for (int j = 0; j < size; ++j) {
    features(0, j) = *rc::gen::inRange(-1000, 1001) * 1e-2;
    theta[j] = *rc::gen::inRange(-1000, 1001) * 1e-2;
    for (Eigen::VectorXd& candidate : candidates) {
      candidate[j] = *rc::gen::inRange(-1000, 1001) * 1e-2;
    }
  }
  for (const MarginLoss& margin_loss : kLosses) {
    const Eigen::VectorXd terms = LinearLoss::Create(margin_loss, Rows(features, {1}), 0.5)
                                      ->ComparisonSum(theta, candidates, nullptr);
    RC_ASSERT(terms.cwiseAbs().maxCoeff() <= 1);
    RC_ASSERT(ExactNorm(terms) <= std::sqrt(3.0L));
  }
}

TEST(ComparisonSum, OfARecordThatIsNotFiniteIsZero) {
  const std::vector<Eigen::VectorXd> candidates = {Eigen::Vector2d(1, 1)};
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    const LabeledRows rows = Rows((Eigen::MatrixXd(2, 2) << bad, 1, 0.6, 0.8).finished(), {1, 0});
    const LabeledRows good_only = Rows((Eigen::MatrixXd(1, 2) << 0.6, 0.8).finished(), {0});
    const Eigen::Vector2d theta(0.1, -0.1);
    EXPECT_EQ(Loss(rows, 1).ComparisonSum(theta, candidates, nullptr),
              Loss(good_only, 1).ComparisonSum(theta, candidates, nullptr));
    EXPECT_EQ(Loss(rows, 1).ExactLossSum(theta), Loss(good_only, 1).ExactLossSum(theta));
  }
}

TEST(LossSum, IsStableForLargeMargins) {
  const LabeledRows rows = Rows((Eigen::MatrixXd(2, 1) << 1, 1).finished(), {1, 0});
  EXPECT_NEAR(LossSum(LogisticMargin{}, rows, Eigen::VectorXd::Zero(1)), 2 * std::log(2), 1e-15);
  EXPECT_DOUBLE_EQ(LossSum(LogisticMargin{}, rows, Eigen::VectorXd::Constant(1, 1000)), 1000);
  EXPECT_DOUBLE_EQ(LossSum(LogisticMargin{}, rows, Eigen::VectorXd::Constant(1, -1000)), 1000);
}

TEST(LinearLoss, RefusesWhatIsOutsideTheDomain) {
  const LabeledRows rows = Rows(Eigen::MatrixXd::Ones(2, 1), {1, 0});
  for (const double contribution : {0.0, -1.0, 1e-101, 1e101, kNan, kInfinity}) {
    EXPECT_EQ(LinearLoss::Create(LogisticMargin{}, rows, contribution).status().code(),
              absl::StatusCode::kInvalidArgument)
        << contribution;
  }
  for (const double label : {-1.0, 0.5, 2.0, kNan}) {
    EXPECT_EQ(LinearLoss::Create(LogisticMargin{}, Rows(Eigen::MatrixXd::Ones(1, 1), {label}), 1)
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(LinearLoss::Create(LogisticMargin{}, Rows(Eigen::MatrixXd::Ones(2, 1), {1}), 1)
                .status()
                .message(),
            "labels: got 1, want one for each of the 2 rows");
}

TEST(LinearLoss, OfNoRecordsHasAZeroGradient) {
  const LinearLoss loss = Loss(Rows(Eigen::MatrixXd(0, 3), {}), 1);
  EXPECT_EQ(loss.GradientSum(Eigen::Vector3d::Ones()), Eigen::Vector3d::Zero());
}

}  // namespace
}  // namespace epsledger::trainers::istdp
