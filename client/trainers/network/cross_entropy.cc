#include "client/trainers/network/cross_entropy.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers::network {
namespace {

absl::Status ValidateLabels(const std::vector<int>& labels, Eigen::Index samples,
                            Eigen::Index classes) {
  if (static_cast<Eigen::Index>(labels.size()) != samples) {
    return absl::InvalidArgumentError(absl::StrCat(
        "labels: got ", labels.size(), ", want one for each of the ", samples, " samples"));
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "labels[", i, "]: got ", labels[i], ", want an integer in [0, ", classes - 1, "]"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <class T>
absl::StatusOr<SampleLosses<T>> CrossEntropy(const Matrix<T>& logits,
                                             const std::vector<int>& labels) {
  RETURN_IF_ERROR(ValidateLabels(labels, logits.cols(), logits.rows()));
  SampleLosses<T> result{.losses = Eigen::ArrayXd(logits.cols()),
                         .gradients = Matrix<T>(logits.rows(), logits.cols())};
  for (Eigen::Index i = 0; i < logits.cols(); ++i) {
    const int label = labels[static_cast<size_t>(i)];
    auto gradient = result.gradients.col(i);
    if (!logits.col(i).allFinite()) {
      result.losses[i] = std::numeric_limits<double>::quiet_NaN();
      gradient.setConstant(std::numeric_limits<T>::quiet_NaN());
      continue;
    }
    const Eigen::ArrayXd shifted = logits.col(i).template cast<double>().array() -
                                   static_cast<double>(logits.col(i).maxCoeff());
    const Eigen::ArrayXd powers = shifted.exp();
    const double sum = powers.sum();
    result.losses[i] = std::log(sum) - shifted[label];
    gradient = (powers / sum).template cast<T>();
    gradient[label] -= T{1};
  }
  return result;
}

template absl::StatusOr<SampleLosses<float>> CrossEntropy(const Matrix<float>&,
                                                          const std::vector<int>&);
template absl::StatusOr<SampleLosses<double>> CrossEntropy(const Matrix<double>&,
                                                           const std::vector<int>&);

}  // namespace epsledger::trainers::network
