#ifndef EPSLEDGER_TESTS_ACCOUNTING_PROFILE_BATCH_LAWS_H_
#define EPSLEDGER_TESTS_ACCOUNTING_PROFILE_BATCH_LAWS_H_

// Batches of a few records by enumeration: the law of the sum of what they contribute, and the
// divergences of two such sums with noise, by quadrature.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace epsledger::accounting {

using Contributions = std::vector<double>;
using SumLaw = std::map<double, double>;  // sum -> probability

inline double SumOf(const Contributions& data, unsigned subset) {
  double sum = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    if ((subset >> i & 1) != 0) sum += data[i];
  }
  return sum;
}

// Adds every subset of `batch` with `size` records, each with the same share of `probability`.
inline void AddSubsets(const Contributions& data, unsigned batch, int size, double probability,
                       SumLaw& law) {
  std::vector<unsigned> found;
  for (unsigned subset = 0; subset < (1U << data.size()); ++subset) {
    if ((subset & ~batch) == 0 && __builtin_popcount(subset) == size) found.push_back(subset);
  }
  for (const unsigned subset : found) {
    law[SumOf(data, subset)] += probability / static_cast<double>(found.size());
  }
}

inline SumLaw TruncatedPoissonLaw(const Contributions& data, double q, int capacity) {
  SumLaw law;
  for (unsigned batch = 0; batch < (1U << data.size()); ++batch) {
    const int size = __builtin_popcount(batch);
    const double probability =
        std::pow(q, size) * std::pow(1 - q, static_cast<double>(data.size()) - size);
    if (probability > 0) AddSubsets(data, batch, std::min(size, capacity), probability, law);
  }
  return law;
}

inline SumLaw WithoutReplacementLaw(const Contributions& data, int size) {
  SumLaw law;
  AddSubsets(data, (1U << data.size()) - 1, std::min(size, static_cast<int>(data.size())), 1, law);
  return law;
}

inline SumLaw WithReplacementLaw(const Contributions& data, int draws) {
  SumLaw law{{0, 1}};
  for (int draw = 0; draw < draws; ++draw) {
    SumLaw next;
    for (const auto& [sum, probability] : law) {
      for (const double x : data) next[sum + x] += probability / static_cast<double>(data.size());
    }
    law = next;
  }
  return law;
}

// The density of noise at t, times a constant that both laws share.
using Density = std::function<double(double t)>;

inline Density NormalDensity(double deviation) {
  return [deviation](double t) { return std::exp(-0.5 * t * t / deviation / deviation); };
}
inline Density LaplaceDensity(double scale) {
  return [scale](double t) { return std::exp(-std::abs(t) / scale); };
}

// The density of a noisy sum on a grid, times the step, the noise normalized by its own sum.
inline std::vector<double> OnGrid(const SumLaw& law, const Density& density, double reach) {
  constexpr double kStep = 0.01;
  std::vector<double> grid;
  double norm = 0;
  for (double t = -reach; t <= reach; t += kStep) {
    double sum = 0;
    for (const auto& [mean, probability] : law) sum += probability * density(t - mean);
    grid.push_back(sum);
    norm += density(t);
  }
  for (double& point : grid) point /= norm;
  return grid;
}

// E_P[(1 - e^{epsilon - L})_+].
inline double DeltaOf(const std::vector<double>& p, const std::vector<double>& q, double epsilon) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  return sum;
}

// log E_Q[(P/Q)^order] / (order - 1).
inline double RenyiOf(const std::vector<double>& p, const std::vector<double>& q, double order) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (q[i] > 0) sum += q[i] * std::pow(p[i] / q[i], order);
  }
  return std::log(sum) / (order - 1);
}

// Neighbors of which the first holds the record 1 beside `others`: the second holds nothing, the
// record 0, or one of other values.
inline std::vector<Contributions> NeighborsOf(const Contributions& others, bool absent,
                                              const Contributions& instead) {
  if (absent) return {others};
  std::vector<Contributions> neighbors;
  for (const double x : instead) {
    Contributions data = others;
    data.push_back(x);
    neighbors.push_back(data);
  }
  return neighbors;
}

// Every choice of `count` values out of -1, 0.4 and 1, up to their order.
inline std::vector<Contributions> SomeOthers(int count) {
  std::vector<Contributions> all;
  for (int low = 0; low <= count; ++low) {
    for (int high = 0; low + high <= count; ++high) {
      Contributions others(static_cast<size_t>(low), -1.0);
      others.insert(others.end(), static_cast<size_t>(high), 1.0);
      others.resize(static_cast<size_t>(count), 0.4);
      all.push_back(others);
    }
  }
  return all;
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_PROFILE_BATCH_LAWS_H_
