#include "accounting/renyi/divergence_chords.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// Two outcomes of probabilities .7, .3 and .4, .6.
double BinaryDivergence(double order) {
  return std::log(std::pow(.7, order) * std::pow(.4, 1 - order) +
                  std::pow(.3, order) * std::pow(.6, 1 - order)) /
         (order - 1);
}

TEST(DivergenceChords, AreAboveTheDivergenceAndNear) {
  int asked = 0;
  DivergenceChords gaussian([&](double order) {
    ++asked;
    return 0.125 * order;
  });
  DivergenceChords binary(BinaryDivergence);
  for (double order = 1.01; order < 60; order *= 1.0003) {
    EXPECT_GE(gaussian.At(order), 0.125 * order);
    EXPECT_LE(gaussian.At(order), 0.125 * order * (1 + 3e-5));
    EXPECT_GE(binary.At(order), BinaryDivergence(order) * (1 - 1e-12));
    EXPECT_LE(binary.At(order), BinaryDivergence(order) * (1 + 3e-5));
  }
  // Thirteen octaves of 64 orders.
  EXPECT_LE(asked, 64 * 13);
}

TEST(DivergenceChords, AskForTheOrderItselfWhereAChordHasNoEnd) {
  DivergenceChords ends(
      [](double order) { return order < 8.001 ? order : std::numeric_limits<double>::infinity(); });
  EXPECT_GE(ends.At(7.5), 7.5);
  EXPECT_LT(ends.At(7.5), 7.51);
  EXPECT_EQ(ends.At(8), 8);
  EXPECT_EQ(ends.At(9), std::numeric_limits<double>::infinity());
  EXPECT_EQ(DivergenceChords([](double) { return 0.0; }).At(3), 0);
  EXPECT_EQ(DivergenceChords([](double) { return 0.25; }).At(1 + 0x1p-45), 0.25);
}

}  // namespace
}  // namespace epsledger::accounting
