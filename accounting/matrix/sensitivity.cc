#include "accounting/matrix/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "accounting/matrix/binary_tree.h"
#include "accounting/matrix/gram.h"
#include "accounting/matrix/participation.h"
#include "accounting/matrix/toeplitz.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Up to here the program for any matrix is asked too, for coefficients that increase or change
// sign.
constexpr int64_t kFewSteps = 100;

// The rows of the lower triangular Toeplitz matrix of these coefficients.
std::vector<double> ToeplitzRows(const std::vector<double>& coefficients, int64_t steps) {
  std::vector<double> entries(static_cast<size_t>(steps * steps), 0.0);
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t s = 0; s <= t; ++s) {
      const size_t lag = static_cast<size_t>(t - s);
      if (lag < coefficients.size()) entries[t * steps + s] = coefficients[lag];
    }
  }
  return entries;
}

bool NeverIncreases(const std::vector<double>& coefficients) {
  return coefficients.back() >= 0 && std::is_sorted(coefficients.rbegin(), coefficients.rend());
}

Bounds GivenToeplitz(const MatrixMechanism& mechanism, const Participation& participation) {
  const int64_t steps = mechanism.steps;
  const std::vector<double>& coefficients = mechanism.coefficients;
  const Bounds bounds =
      ToeplitzSquaredSensitivity(GivenCoefficients(coefficients, steps), participation);
  if (steps > kFewSteps || NeverIncreases(coefficients)) return bounds;
  const Bounds other =
      GramSquaredSensitivity(GramMatrix(ToeplitzRows(coefficients, steps), steps), participation);
  return {std::max(bounds.lower, other.lower), std::min(bounds.upper, other.upper)};
}

Bounds SquaredSensitivity(const MatrixMechanism& mechanism) {
  const Participation participation{.steps = mechanism.steps,
                                    .max_participations = mechanism.max_participations,
                                    .min_separation = mechanism.min_separation};
  switch (mechanism.strategy) {
    case MatrixStrategy::kMatrix:
      return GramSquaredSensitivity(GramMatrix(mechanism.entries, mechanism.steps), participation);
    case MatrixStrategy::kToeplitz:
      return GivenToeplitz(mechanism, participation);
    case MatrixStrategy::kBufferedToeplitz:
      return ToeplitzSquaredSensitivity(
          BufferedCoefficients(mechanism.output_scales, mechanism.decays, mechanism.steps),
          participation);
    case MatrixStrategy::kSquareRoot:
      return ToeplitzSquaredSensitivity(SquareRootCoefficients(mechanism.bands, mechanism.steps),
                                        participation);
    case MatrixStrategy::kBinaryTree:
      return BinaryTreeSquaredSensitivity(participation);
    case MatrixStrategy::kIdentity: {
      const double most = static_cast<double>(participation.Most());
      return {most, most};
    }
  }
  return {0, kInfinity};  // no strategy: Validate refuses it
}

}  // namespace

Bounds MatrixSensitivity(const MatrixMechanism& mechanism) {
  const Bounds squared = SquaredSensitivity(mechanism);
  return {RoundDownNonNegative(std::sqrt(std::max(0.0, squared.lower))),
          RoundUpNonNegative(std::sqrt(squared.upper))};
}

}  // namespace epsledger::accounting
