#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_COMPENSATED_SUM_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_COMPENSATED_SUM_H_

namespace epsledger::accounting {

// A sum that keeps the rounding errors of its additions and adds them at the end. After n terms
// x_i whose partial sums are at most S in size, value() is off by at most u |sum| + 2 (n u)^2 S, u
// = 2^-53: each addition's error is known exactly ([Knuth97] 4.2.2 Thm B) and at most u S, and the
// sum of n of them is off by at most n u (n u S). If n <= 2^20 and no term is negative, value() is
// off by at most 2 u of the sum.
class CompensatedSum {
 public:
  void Add(double x) {
    const double total = sum_ + x;
    const double added = total - sum_;
    error_ += (sum_ - (total - added)) + (x - added);
    sum_ = total;
  }
  double value() const { return sum_ + error_; }

 private:
  double sum_ = 0;
  double error_ = 0;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_COMPENSATED_SUM_H_
