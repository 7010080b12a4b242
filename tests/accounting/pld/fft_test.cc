#include "accounting/pld/fft.h"

#include "gtest/gtest.h"

#include <cmath>
#include <complex>
#include <random>
#include <vector>

namespace epsledger::accounting {
namespace {

using Complex = std::complex<double>;
using Wide = std::complex<long double>;

// The definition, in 64-bit mantissas with every angle reduced exactly.
std::vector<Wide> Definition(const std::vector<Complex>& x) {
  const size_t n = x.size();
  const long double turn = 2 * std::acos(-1.0L) / static_cast<long double>(n);
  std::vector<Wide> result(n);
  for (size_t k = 0; k < n; ++k) {
    Wide sum = 0;
    for (size_t j = 0; j < n; ++j) {
      const long double angle = turn * static_cast<long double>((j * k) % n);
      sum += Wide(x[j]) * Wide(std::cos(angle), std::sin(angle));
    }
    result[k] = sum;
  }
  return result;
}

double Norm(const std::vector<Complex>& x) {
  double squares = 0;
  for (const Complex& value : x) squares += std::norm(value);
  return std::sqrt(squares);
}

class FourierTransformTest : public testing::TestWithParam<size_t> {};

TEST_P(FourierTransformTest, StaysWithinItsStatedErrorOfTheDefinition) {
  const size_t n = GetParam();
  std::mt19937_64 random(n);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const FourierTransform transform(n);
  for (int shape = 0; shape < 3; ++shape) {
    std::vector<Complex> x(n);
    for (size_t j = 0; j < n; ++j) {
      const double decay = shape == 0 ? 1 : std::exp(-0.05 * static_cast<double>(j));
      x[j] = decay * Complex(uniform(random), shape == 2 ? 0 : uniform(random));
    }
    const std::vector<Complex> computed = transform.CharacteristicFunction(x);
    const std::vector<Wide> exact = Definition(x);
    long double squares = 0;
    for (size_t k = 0; k < n; ++k) squares += std::norm(Wide(computed[k]) - exact[k]);
    const double bound = transform.RelativeError() * std::sqrt(static_cast<double>(n)) * Norm(x);
    EXPECT_LE(static_cast<double>(std::sqrt(squares)), bound);
    // The bound is a bound, not a wild guess.
    if (n >= 64) {
      EXPECT_GE(static_cast<double>(std::sqrt(squares)), bound * 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FourierTransformTest,
                         testing::Values(2, 4, 8, 16, 32, 64, 128, 512, 1024, 2048));

TEST(FourierTransformTest, OfOnePointOfMassIsItsPhase) {
  const FourierTransform transform(64);
  std::vector<Complex> x(64);
  x[3] = 1;
  const std::vector<Complex> phi = transform.CharacteristicFunction(x);
  for (size_t k = 0; k < 64; ++k) {
    const double angle = 2 * std::acos(-1.0) * static_cast<double>(3 * k % 64) / 64;
    EXPECT_NEAR(phi[k].real(), std::cos(angle), 1e-15) << k;
    EXPECT_NEAR(phi[k].imag(), std::sin(angle), 1e-15)
        << k;  // the sign of a characteristic function
  }
}

}  // namespace
}  // namespace epsledger::accounting
