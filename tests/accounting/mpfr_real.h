#ifndef EPSLEDGER_TESTS_ACCOUNTING_MPFR_REAL_H_
#define EPSLEDGER_TESTS_ACCOUNTING_MPFR_REAL_H_

// A real number of 512 bits: the oracle of the accounting tests. Slow, and never in the product.

#include <mpfr.h>

namespace epsledger::accounting {

class Real {
 public:
  Real(double x = 0) {                   // NOLINT: doubles are exact here
    mpfr_set_emax(mpfr_get_emax_max());  // e^(10^10) is a number
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_init2(value_, 512);
    mpfr_set_d(value_, x, MPFR_RNDN);
  }
  Real(const Real& x) : Real() { mpfr_set(value_, x.value_, MPFR_RNDN); }
  Real& operator=(const Real& x) {
    mpfr_set(value_, x.value_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }

  friend Real operator+(const Real& a, const Real& b) { return Make(mpfr_add, a, b); }
  friend Real operator-(const Real& a, const Real& b) { return Make(mpfr_sub, a, b); }
  friend Real operator*(const Real& a, const Real& b) { return Make(mpfr_mul, a, b); }
  friend Real operator/(const Real& a, const Real& b) { return Make(mpfr_div, a, b); }
  friend Real operator-(const Real& a) { return Real(0) - a; }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.value_, b.value_); }
  friend bool operator<=(const Real& a, const Real& b) {
    return mpfr_lessequal_p(a.value_, b.value_);
  }

  double ToDouble() const { return mpfr_get_d(value_, MPFR_RNDN); }

  friend Real Exp(const Real& a) { return Make(mpfr_exp, a); }
  friend Real Log(const Real& a) { return Make(mpfr_log, a); }
  friend Real Sqrt(const Real& a) { return Make(mpfr_sqrt, a); }
  friend Real Erfc(const Real& a) { return Make(mpfr_erfc, a); }
  friend Real Log1p(const Real& a) { return Make(mpfr_log1p, a); }
  friend Real Expm1(const Real& a) { return Make(mpfr_expm1, a); }
  friend Real Pow(const Real& a, const Real& b) { return Make(mpfr_pow, a, b); }
  static Real Pi() {
    Real pi;
    mpfr_const_pi(pi.value_, MPFR_RNDN);
    return pi;
  }

 private:
  using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  using Binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
  static Real Make(Unary f, const Real& a) {
    Real result;
    f(result.value_, a.value_, MPFR_RNDN);
    return result;
  }
  static Real Make(Binary f, const Real& a, const Real& b) {
    Real result;
    f(result.value_, a.value_, b.value_, MPFR_RNDN);
    return result;
  }

  mpfr_t value_;
};

Real Exp(const Real& a);
Real Log(const Real& a);
Real Sqrt(const Real& a);
Real Erfc(const Real& a);
Real Log1p(const Real& a);
Real Expm1(const Real& a);
Real Pow(const Real& a, const Real& b);

// Phi(z).
inline Real NormalCdfTruth(const Real& z) { return Erfc(-z / Sqrt(2)) / 2; }

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_MPFR_REAL_H_
