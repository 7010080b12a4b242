#include "client/trainers/data/deskew.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/trainers/data/cubic.h"

namespace epsledger::trainers {
namespace {

constexpr double kMaxShear = 1.2;

// Where the pixels of an image come from: row `y` of the result comes from row y + down; row `i` of
// the image is moved to the left by right + shear * (i - centroid).
struct Placement {
  double centroid = 0;  // row
  double down = 0;
  double right = 0;
  double shear = 0;
};

double MiddleOf(Eigen::Index size) { return static_cast<double>(size - 1) / 2; }

// Returns the placement of an image whose total is positive and finite. `sums`: height x width,
// over the channels.
Placement PlacementOf(const Eigen::MatrixXd& sums, double total) {
  const Eigen::VectorXd rows =
      Eigen::VectorXd::LinSpaced(sums.rows(), 0, static_cast<double>(sums.rows() - 1));
  const Eigen::VectorXd columns =
      Eigen::VectorXd::LinSpaced(sums.cols(), 0, static_cast<double>(sums.cols() - 1));
  const Eigen::VectorXd of_rows = sums.rowwise().sum();
  const Eigen::VectorXd of_columns = sums.colwise().sum();
  const double cy = rows.dot(of_rows) / total;
  const double cx = columns.dot(of_columns) / total;
  const Eigen::VectorXd from_cy = rows.array() - cy;
  const Eigen::VectorXd from_cx = columns.array() - cx;
  const double mu02 = from_cy.cwiseAbs2().dot(of_rows);
  const double mu11 = from_cy.dot(sums * from_cx);
  return {.centroid = cy,
          .down = cy - MiddleOf(sums.rows()),
          .right = cx - MiddleOf(sums.cols()),
          .shear = mu02 > 0 ? std::clamp(mu11 / mu02, -kMaxShear, kMaxShear) : 0};
}

void Resample(const Placement& placement, Eigen::Index height, Eigen::Index width, float* plane) {
  const Plane image{plane, height, width};
  Eigen::MatrixXd sheared(width, height);  // a column is a row of the image
  for (Eigen::Index row = 0; row < height; ++row) {
    const double left =
        placement.right + placement.shear * (static_cast<double>(row) - placement.centroid);
    for (Eigen::Index x = 0; x < width; ++x) {
      sheared(x, row) = CubicValueInRow(image, row, static_cast<double>(x) + left);
    }
  }
  const double whole = std::floor(placement.down);
  const double below = placement.down - whole;
  for (Eigen::Index y = 0; y < height; ++y) {
    Eigen::VectorXd row = Eigen::VectorXd::Zero(width);
    const Eigen::Index from = y + static_cast<Eigen::Index>(whole);
    if (from >= 0 && from < height) row += (1 - below) * sheared.col(from);
    if (from + 1 >= 0 && from + 1 < height) row += below * sheared.col(from + 1);
    Eigen::Map<Eigen::VectorXf>(plane + y * width, width) =
        row.cwiseMax(0.0).cwiseMin(1.0).cast<float>();
  }
}

}  // namespace

void Deskew(LabeledImages& images) {
  const Eigen::Index size = images.height * images.width;
  Eigen::MatrixXd sums(images.height, images.width);
  for (auto pixels : images.pixels.colwise()) {
    sums.setZero();
    for (Eigen::Index channel = 0; channel < images.channels; ++channel) {
      for (Eigen::Index i = 0; i < size; ++i) {
        sums(i / images.width, i % images.width) += static_cast<double>(pixels(channel * size + i));
      }
    }
    const double total = sums.sum();
    if (total == 0) continue;
    if (!std::isfinite(total)) {
      pixels.setConstant(std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    const Placement placement = PlacementOf(sums, total);
    for (Eigen::Index channel = 0; channel < images.channels; ++channel) {
      Resample(placement, images.height, images.width, pixels.data() + channel * size);
    }
  }
}

}  // namespace epsledger::trainers
