#ifndef EPSLEDGER_CLIENT_TRAINERS_SCATTERING_SCATTERING_H_
#define EPSLEDGER_CLIENT_TRAINERS_SCATTERING_SCATTERING_H_

#include <Eigen/Core>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers::scattering {

// The features of one image: `channels` maps of height x width, in the layout of LabeledImages.
struct FeatureShape {
  Eigen::Index channels = 0;
  Eigen::Index height = 0;
  Eigen::Index width = 0;

  Eigen::Index size() const { return channels * height * width; }
  friend bool operator==(const FeatureShape&, const FeatureShape&) = default;
};

// Returns the shape of the features of an image: 81 maps a channel, of side / 4 rows and columns
// (1 x 28 x 28 becomes 81 x 7 x 7, 3 x 32 x 32 becomes 243 x 8 x 8). INVALID_ARGUMENT unless the
// image is square with a side that is a multiple of 4 in [8, 128], and has 1 to 16 channels.
absl::StatusOr<FeatureShape> ShapeOfFeatures(Eigen::Index channels, Eigen::Index height,
                                             Eigen::Index width);

struct Options {
  // Group normalization: groups of consecutive maps of one image are shifted to mean 0 and divided
  // by the root of (variance + variance_offset). variance_offset must be far below the variance of
  // the second-order coefficients, which are about 5e-4 in size: the usual 1e-5 suppresses them.
  int group_count = 27;
  double variance_offset = 1e-9;
  int thread_count = 2;
};

// Returns the scattering coefficients of order 0, 1 and 2 of each image, without normalization: one
// column an image, for each channel of the image 81 maps in this order: the low pass; |x * psi| low
// passed for scale 0, orientations 0 to 7, and scale 1; ||x * psi_0| * psi_1| low passed for each
// of 8 orientations at scale 0, the 8 at scale 1. README.md has the definition, including the
// borders. In single precision: entries are within about 1e-6 times the image's largest pixel. Each
// column is computed from its own image alone, by operations that do not depend on the other images
// or on their number: the same image gives the same bits in every batch. INVALID_ARGUMENT: as
// ShapeOfFeatures and if the pixels do not have that shape, or thread_count is not in [1, 256].
// About 8 million multiplications a channel of 28 x 28; memory of the result.
absl::StatusOr<Eigen::MatrixXf> Coefficients(const LabeledImages& images, int thread_count);

// Returns Coefficients after group normalization, divided by the root of the number of features. So
// every column has norm at most 1, up to rounding, and its norm approaches 1 as each group's
// variance exceeds the offset. The map is fixed and acts on one record at a time, so it costs no
// privacy.
// INVALID_ARGUMENT: as Coefficients, and unless group_count divides the number of maps and
// variance_offset is finite and > 0. NaN pixels give a column of NaN.
absl::StatusOr<Eigen::MatrixXf> Features(const LabeledImages& images, const Options& options);

}  // namespace epsledger::trainers::scattering

#endif  // EPSLEDGER_CLIENT_TRAINERS_SCATTERING_SCATTERING_H_
