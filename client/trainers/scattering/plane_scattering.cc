#include "client/trainers/scattering/plane_scattering.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace epsledger::trainers::scattering {
namespace {

constexpr int kReduction = 1 << kScales;
constexpr int kPadding = kReduction;

// The side with padding: kPadding before, at least as much after, and a multiple of kReduction.
int PaddedSide(int side) { return ((side + kReduction) / kReduction + 1) * kReduction; }

// (p(k) + sign p(-k)) / 2.
Eigen::MatrixXd Part(const Eigen::MatrixXd& p, double sign) {
  const Eigen::Index side = p.rows();
  Eigen::MatrixXd part(side, side);
  for (Eigen::Index k = 0; k < side; ++k) {
    for (Eigen::Index l = 0; l < side; ++l) {
      part(k, l) = (p(k, l) + sign * p((side - k) % side, (side - l) % side)) / 2;
    }
  }
  return part;
}

// Returns the matrix that convolves, along one axis, a periodic signal of `side` samples (`step`
// input positions of the padded signal apart) with the low pass, at the output positions 4, 8, 12,
// ... of the padded signal. It keeps only the frequencies of the low pass that such a signal has.
Eigen::MatrixXf LowPassMatrix(const Eigen::VectorXd& spectrum, int side, int output_side) {
  const auto padded_side = static_cast<int>(spectrum.size());
  const int step = padded_side / side;
  Eigen::MatrixXd matrix(output_side, side);
  for (int m = 0; m < output_side; ++m) {
    for (int n = 0; n < side; ++n) {
      double sum = 0;
      const int distance = (m + 1) * kReduction / step - n;
      for (int k = -side / 2 + 1; k <= side / 2; ++k) {
        const double value = spectrum[(k + padded_side) % padded_side];
        sum += value * std::cos(2 * std::numbers::pi * k * distance / side);
      }
      matrix(m, n) = sum / side;
    }
  }
  return matrix.cast<float>();
}

}  // namespace

PlaneScattering::PlaneScattering(int side)
    : side_(side),
      padded_side_(PaddedSide(side)),
      output_side_(padded_side_ / kReduction - 2),
      full_(padded_side_),
      half_(padded_side_ / 2) {
  for (int i = 0; i < padded_side_; ++i) {
    int position = std::abs(i - kPadding);  // reflected at the first and the last sample
    if (position >= side) position = 2 * (side - 1) - position;
    source_.push_back(position);
  }
  const int small_side = padded_side_ / 2;
  const int small_half = small_side / 2 + 1;
  for (int orientation = 0; orientation < kOrientations; ++orientation) {
    const Eigen::MatrixXd first = MorletSpectrum(padded_side_, 0, orientation);
    scale_0_.push_back({.even = Part(first, 1).topRows(full_.half()).cast<float>(),
                        .odd = Part(first, -1).topRows(full_.half()).cast<float>()});
    const Eigen::MatrixXd second = MorletSpectrum(padded_side_, 1, orientation);
    HalvingFilter halving;
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        const auto quarter = [&](double sign) -> Eigen::MatrixXf {
          return (Part(second, sign).block(a * small_side, b * small_side, small_half, small_side) /
                  4)
              .cast<float>();
        };
        halving.even[a + 2 * b] = quarter(1);
        halving.odd[a + 2 * b] = quarter(-1);
      }
    }
    scale_1_.push_back(std::move(halving));
  }
  const Eigen::VectorXd low_pass = LowPassSpectrum(padded_side_);
  low_pass_full_ = LowPassMatrix(low_pass, padded_side_, output_side_);
  low_pass_half_ = LowPassMatrix(low_pass, small_side, output_side_);
}

void PlaneScattering::FilterAtScale0(const Eigen::MatrixXf& spectrum, Buffers* buffers) const {
  constexpr Eigen::Index kPlanes = 2 * kOrientations;
  const Eigen::Index side = padded_side_;
  buffers->filtered.resize(full_.half(), 2 * kPlanes * side);
  for (Eigen::Index l = 0; l < side; ++l) {
    const auto real = spectrum.col(l).array();
    const auto imaginary = spectrum.col(side + l).array();
    for (Eigen::Index filter = 0; filter < kOrientations; ++filter) {
      const Filter& f = scale_0_[static_cast<size_t>(filter)];
      const Eigen::Index even = filter + kPlanes * l;
      const Eigen::Index odd = even + kOrientations;
      const Eigen::Index to_imaginary = kPlanes * side;
      buffers->filtered.col(even) = real * f.even.col(l).array();
      buffers->filtered.col(even + to_imaginary) = imaginary * f.even.col(l).array();
      buffers->filtered.col(odd) = imaginary * f.odd.col(l).array();
      buffers->filtered.col(odd + to_imaginary) = -real * f.odd.col(l).array();
    }
  }
  full_.Inverse(buffers->filtered, &buffers->work, &buffers->planes);
}

void PlaneScattering::FilterAtScale1(const Eigen::MatrixXf& spectrum, int plane, int count,
                                     int first, int half_of_all, Buffers* buffers) const {
  const Eigen::Index side = padded_side_;
  const Eigen::Index small_side = side / 2;
  const Eigen::Index small_half = small_side / 2 + 1;
  const Eigen::Index to_imaginary = count * side;
  // The frequencies k = 0, ..., 3 side / 4, the second half of them by conjugation.
  Eigen::MatrixXf& extended = buffers->extended;
  const Eigen::Index extended_rows = small_side + small_half;
  extended.resize(extended_rows, 2 * side);
  for (Eigen::Index l = 0; l < side; ++l) {
    const Eigen::Index column = plane + count * l;
    const Eigen::Index mirrored = plane + count * ((side - l) % side);
    const Eigen::Index known = full_.half();
    extended.col(l).head(known) = spectrum.col(column);
    extended.col(side + l).head(known) = spectrum.col(column + to_imaginary);
    for (Eigen::Index k = known; k < extended_rows; ++k) {
      extended(k, l) = spectrum(side - k, mirrored);
      extended(k, side + l) = -spectrum(side - k, mirrored + to_imaginary);
    }
  }
  const Eigen::Index all = 2 * Eigen::Index{half_of_all};
  for (Eigen::Index l = 0; l < small_side; ++l) {
    const auto real = [&](Eigen::Index a, Eigen::Index b) {
      return extended.col(l + b * small_side).segment(a * small_side, small_half).array();
    };
    const auto imaginary = [&](Eigen::Index a, Eigen::Index b) {
      return extended.col(side + l + b * small_side).segment(a * small_side, small_half).array();
    };
    for (Eigen::Index filter = 0; filter < kOrientations; ++filter) {
      const HalvingFilter& f = scale_1_[static_cast<size_t>(filter)];
      const Eigen::Index even = first + filter + all * l;
      const Eigen::Index odd = even + half_of_all;
      const Eigen::Index small_to_imaginary = all * small_side;
      const auto sum = [&l](const Eigen::MatrixXf(&p)[4], const auto& part) {
        return part(0, 0) * p[0].col(l).array() + part(1, 0) * p[1].col(l).array() +
               part(0, 1) * p[2].col(l).array() + part(1, 1) * p[3].col(l).array();
      };
      buffers->filtered.col(even) = sum(f.even, real);
      buffers->filtered.col(even + small_to_imaginary) = sum(f.even, imaginary);
      buffers->filtered.col(odd) = sum(f.odd, imaginary);
      buffers->filtered.col(odd + small_to_imaginary) = -sum(f.odd, real);
    }
  }
}

void PlaneScattering::Modulus(int side, int count, Buffers* buffers) {
  buffers->waves.resize(side, Eigen::Index{count} * side);
  for (Eigen::Index v = 0; v < side; ++v) {
    const auto even = buffers->planes.middleCols(2 * count * v, count).array();
    const auto odd = buffers->planes.middleCols(2 * count * v + count, count).array();
    buffers->waves.middleCols(count * v, count) = (even.square() + odd.square()).sqrt();
  }
}

void PlaneScattering::LowPass(const Eigen::MatrixXf& planes, const Eigen::MatrixXf& low_pass,
                              int count, Buffers* buffers, float* maps) const {
  const Eigen::Index side = low_pass.cols();
  buffers->rows.noalias() = low_pass * planes;
  const Eigen::Map<const Eigen::MatrixXf> by_column(buffers->rows.data(), output_side_ * count,
                                                    side);
  buffers->work.noalias() = by_column * low_pass.transpose();
  const Eigen::Index positions = Eigen::Index{output_side_} * output_side_;
  for (Eigen::Index plane = 0; plane < count; ++plane) {
    for (Eigen::Index u = 0; u < output_side_; ++u) {
      for (Eigen::Index v = 0; v < output_side_; ++v) {
        maps[plane * positions + u * output_side_ + v] = buffers->work(output_side_ * plane + u, v);
      }
    }
  }
}

void PlaneScattering::Transform(const float* plane, Buffers* buffers, float* maps) const {
  Buffers& b = *buffers;
  b.padded.resize(padded_side_, padded_side_);
  for (int v = 0; v < padded_side_; ++v) {
    for (int u = 0; u < padded_side_; ++u) {
      b.padded(u, v) =
          plane[source_[static_cast<size_t>(u)] * side_ + source_[static_cast<size_t>(v)]];
    }
  }
  const Eigen::Index positions = Eigen::Index{output_side_} * output_side_;
  LowPass(b.padded, low_pass_full_, 1, &b, maps);

  full_.Forward(b.padded, &b.work, &b.image_spectrum);
  FilterAtScale0(b.image_spectrum, &b);
  Modulus(padded_side_, kOrientations, &b);
  LowPass(b.waves, low_pass_full_, kOrientations, &b, maps + positions);
  full_.Forward(b.waves, &b.work, &b.wave_spectrum);

  // The first-order maps of scale 1, and the second order for each map of scale 0.
  constexpr int kSmallPlanes = kOrientations * (1 + kOrientations);
  b.filtered.resize(half_.half(), Eigen::Index{4} * kSmallPlanes * half_.side());
  FilterAtScale1(b.image_spectrum, 0, 1, 0, kSmallPlanes, &b);
  for (int orientation = 0; orientation < kOrientations; ++orientation) {
    FilterAtScale1(b.wave_spectrum, orientation, kOrientations, kOrientations * (1 + orientation),
                   kSmallPlanes, &b);
  }
  half_.Inverse(b.filtered, &b.work, &b.planes);
  Modulus(half_.side(), kSmallPlanes, &b);
  LowPass(b.waves, low_pass_half_, kSmallPlanes, &b, maps + (1 + kOrientations) * positions);
}

}  // namespace epsledger::trainers::scattering
