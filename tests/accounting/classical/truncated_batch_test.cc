#include "accounting/classical/truncated_batch.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

// P[Binomial(n, q) = k] summed over [from, n], each times f(k), at 512 bits.
template <class F>
Real SumFrom(double q, int64_t n, int64_t from, F f) {
  Real mass = 1;  // of k = 0
  for (int64_t i = 0; i < n; ++i) mass = mass * (Real(1) - Real(q));
  Real sum = 0;
  for (int64_t k = 0; k <= n; ++k) {
    if (k >= from) sum = sum + mass * f(static_cast<double>(k));
    mass = mass * Real(static_cast<double>(n - k)) / Real(static_cast<double>(k + 1)) * Real(q) /
           (Real(1) - Real(q));
  }
  return sum;
}

TEST(TruncateBatch, HoldsTheSumsOverTheNumberOfOthers) {
  const struct {
    double q;
    int64_t others;
    int64_t capacities[6];
  } rows[] = {{0.2, 7, {1, 2, 3, 5, 7, 7}},      {0.5, 9, {1, 4, 5, 6, 8, 9}},
              {0.9, 12, {1, 5, 10, 11, 12, 12}}, {0.01, 3000, {1, 20, 30, 31, 60, 200}},
              {1e-9, 30, {1, 2, 3, 4, 5, 30}},   {1 - 0x1p-30, 40, {1, 20, 39, 40, 40, 40}}};
  for (const auto& row : rows) {
    for (const int64_t capacity : row.capacities) {
      const TruncatedBatch batch = TruncateBatch(row.q, row.others, capacity);
      const Real full = SumFrom(row.q, row.others, capacity, [](double) { return Real(1); });
      const Real kept = SumFrom(row.q, row.others, capacity, [&](double k) {
        return Real(row.q) * Real(static_cast<double>(capacity)) / Real(k + 1);
      });
      const Real off = 1e-100;  // more than the rounding of the sums here
      EXPECT_TRUE(Real(batch.full.lower) <= full * (Real(1) + off) &&
                  full * (Real(1) - off) <= Real(batch.full.upper))
          << row.q << " " << row.others << " " << capacity;
      EXPECT_TRUE(Real(1) - full <= Real(batch.not_full) + off) << row.q << " " << capacity;
      EXPECT_TRUE(kept * (Real(1) - off) <= Real(batch.kept) * full) << row.q << " " << capacity;
      const double truth = full.ToDouble();
      const double tolerance = 1e-12 * (1 - std::log(truth));
      EXPECT_LE(batch.full.upper, truth * (1 + tolerance)) << row.q << " " << capacity;
      EXPECT_GE(batch.full.lower, truth * (1 - tolerance)) << row.q << " " << capacity;
      EXPECT_LE(batch.kept, (kept / full).ToDouble() * (1 + 4 * tolerance))
          << row.q << " " << capacity;
    }
  }
}

TEST(TruncateBatch, KnowsBatchesThatAreNeverOrAlwaysFull) {
  const TruncatedBatch never = TruncateBatch(0.3, 5, 6);
  EXPECT_EQ(never.full.upper, 0);
  EXPECT_EQ(never.not_full, 1);
  const TruncatedBatch always = TruncateBatch(1, 9, 4);
  EXPECT_EQ(always.full.lower, 1);
  EXPECT_EQ(always.not_full, 0);
  EXPECT_GE(always.kept, 0.4);
  EXPECT_LE(always.kept, 0.4 * (1 + 1e-14));
  EXPECT_EQ(TruncateBatch(0.3, 0, 1).full.upper, 0);
}

// Where no digits are promised the ends are still in order, and the upper ones safe.
TEST(TruncateBatch, HoldsAtTheEndsOfItsDomain) {
  constexpr int64_t kMost = int64_t{1} << 53;
  for (const double q : {1e-320, 1e-300, 1e-16, 1e-6, 0.5, 1 - 0x1p-53}) {
    for (const int64_t others : {int64_t{1}, int64_t{1000000}, kMost}) {
      for (const int64_t capacity : {int64_t{1}, int64_t{10}, int64_t{1} << 40, kMost}) {
        const TruncatedBatch batch = TruncateBatch(q, others, capacity);
        EXPECT_GE(batch.full.lower, 0);
        EXPECT_LE(batch.full.lower, batch.full.upper);
        EXPECT_LE(batch.full.upper, 1);
        EXPECT_GE(batch.not_full + batch.full.upper, 1);
        EXPECT_LE(batch.kept, q);
        EXPECT_GE(batch.kept, 0);
        // Chernoff: P[K >= k] <= e^{-n KL(k/n || q)}, and it is at least 1/2 at or below the mean.
        const auto n = static_cast<double>(others);
        const auto k = static_cast<double>(capacity);
        if (k <= std::floor(n * q)) {
          EXPECT_GE(batch.full.upper, 0.5) << q << " " << n << " " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
