#ifndef EPSLEDGER_TESTS_ACCOUNTING_MATRIX_PARTICIPATION_SETS_H_
#define EPSLEDGER_TESTS_ACCOUNTING_MATRIX_PARTICIPATION_SETS_H_

// Brute force over every set of steps in which a privacy unit may take part, in integers.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "accounting/matrix/participation.h"

namespace epsledger::accounting {

using IntegerRows = std::vector<std::vector<int64_t>>;

// Calls `visit` with every allowed set of steps, as their increasing numbers.
inline void ForEachSet(const Participation& participation,
                       const std::function<void(const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> set;
  const std::function<void(int64_t)> extend = [&](int64_t first) {
    visit(set);
    if (static_cast<int64_t>(set.size()) == participation.max_participations) return;
    for (int64_t step = first; step < participation.steps; ++step) {
      set.push_back(step);
      extend(step + participation.min_separation);
      set.pop_back();
    }
  };
  extend(0);
}

inline IntegerRows Gram(const IntegerRows& rows, int64_t steps) {
  IntegerRows gram(steps, std::vector<int64_t>(steps, 0));
  for (const std::vector<int64_t>& row : rows) {
    for (int64_t i = 0; i < steps; ++i) {
      for (int64_t j = 0; j < steps; ++j) gram[i][j] += row[i] * row[j];
    }
  }
  return gram;
}

// The largest sum of |X_ij| over one set: at least the square of the sensitivity.
inline int64_t LargestAbsoluteSum(const IntegerRows& rows, const Participation& participation) {
  const IntegerRows gram = Gram(rows, participation.steps);
  int64_t largest = 0;
  ForEachSet(participation, [&](const std::vector<int64_t>& set) {
    int64_t sum = 0;
    for (const int64_t i : set) {
      for (const int64_t j : set) sum += std::abs(gram[i][j]);
    }
    largest = std::max(largest, sum);
  });
  return largest;
}

// The largest sum of s_i s_j X_ij over one set and all signs s: the square of the sensitivity for
// contributions that are one number, at most the one for vectors.
inline int64_t LargestSignedSum(const IntegerRows& rows, const Participation& participation) {
  const IntegerRows gram = Gram(rows, participation.steps);
  int64_t largest = 0;
  ForEachSet(participation, [&](const std::vector<int64_t>& set) {
    for (uint32_t signs = 0; signs < uint32_t{1} << set.size(); ++signs) {
      int64_t sum = 0;
      for (size_t i = 0; i < set.size(); ++i) {
        for (size_t j = 0; j < set.size(); ++j) {
          const bool differ = ((signs >> i ^ signs >> j) & 1) != 0;
          sum += (differ ? -1 : 1) * gram[set[i]][set[j]];
        }
      }
      largest = std::max(largest, sum);
    }
  });
  return largest;
}

// The rows of the lower triangular Toeplitz matrix with this first column.
inline IntegerRows ToeplitzOf(const std::vector<int64_t>& column, int64_t steps) {
  IntegerRows rows(steps, std::vector<int64_t>(steps, 0));
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t s = 0; s <= t; ++s) {
      if (t - s < static_cast<int64_t>(column.size())) rows[t][s] = column[t - s];
    }
  }
  return rows;
}

inline std::vector<double> Flat(const IntegerRows& rows) {
  std::vector<double> entries;
  for (const std::vector<int64_t>& row : rows)
    entries.insert(entries.end(), row.begin(), row.end());
  return entries;
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_MATRIX_PARTICIPATION_SETS_H_
