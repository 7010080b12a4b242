#ifndef EPSLEDGER_ACCOUNTING_PROFILE_DISCRETE_GAUSSIAN_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_DISCRETE_GAUSSIAN_PROFILE_H_

#include <cstdint>
#include <vector>

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Discrete Gaussian noise, Q[k] proportional to e^{-k^2 / (2 sigma^2)}, moved by a whole number s;
// its own reverse. The loss L_k = h (2k - s), h = s / (2 sigma^2), lies on a lattice, and with G(k)
// = Q[K >= k]
//   delta(epsilon) = sum_{i >= k} (e^{L_i} - max(e^{L_{i-1}}, e^epsilon)) G(i),
// where k is the least one with L_k > epsilon: positive terms only, summed once at construction in
// extended precision with an error that is carried along. Beyond the table a geometric bound
// answers, from above only.
//
// Relative error of delta: below 1e-13 down to delta = e^-800, not as far down where sigma > 5000.
// Cost: 0.2 us, and 100 to 200 sigma steps of construction (at most 2^17, 8 MB).
class DiscreteGaussianProfile final : public PrivacyProfile {
 public:
  // True if a table is affordable and the losses stay in range: s <= 100 sigma, and at least 12
  // sigma beyond s in 2^17 rows.
  static bool Covers(double sigma, double distance);

  // REQUIRES: Covers(sigma, distance); distance a whole number >= 1.
  DiscreteGaussianProfile(double sigma, double distance);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double AtomSpacing() const override;
  double Cost() const override { return 5; }

 private:
  struct Row {
    long double delta;  // at L_k, without the part beyond the table
    long double delta_error;
    long double tail;  // G(k)
    long double tail_error;
  };
  // Upper and lower ends of a number.
  struct Ends {
    long double lower;
    long double upper;
  };

  const Row& At(int64_t k) const { return rows_[static_cast<size_t>(k - first_)]; }
  // Returns delta(epsilon) computed from row k: exact for the right k, smaller for every other k.
  Ends Line(double epsilon, int64_t k) const;
  Ends DeltaAbove(double epsilon) const;  // epsilon >= 0
  Ends TailAbove(double epsilon) const;   // epsilon >= 0
  long double Loss(int64_t k) const;
  // log of an upper bound on G(k), k >= 1.
  long double LogTailBound(int64_t k) const;

  double sigma_;
  int64_t distance_;
  long double spacing_;   // h
  long double log_norm_;  // log sum_k e^{-k^2 / (2 sigma^2)}
  int64_t first_;         // the row of rows_[0]
  int64_t last_;
  long double beyond_;  // >= the part of any delta that the rows leave out
  std::vector<Row> rows_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_DISCRETE_GAUSSIAN_PROFILE_H_
