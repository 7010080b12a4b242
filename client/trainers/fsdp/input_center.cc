#include "client/trainers/fsdp/input_center.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp/exact_sum.h"

namespace epsledger::trainers::fsdp {
namespace {

// Covers the roundings of a norm and a factor in double.
constexpr double kInputMargin = 1 - 1e-9;

}  // namespace

Eigen::VectorXd ClippedInputSum(const network::Matrix<float>& inputs, double bound) {
  Eigen::ArrayXd factors(inputs.cols());
  for (Eigen::Index i = 0; i < inputs.cols(); ++i) {
    const double norm = inputs.col(i).cast<double>().norm();
    factors[i] = std::isfinite(norm) ? kInputMargin * std::min(1 / bound, 1 / norm) : 0;
  }
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(inputs.rows());
  AddColumns(inputs, factors, sum.data());
  return sum * std::ldexp(1.0, -kGridBits);
}

absl::StatusOr<network::Vector<float>> ReleaseInputCenter(const LabeledColumns& records,
                                                          const CenterOptions& options,
                                                          GradientRelease& release) {
  if (!(options.bound >= 1e-15 && options.bound <= 1e15)) {
    return absl::InvalidArgumentError(
        absl::StrCat("bound: got ", options.bound, ", want in [1e-15, 1e15]"));
  }
  if (!(options.public_count > 0) || !std::isfinite(options.public_count)) {
    return absl::InvalidArgumentError(
        absl::StrCat("public_count: got ", options.public_count, ", want in (0, inf)"));
  }
  if (records.inputs.cols() > kMaxRecords) {
    return absl::InvalidArgumentError(absl::StrCat("records: want at most ", kMaxRecords));
  }
  ASSIGN_OR_RETURN(const Eigen::VectorXd released,
                   release.Release(ClippedInputSum(records.inputs, options.bound), 1));
  const Eigen::VectorXd mean = released * (options.bound / options.public_count);
  const network::Vector<float> center = mean.cast<float>();
  if (center.size() != records.inputs.rows() || !center.allFinite()) {
    return absl::InternalError("a released vector has another size than the sum, or is not finite");
  }
  return center;
}

void SubtractCenter(const network::Vector<float>& center, LabeledColumns& records) {
  if (center.size() == 0) return;
  records.inputs.colwise() -= center;
  for (network::Matrix<float>& more : records.more_views) more.colwise() -= center;
}

}  // namespace epsledger::trainers::fsdp
