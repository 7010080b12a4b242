#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_SCATTERING_SLOW_SCATTERING_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_SCATTERING_SLOW_SCATTERING_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

#include <Eigen/Core>

#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers::scattering {

// The definition of README.md, sum by sum in double: every convolution in space, every low pass
// over all positions. The only Fourier transform is the one in the definition of the low pass.
class SlowScattering {
 public:
  explicit SlowScattering(int side) : side_(side), padded_(4 * ((side + 4) / 4 + 1)) {}

  // Returns the 81 maps of a plane one after the other, with entry (u, v) at u * side + v.
  std::vector<double> Transform(const float* plane) const {
    Eigen::MatrixXd x(padded_, padded_);
    for (int u = 0; u < padded_; ++u) {
      for (int v = 0; v < padded_; ++v) x(u, v) = plane[Reflect(u - 4) * side_ + Reflect(v - 4)];
    }
    std::vector<double> maps;
    AppendLowPass(x, &maps);
    std::vector<Eigen::MatrixXd> waves;
    for (int orientation = 0; orientation < 8; ++orientation) {
      waves.push_back(Modulus(x, 0, orientation));
      AppendLowPass(waves.back(), &maps);
    }
    for (int orientation = 0; orientation < 8; ++orientation) {
      AppendLowPass(EverySecond(Modulus(x, 1, orientation)), &maps);
    }
    for (const Eigen::MatrixXd& wave : waves) {
      for (int orientation = 0; orientation < 8; ++orientation) {
        AppendLowPass(EverySecond(Modulus(wave, 1, orientation)), &maps);
      }
    }
    return maps;
  }

 private:
  int Reflect(int position) const {
    if (position < 0) position = -position;
    return position < side_ ? position : 2 * (side_ - 1) - position;
  }

  static Eigen::MatrixXd EverySecond(const Eigen::MatrixXd& plane) {
    return plane(Eigen::seq(0, Eigen::last, 2), Eigen::seq(0, Eigen::last, 2));
  }

  // |plane * psi| on the periodic grid.
  Eigen::MatrixXd Modulus(const Eigen::MatrixXd& plane, int scale, int orientation) const {
    const int n = padded_;
    const double angle = (3 - orientation) * std::numbers::pi / 8;
    const double sigma = scale == 0 ? 0.8 : 1.6;
    const double xi = 0.75 * std::numbers::pi / (scale == 0 ? 1 : 2);
    Eigen::MatrixXcd gabor = Eigen::MatrixXcd::Zero(n, n);
    Eigen::MatrixXcd envelope = Eigen::MatrixXcd::Zero(n, n);
    for (int u = -2 * n; u < 3 * n; ++u) {
      for (int v = -2 * n; v < 3 * n; ++v) {
        const double a = u * std::cos(angle) + v * std::sin(angle);
        const double b = v * std::cos(angle) - u * std::sin(angle);
        const double weight = std::exp(-(a * a + b * b / 4) / (2 * sigma * sigma)) /
                              (4 * std::numbers::pi * sigma * sigma);
        gabor((u + 2 * n) % n, (v + 2 * n) % n) += weight * std::exp(std::complex(0.0, xi * a));
        envelope((u + 2 * n) % n, (v + 2 * n) % n) += weight;
      }
    }
    gabor -= gabor.sum() / envelope.sum() * envelope;
    Eigen::MatrixXd result(n, n);
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < n; ++v) {
        std::complex<double> sum = 0;
        for (int w = 0; w < n; ++w) {
          for (int z = 0; z < n; ++z) {
            sum += plane(w, z) * gabor((u - w + n) % n, (v - z + n) % n);
          }
        }
        result(u, v) = std::abs(sum);
      }
    }
    return result;
  }

  // For a plane at full resolution or at half of it.
  void AppendLowPass(const Eigen::MatrixXd& plane, std::vector<double>* maps) const {
    const auto n = static_cast<int>(plane.rows());
    // The band-limited low pass of n samples: g(d) = sum over |k| <= n / 2 of g_hat(k) cos(...) /
    // n.
    std::vector<double> g(static_cast<size_t>(n), 0.0);
    for (int k = 0; k < n; ++k) {
      const int frequency = k <= n / 2 ? k : k - n;
      double g_hat = 0;
      for (int u = -2 * padded_; u < 3 * padded_; ++u) {
        g_hat += std::exp(-u * u / (2 * 1.6 * 1.6)) / (std::sqrt(2 * std::numbers::pi) * 1.6) *
                 std::cos(2 * std::numbers::pi * frequency * u / padded_);
      }
      for (int d = 0; d < n; ++d) {
        g[static_cast<size_t>(d)] += g_hat * std::cos(2 * std::numbers::pi * frequency * d / n) / n;
      }
    }
    const int step = 4 * n / padded_;
    for (int u = 1; u < padded_ / 4 - 1; ++u) {
      for (int v = 1; v < padded_ / 4 - 1; ++v) {
        double sum = 0;
        for (int w = 0; w < n; ++w) {
          for (int z = 0; z < n; ++z) {
            sum += plane(w, z) * g[static_cast<size_t>((u * step - w + n) % n)] *
                   g[static_cast<size_t>((v * step - z + n) % n)];
          }
        }
        maps->push_back(sum);
      }
    }
  }

  int side_;
  int padded_;
};

// Returns images of noise in [0, 1], the same on every platform.
inline LabeledImages NoiseImages(int count, int channels, int side, int64_t seed) {
  LabeledImages images{.channels = channels,
                       .height = side,
                       .width = side,
                       .pixels = Eigen::MatrixXf(channels * side * side, count),
                       .labels = std::vector<int>(static_cast<size_t>(count), 0)};
  for (float& pixel : images.pixels.reshaped()) {
    seed = (seed * 1103515245 + 12345) % (int64_t{1} << 31);
    pixel = static_cast<float>((seed >> 16) % 256) / 255.0F;
  }
  return images;
}

}  // namespace epsledger::trainers::scattering

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_SCATTERING_SLOW_SCATTERING_H_
