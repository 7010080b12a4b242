#include "client/trainers/scattering/filters.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace epsledger::trainers::scattering {
namespace {

using std::numbers::pi;

constexpr double kSlant = 4.0 / kOrientations;
constexpr int kPeriods = 2;

// exp(-2 pi i k u / side) at (k, u).
Eigen::MatrixXcd FourierMatrix(int side) {
  Eigen::MatrixXcd matrix(side, side);
  for (int k = 0; k < side; ++k) {
    for (int u = 0; u < side; ++u) {
      matrix(k, u) = std::polar(1.0, -2 * pi * ((k * u) % side) / side);
    }
  }
  return matrix;
}

}  // namespace

Eigen::MatrixXd MorletSpectrum(int side, int scale, int orientation) {
  const double angle = (kOrientations / 2 - 1 - orientation) * pi / kOrientations;
  const double sigma = 0.8 * (1 << scale);
  const double frequency = 0.75 * pi / (1 << scale);
  Eigen::MatrixXcd wave = Eigen::MatrixXcd::Zero(side, side);
  Eigen::MatrixXcd envelope = Eigen::MatrixXcd::Zero(side, side);
  for (int u = -kPeriods * side; u < (kPeriods + 1) * side; ++u) {
    for (int v = -kPeriods * side; v < (kPeriods + 1) * side; ++v) {
      const double a = u * std::cos(angle) + v * std::sin(angle);
      const double b = v * std::cos(angle) - u * std::sin(angle);
      const double weight = std::exp(-(a * a + kSlant * kSlant * b * b) / (2 * sigma * sigma)) *
                            kSlant / (2 * pi * sigma * sigma);
      const int row = (u + kPeriods * side) % side;
      const int column = (v + kPeriods * side) % side;
      wave(row, column) += std::polar(weight, frequency * a);
      envelope(row, column) += weight;
    }
  }
  wave -= (wave.sum() / envelope.sum()) * envelope;
  const Eigen::MatrixXcd fourier = FourierMatrix(side);
  // psi(-u, -v) is the conjugate of psi(u, v), so the imaginary part is rounding.
  Eigen::MatrixXd spectrum = (fourier * wave * fourier.transpose()).real();
  spectrum(0, 0) = 0;
  return spectrum;
}

Eigen::VectorXd LowPassSpectrum(int side) {
  const double sigma = 0.8 * (1 << (kScales - 1));
  Eigen::VectorXcd values = Eigen::VectorXcd::Zero(side);
  for (int u = -kPeriods * side; u < (kPeriods + 1) * side; ++u) {
    values[(u + kPeriods * side) % side] +=
        std::exp(-u * u / (2 * sigma * sigma)) / (std::sqrt(2 * pi) * sigma);
  }
  return (FourierMatrix(side) * values).real();
}

}  // namespace epsledger::trainers::scattering
