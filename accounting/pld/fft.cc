#include "accounting/pld/fft.h"

#include <cmath>
#include <limits>
#include <utility>

namespace epsledger::accounting {
namespace {

constexpr long double kLongPi = 3.141592653589793238462643383279502884L;

// e^{2 pi i k / size} for all k, each within 4 unit roundoffs: only angles up to pi/4 are
// evaluated; the others follow by exact symmetries.
template <class Real>
std::vector<std::complex<Real>> RootsOfUnity(size_t size) {
  using Number = std::complex<Real>;
  std::vector<Number> roots(size);
  const auto root_of_octant = [&](size_t k) {
    const Real angle =
        2 * static_cast<Real>(kLongPi) * static_cast<Real>(k) / static_cast<Real>(size);
    return Number(std::cos(angle), std::sin(angle));
  };
  if (size < 8) {
    const Number quarter[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    for (size_t k = 0; k < size; ++k) roots[k] = quarter[k * (4 / size)];
    return roots;
  }
  const size_t eighth = size / 8;
  for (size_t k = 0; k <= eighth; ++k) {
    const Number w = k == 0 ? Number(1, 0) : root_of_octant(k);
    const Real c = w.real();
    const Real s = w.imag();
    roots[k] = {c, s};
    roots[2 * eighth - k] = {s, c};
    roots[2 * eighth + k] = {-s, c};
    roots[4 * eighth - k] = {-c, s};
    roots[4 * eighth + k] = {-c, -s};
    roots[6 * eighth - k] = {-s, -c};
    roots[6 * eighth + k] = {s, -c};
    if (k > 0) roots[8 * eighth - k] = {c, -s};
  }
  return roots;
}

// The textbook product: that of std::complex checks for infinities, which do not occur here.
template <class Real>
std::complex<Real> Product(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class Real>
std::complex<Real> TimesI(std::complex<Real> a) {
  return {-a.imag(), a.real()};
}

}  // namespace

template <class Real>
BasicFourierTransform<Real>::BasicFourierTransform(size_t size)
    : twiddles_(RootsOfUnity<Real>(size)) {}

// Decimation in frequency in Stockham's order, two radix-2 levels per pass: each pass reads x and
// writes y in order, and leaves `length` / 4 transforms of a quarter of the length.
template <class Real>
std::vector<std::complex<Real>> BasicFourierTransform<Real>::CharacteristicFunction(
    const std::vector<std::complex<Real>>& x) const {
  using Number = std::complex<Real>;
  std::vector<Number> from = x;
  std::vector<Number> to(x.size());
  size_t length = x.size();
  size_t stride = 1;
  while (length >= 4) {
    const size_t quarter = length / 4;
    for (size_t p = 0; p < quarter; ++p) {
      const Number w1 = twiddles_[p * stride];
      const Number w2 = twiddles_[2 * p * stride];
      const Number w3 = twiddles_[3 * p * stride];
      const Number* in = &from[stride * p];
      Number* out = &to[stride * 4 * p];
      for (size_t q = 0; q < stride; ++q) {
        const Number a = in[q];
        const Number b = in[q + stride * quarter];
        const Number c = in[q + stride * 2 * quarter];
        const Number d = in[q + stride * 3 * quarter];
        const Number sum = a + c;
        const Number difference = a - c;
        const Number other_sum = b + d;
        const Number turned = TimesI(b - d);
        out[q] = sum + other_sum;
        out[q + stride] = Product(w1, difference + turned);
        out[q + 2 * stride] = Product(w2, sum - other_sum);
        out[q + 3 * stride] = Product(w3, difference - turned);
      }
    }
    length /= 4;
    stride *= 4;
    std::swap(from, to);
  }
  if (length == 2) {
    for (size_t q = 0; q < stride; ++q) {
      to[q] = from[q] + from[q + stride];
      to[q + stride] = from[q] - from[q + stride];
    }
    std::swap(from, to);
  }
  return from;
}

template <class Real>
double BasicFourierTransform<Real>::RelativeError() const {
  // eta = mu + gamma_4 (sqrt 2 + mu) per level with mu <= 4 u: below 10 u.
  constexpr double kUnit = static_cast<double>(std::numeric_limits<Real>::epsilon() / 2);
  const double levels = std::log2(static_cast<double>(size()));
  return levels * 10 * kUnit * (1 + 1e-9);
}

template class BasicFourierTransform<double>;
template class BasicFourierTransform<long double>;

}  // namespace epsledger::accounting
