#ifndef EPSLEDGER_ACCOUNTING_PLD_FFT_H_
#define EPSLEDGER_ACCOUNTING_PLD_FFT_H_

#include <complex>
#include <cstddef>
#include <vector>

namespace epsledger::accounting {

// Discrete Fourier transforms of one size with a stated error. Real is double or long double.
template <class Real>
class BasicFourierTransform {
 public:
  // REQUIRES: size is a power of two, at most 2^26. O(size) sines and cosines.
  explicit BasicFourierTransform(size_t size);

  size_t size() const { return twiddles_.size(); }

  // Returns X_k = sum over j of x_j e^{+2 pi i j k / size}: the characteristic function, hence the
  // sign. REQUIRES: x.size() == size(). O(size log size).
  std::vector<std::complex<Real>> CharacteristicFunction(
      const std::vector<std::complex<Real>>& x) const;

  // The computed X differs from the exact one by at most this times sqrt(size) ||x||_2 in the
  // 2-norm, hence in every entry ([Higham02] Thm 24.2; README, "The Fourier transform"). Every
  // entry is also off by at most this times ||x||_1: an input reaches an output on one path, whose
  // factors are off by as much together.
  double RelativeError() const;

 private:
  const std::vector<std::complex<Real>> twiddles_;
};

using FourierTransform = BasicFourierTransform<double>;
using ExtendedFourierTransform = BasicFourierTransform<long double>;

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_FFT_H_
