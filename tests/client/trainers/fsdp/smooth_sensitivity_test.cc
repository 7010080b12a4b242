// What the README's theorem 2 says of smooth sensitivity: it is at least e^-beta times the global
// sensitivity of a sum of clipped vectors, for every data set, and in many dimensions beta is
// small.

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace epsledger::trainers::fsdp {
namespace {

// Records have one of five vectors of norm at most C = 1, in one dimension and in halves.
constexpr std::array<int, 5> kRecordHalves = {-2, -1, 0, 1, 2};
constexpr int kRecordCount = 3;

// All data sets of three records, each an index into kRecordHalves.
std::vector<std::array<int, kRecordCount>> AllDataSets() {
  std::vector<std::array<int, kRecordCount>> all;
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) {
      for (int c = 0; c < 5; ++c) all.push_back({a, b, c});
    }
  }
  return all;
}

// Replace-one: the largest change of the sum by one other record, in halves.
int LocalSensitivity(const std::array<int, kRecordCount>& data) {
  int largest = 0;
  for (const int record : data) {
    for (const int other : kRecordHalves) {
      largest = std::max(largest, std::abs(kRecordHalves[static_cast<size_t>(record)] - other));
    }
  }
  return largest;
}

int Distance(const std::array<int, kRecordCount>& a, const std::array<int, kRecordCount>& b) {
  int unequal = 0;
  for (size_t i = 0; i < kRecordCount; ++i) unequal += a[i] != b[i];
  return unequal;
}

// The smallest beta-smooth bound, [NRS07]'s maximum of LS(D') e^(-beta distance), in units of C.
double SmoothSensitivity(const std::array<int, kRecordCount>& data, double beta) {
  double largest = 0;
  for (const auto& other : AllDataSets()) {
    largest =
        std::max(largest, LocalSensitivity(other) / 2.0 * std::exp(-beta * Distance(data, other)));
  }
  return largest;
}

TEST(SmoothSensitivity, OfAClippedSumIsNearlyTheGlobalOneForEveryDataSet) {
  constexpr double kGlobal = 2;
  for (const double beta : {1e-5, 0.0869, 0.5}) {
    double smallest = kGlobal;
    for (const auto& data : AllDataSets()) {
      const double smooth = SmoothSensitivity(data, beta);
      EXPECT_GE(smooth, std::exp(-beta) * kGlobal * (1 - 1e-15));
      EXPECT_LE(smooth, kGlobal);
      EXPECT_GE(smooth, LocalSensitivity(data) / 2.0);
      smallest = std::min(smallest, smooth);
    }
    // Attained where all gradients are 0, which has half the local sensitivity.
    EXPECT_EQ(LocalSensitivity({2, 2, 2}), 2);
    EXPECT_DOUBLE_EQ(SmoothSensitivity({2, 2, 2}, beta), smallest);
    EXPECT_DOUBLE_EQ(smallest, std::exp(-beta) * kGlobal);
    // Two neighbors at the full distance with one scale: they are told apart as by plain noise.
    EXPECT_EQ(SmoothSensitivity({0, 2, 2}, beta), kGlobal);
    EXPECT_EQ(SmoothSensitivity({4, 2, 2}, beta), kGlobal);
  }
}

TEST(SmoothSensitivity, UnderAddOrRemoveOneTheLocalSensitivityIsTheGlobalOne) {
  // A sum moves by the vector of the record that is added, whatever else it contains.
  for (const auto& data : AllDataSets()) {
    int largest = 0;
    for (const int added : kRecordHalves) largest = std::max(largest, std::abs(added));
    for (const int removed : data) {
      largest = std::max(largest, std::abs(kRecordHalves[static_cast<size_t>(removed)]));
    }
    EXPECT_EQ(largest, 2);  // C in halves
  }
}

// The largest ratio of variances of two Gaussian noises that theorem 2 allows at delta < 1/2.
double LargestVarianceRatio(double dimensions, double epsilon) {
  const double x = epsilon + std::log(4);
  return (1 + 2 * std::sqrt(x / dimensions) + 2 * x / dimensions) /
         (1 - 2 * std::sqrt(std::log(4) / dimensions));
}

// delta at epsilon, from below, of N(0, ratio I) against N(0, I): exact chi-squared probabilities
// of ||x||^2 above a threshold.
double DeltaOfVarianceRatio(double ratio, double dimensions, double epsilon, double threshold) {
  const auto above = [dimensions](double t) { return boost::math::gamma_q(dimensions / 2, t / 2); };
  return above(threshold / ratio) - std::exp(epsilon) * above(threshold);
}

TEST(SmoothSensitivity, InManyDimensionsNoiseOfTwoScalesIsToldApart) {
  constexpr double kDimensions = 784 * 50;
  for (const double epsilon : {1.0, 2.0, 8.0}) {
    const double ratio = LargestVarianceRatio(kDimensions, epsilon);
    const double x = epsilon + std::log(4);
    const double threshold = kDimensions + 2 * std::sqrt(kDimensions * x) + 2 * x;
    EXPECT_GE(DeltaOfVarianceRatio(ratio, kDimensions, epsilon, threshold), 0.5) << epsilon;
    // So beta is at most half its logarithm: a saving of at most this share of the noise.
    EXPECT_LT(1 - std::exp(-std::log(ratio) / 2), 0.022) << epsilon;
  }
  EXPECT_NEAR(std::log(LargestVarianceRatio(kDimensions, 2)) / 2, 0.0153, 1e-4);
  // The paper's beta at epsilon = 2 is far outside.
  EXPECT_GT(2 / (2 * std::log(1e5)), 5 * std::log(LargestVarianceRatio(kDimensions, 2)) / 2);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
