#ifndef EPSLEDGER_CLIENT_TRAINERS_SCATTERING_PLANE_SCATTERING_H_
#define EPSLEDGER_CLIENT_TRAINERS_SCATTERING_PLANE_SCATTERING_H_

#include <Eigen/Core>
#include <vector>

#include "client/trainers/scattering/filters.h"
#include "client/trainers/scattering/plane_fourier.h"

namespace epsledger::trainers::scattering {

// 1 + J L + L^2 J (J - 1) / 2 maps.
inline constexpr int kMapCount = 1 + kScales * kOrientations + kOrientations * kOrientations;

// The scattering transform of square planes of one size. Immutable: threads can share one object,
// each with its own Buffers.
//
// A wavelet is complex with a real spectrum p. Its even part (p(k) + p(-k)) / 2 is the spectrum of
// psi's real part, and -i times its odd part is that of psi's imaginary part. So every convolution
// is one of real planes with real filters, 16 for each scale.
class PlaneScattering {
 public:
  struct Buffers {
    Eigen::MatrixXf padded, work;
    Eigen::MatrixXf image_spectrum, wave_spectrum;  // of the image; of the maps of scale 0
    Eigen::MatrixXf filtered, planes;               // of the stage in hand
    Eigen::MatrixXf waves, extended, rows;
  };

  // REQUIRES: side a multiple of 4, >= 8.
  explicit PlaneScattering(int side);

  int output_side() const { return output_side_; }

  // Writes the kMapCount maps of output_side() x output_side() to `maps`, one after the other, from
  // a plane whose entry (u, v) is plane[u * side + v]. Each map has the same layout as the plane.
  void Transform(const float* plane, Buffers* buffers, float* maps) const;

 private:
  // A real filter on the half spectrum: the result is (spectrum .* real) or, for the imaginary part
  // of a wavelet, -i (spectrum .* real).
  struct Filter {
    Eigen::MatrixXf even;  // half x side
    Eigen::MatrixXf odd;
  };
  // A Filter followed by taking every second sample. In the spectrum this is the mean over the four
  // frequencies that become one. even[a + 2 b] belongs to (k + a side / 2, l + b side / 2).
  struct HalvingFilter {
    Eigen::MatrixXf even[4];  // (side / 4 + 1) x side / 2
    Eigen::MatrixXf odd[4];
  };

  // Sets buffers->planes to the 2 kOrientations planes of scale 0 of the image spectrum.
  void FilterAtScale0(const Eigen::MatrixXf& spectrum, Buffers* buffers) const;
  // Filters plane `plane` of `count` in a spectrum with the wavelets of scale 1, and writes the
  // halved spectra to planes `first` (even) and `first + half_of_all` (odd) of buffers->filtered,
  // which holds 2 half_of_all planes.
  void FilterAtScale1(const Eigen::MatrixXf& spectrum, int plane, int count, int first,
                      int half_of_all, Buffers* buffers) const;
  // Sets buffers->waves to sqrt(even^2 + odd^2) of buffers->planes, in which the second half of
  // each column's planes are the odd ones.
  static void Modulus(int side, int count, Buffers* buffers);
  // Writes the low pass of `count` stacked planes, at the output positions, to maps[0], maps[1],
  // ...
  void LowPass(const Eigen::MatrixXf& planes, const Eigen::MatrixXf& low_pass, int count,
               Buffers* buffers, float* maps) const;

  int side_;
  int padded_side_;
  int output_side_;
  std::vector<int> source_;  // of a padded position
  PlaneFourier full_;
  PlaneFourier half_;
  std::vector<Filter> scale_0_;
  std::vector<HalvingFilter> scale_1_;
  Eigen::MatrixXf low_pass_full_;  // output_side x padded_side
  Eigen::MatrixXf low_pass_half_;  // output_side x padded_side / 2
};

}  // namespace epsledger::trainers::scattering

#endif  // EPSLEDGER_CLIENT_TRAINERS_SCATTERING_PLANE_SCATTERING_H_
