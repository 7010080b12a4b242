#ifndef EPSLEDGER_CLIENT_TRAINERS_SCATTERING_FILTERS_H_
#define EPSLEDGER_CLIENT_TRAINERS_SCATTERING_FILTERS_H_

#include <Eigen/Core>

namespace epsledger::trainers::scattering {

// Wavelets of [Oyallon, Mallat 2015, "Deep roto-translation scattering"], with the constants of
// kymatio 0.3 (scattering2d/filter_bank.py), which [Tramer, Boneh 2021] used.
inline constexpr int kScales = 2;        // J
inline constexpr int kOrientations = 8;  // L

// Returns the discrete Fourier transform of the Morlet wavelet of scale 2^scale on a periodic
// side x side grid; it is real, and exactly 0 at frequency 0. Entry (k, l) belongs to the
// frequencies 2 pi k / side along the rows and 2 pi l / side along the columns.
//
// With the angle t = (3 - orientation) pi / 8, the position (u, v) turned to
// (a, b) = (u cos t + v sin t, v cos t - u sin t), sigma = 0.8 2^scale, slant s = 1/2 and the
// frequency xi = (3 pi / 4) / 2^scale:
//
//   psi(u, v) = s / (2 pi sigma^2) exp(-(a^2 + s^2 b^2) / (2 sigma^2)) (exp(i xi a) - K)
//
// summed over the periods -2 to 2, where K makes the sum over the grid 0.
// REQUIRES: side even and >= 4, scale in [0, kScales), orientation in [0, kOrientations).
Eigen::MatrixXd MorletSpectrum(int side, int scale, int orientation);

// Returns the transform, at the frequencies 0 to side - 1, of the one-dimensional Gaussian
// exp(-u^2 / (2 sigma^2)) / sqrt(2 pi sigma^2), sigma = 0.8 2^(kScales - 1), summed over the
// periods -2 to 2. The low pass is this along the rows times this along the columns.
Eigen::VectorXd LowPassSpectrum(int side);

}  // namespace epsledger::trainers::scattering

#endif  // EPSLEDGER_CLIENT_TRAINERS_SCATTERING_FILTERS_H_
