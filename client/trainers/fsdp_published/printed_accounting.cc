#include "client/trainers/fsdp_published/printed_accounting.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace epsledger::trainers::fsdp_published {
namespace {

constexpr int kLargestOrder = 64;

// ln of the integral of exp(f) over the real line, by the trapezoidal rule on [low, high]; f is
// analytic and falls off like a Gaussian of standard deviation `sigma` at least, so the error falls
// exponentially with sigma / spacing.
template <class Function>
double LogIntegral(const Function& f, double low, double high, double sigma) {
  const double spacing = sigma / 20;
  const auto count = static_cast<int64_t>((high - low) / spacing) + 1;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i <= count; ++i) {
    largest = std::max(largest, f(low + spacing * static_cast<double>(i)));
  }
  double sum = 0;
  for (int64_t i = 0; i <= count; ++i) {
    sum += std::exp(f(low + spacing * static_cast<double>(i)) - largest);
  }
  return largest + std::log(sum * spacing);
}

// The least of share f(share) + (1 - share) g(1 - share) over a grid of shares in (0, 1): each of
// Hoelder's bounds holds for every share, so the least of some is a bound too.
template <class First, class Second>
double LeastOverShares(const First& first, const Second& second) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 1; i < 20; ++i) {
    const double share = i / 20.0;
    best = std::min(best, share * first(share) + (1 - share) * second(1 - share));
  }
  return best;
}

// Theorem 1 (ii) at whole orders from 1 on. +inf if every moment is NaN.
double EpsilonOfMoments(const std::vector<double>& moments, int64_t steps, double delta) {
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < moments.size(); ++i) {
    const double epsilon =
        (static_cast<double>(steps) * moments[i] - std::log(delta)) / static_cast<double>(i + 1);
    best = std::min(best, epsilon);
  }
  return best;
}

}  // namespace

double LogMoment(const SampledQuery& query, double order) {
  const double q = query.sampling_probability;
  const double sigma = query.noise_multiplier;
  if (!(q > 0 && q <= 1) || !(sigma > 0) || !(order > 0) || !std::isfinite(sigma + order)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double variance = sigma * sigma;
  const auto log_u0 = [=](double z) {
    return -z * z / (2 * variance) - std::log(sigma) - 0.5 * std::log(2 * M_PI);
  };
  // ln(u / u0) = ln(1 - q + q exp((2 z - 1) / (2 sigma^2))), without overflow.
  const auto log_ratio = [=](double z) {
    const double exponent = (2 * z - 1) / (2 * variance);
    const double inside = q < 1 ? std::log1p(-q) : -std::numeric_limits<double>::infinity();
    const double larger = std::max(inside, std::log(q) + exponent);
    return larger + std::log(std::exp(inside - larger) + std::exp(std::log(q) + exponent - larger));
  };
  // u (u / u0)^order peaks at or below z = order + 1; u0 (u0 / u)^order at or above -order.
  const double reach = 40 * sigma;
  const double first = LogIntegral([&](double z) { return log_u0(z) - order * log_ratio(z); },
                                   -order - reach, reach, sigma);
  const double second =
      LogIntegral([&](double z) { return log_u0(z) + (order + 1) * log_ratio(z); }, -reach,
                  order + 1 + reach, sigma);
  return std::max(first, second);
}

double CombinedLogMoment(const TwoQueries& queries, double order, Combination combination) {
  const double q = queries.sampling_probability;
  const SampledQuery embedding{q, queries.embedding_noise_multiplier};
  const SampledQuery residual{q, queries.residual_noise_multiplier};
  switch (combination) {
    case Combination::kSum:
      return LogMoment(embedding, order) + LogMoment(residual, order);
    case Combination::kHoelder:
      return LeastOverShares([&](double share) { return LogMoment(embedding, order / share); },
                             [&](double share) { return LogMoment(residual, order / share); });
    case Combination::kJoint:
      break;
  }
  const double joint =
      1 / std::hypot(1 / queries.embedding_noise_multiplier, 1 / queries.residual_noise_multiplier);
  return LogMoment({q, joint}, order);
}

double CoordinatesLogMoment(const SampledQuery& coordinate, int count, double order,
                            Coordinates combination) {
  const double d = count;
  switch (combination) {
    case Coordinates::kPrinted:
      return d * d * LogMoment(coordinate, order / d);
    case Coordinates::kHoelder:
      return LogMoment(coordinate, order * d);
    case Coordinates::kJoint:
      break;
  }
  return LogMoment({coordinate.sampling_probability, coordinate.noise_multiplier / std::sqrt(d)},
                   order);
}

double CombinedCoordinatesLogMoment(const TwoQueries& coordinates, int count, double order,
                                    TwoQueriesOfCoordinates combination) {
  const double q = coordinates.sampling_probability;
  const double root = std::sqrt(static_cast<double>(count));
  Coordinates each = Coordinates::kPrinted;
  switch (combination) {
    case TwoQueriesOfCoordinates::kJoint:
      return CombinedLogMoment({q, coordinates.embedding_noise_multiplier / root,
                                coordinates.residual_noise_multiplier / root},
                               order, Combination::kJoint);
    case TwoQueriesOfCoordinates::kHoelder:
      each = Coordinates::kHoelder;
      break;
    case TwoQueriesOfCoordinates::kPrinted:
      break;
  }
  const SampledQuery embedding{q, coordinates.embedding_noise_multiplier};
  const SampledQuery residual{q, coordinates.residual_noise_multiplier};
  return LeastOverShares(
      [&](double share) { return CoordinatesLogMoment(embedding, count, order / share, each); },
      [&](double share) { return CoordinatesLogMoment(residual, count, order / share, each); });
}

double PrintedEpsilon(const TwoQueries& queries, int64_t steps, double delta,
                      Combination combination) {
  std::vector<double> moments;
  for (int order = 1; order <= kLargestOrder; ++order) {
    moments.push_back(CombinedLogMoment(queries, order, combination));
  }
  return EpsilonOfMoments(moments, steps, delta);
}

PrintedAccountant::PrintedAccountant(const PublishedBudget& budget, double sampling_probability,
                                     const std::vector<int>& rows_of_layers)
    : delta_(budget.delta) {
  const SampledQuery query{sampling_probability,
                           std::sqrt(2 * std::log(1.25 / budget.delta)) / budget.epsilon};
  for (int order = 1; order <= kLargestOrder; ++order) {
    // With equal noise for V and Phi the minimum over xi1 + xi2 = 1 is at 1/2: moments are convex
    // in the order, so xi alpha(order / xi) is convex in xi, and the sum is symmetric.
    const double release = LogMoment(query, 2.0 * order);
    double rows = 0;
    for (const int d : rows_of_layers) {
      rows += CoordinatesLogMoment(query, d, 2.0 * order, Coordinates::kPrinted);
    }
    release_moments_.push_back(static_cast<double>(rows_of_layers.size()) * release);
    row_moments_.push_back(rows);
  }
}

double PrintedAccountant::Epsilon(int64_t steps) const {
  return EpsilonOfMoments(row_moments_, steps, delta_);
}

double PrintedAccountant::EpsilonOfWholeReleases(int64_t steps) const {
  return EpsilonOfMoments(release_moments_, steps, delta_);
}

}  // namespace epsledger::trainers::fsdp_published
