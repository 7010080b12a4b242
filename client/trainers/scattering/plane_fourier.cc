#include "client/trainers/scattering/plane_fourier.h"

#include <cmath>
#include <numbers>

namespace epsledger::trainers::scattering {
namespace {

using Planes = Eigen::Map<const Eigen::MatrixXf>;

}  // namespace

PlaneFourier::PlaneFourier(int side) : side_(side) {
  Eigen::MatrixXd cosine(side, side);
  Eigen::MatrixXd sine(side, side);
  for (int k = 0; k < side; ++k) {
    for (int u = 0; u < side; ++u) {
      const double angle = 2 * std::numbers::pi * ((k * u) % side) / side;
      cosine(k, u) = std::cos(angle);
      sine(k, u) = std::sin(angle);
    }
  }
  real_from_rows_ = cosine.topRows(half()).cast<float>();
  imaginary_from_rows_ = -sine.topRows(half()).cast<float>();
  // A row vector (re | im) times this is the row vector of the transform.
  Eigen::MatrixXd columns(2 * side, 2 * side);
  columns << cosine, -sine, sine, cosine;
  forward_columns_ = columns.cast<float>();
  inverse_columns_ = columns.transpose().cast<float>();
  // The frequencies 1, ..., side / 2 - 1 also represent their conjugates.
  Eigen::VectorXd weights = Eigen::VectorXd::Constant(half(), 2.0 / side / side);
  weights[0] /= 2;
  weights[side / 2] /= 2;
  rows_from_real_ = (cosine.leftCols(half()) * weights.asDiagonal()).cast<float>();
  rows_from_imaginary_ = (-sine.leftCols(half()) * weights.asDiagonal()).cast<float>();
}

void PlaneFourier::Forward(const Eigen::MatrixXf& planes, Eigen::MatrixXf* work,
                           Eigen::MatrixXf* spectrum) const {
  const Eigen::Index columns = planes.cols();  // count * side
  work->resize(half(), 2 * columns);
  work->leftCols(columns).noalias() = real_from_rows_ * planes;
  work->rightCols(columns).noalias() = imaginary_from_rows_ * planes;
  spectrum->resize(half(), 2 * columns);
  const Eigen::Index rows = half() * (columns / side_);
  Eigen::Map<Eigen::MatrixXf>(spectrum->data(), rows, 2 * side_).noalias() =
      Planes(work->data(), rows, 2 * side_) * forward_columns_;
}

void PlaneFourier::Inverse(const Eigen::MatrixXf& spectrum, Eigen::MatrixXf* work,
                           Eigen::MatrixXf* planes) const {
  const Eigen::Index columns = spectrum.cols() / 2;  // count * side
  const Eigen::Index rows = half() * (columns / side_);
  work->resize(half(), 2 * columns);
  Eigen::Map<Eigen::MatrixXf>(work->data(), rows, 2 * side_).noalias() =
      Planes(spectrum.data(), rows, 2 * side_) * inverse_columns_;
  planes->resize(side_, columns);
  planes->noalias() = rows_from_real_ * work->leftCols(columns);
  planes->noalias() += rows_from_imaginary_ * work->rightCols(columns);
}

}  // namespace epsledger::trainers::scattering
