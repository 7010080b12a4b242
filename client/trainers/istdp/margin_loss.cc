#include "client/trainers/istdp/margin_loss.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr double kSmallestKnee = 1e-100;

double HuberValue(double knee, double residual) {
  const double magnitude = std::fabs(residual);
  return magnitude <= knee ? 0.5 * residual * residual : knee * (magnitude - 0.5 * knee);
}

// std::clamp of a NaN is a NaN.
double HuberResidual(double knee, double residual) { return std::clamp(residual, -knee, knee); }

double Target(double label) { return 2 * label - 1; }

struct Validator {
  absl::Status operator()(const LogisticMargin&) const { return absl::OkStatus(); }
  absl::Status operator()(const SquaredMargin&) const { return absl::OkStatus(); }
  absl::Status operator()(const HuberMargin& huber) const {
    if (huber.knee >= kSmallestKnee && huber.knee <= kLargestResidual) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("HuberMargin.knee: got ", huber.knee,
                                                   ", want a number in [", kSmallestKnee, ", ",
                                                   kLargestResidual, "]"));
  }
};

struct Name {
  std::string_view operator()(const LogisticMargin&) const { return "logistic"; }
  std::string_view operator()(const SquaredMargin&) const { return "squared"; }
  std::string_view operator()(const HuberMargin&) const { return "huber"; }
};

struct Value {
  double margin;
  double label;
  double operator()(const LogisticMargin&) const {
    const double softplus = (margin > 0 ? margin : 0) + std::log1p(std::exp(-std::fabs(margin)));
    return softplus - label * margin;
  }
  double operator()(const SquaredMargin&) const {
    return HuberValue(kLargestResidual, margin - Target(label));
  }
  double operator()(const HuberMargin& huber) const {
    return HuberValue(huber.knee, margin - Target(label));
  }
};

struct Derivative {
  double margin;
  double label;
  double operator()(const LogisticMargin&) const { return 1 / (1 + std::exp(-margin)) - label; }
  double operator()(const SquaredMargin&) const {
    return HuberResidual(kLargestResidual, margin - Target(label));
  }
  double operator()(const HuberMargin& huber) const {
    return HuberResidual(huber.knee, margin - Target(label));
  }
};

struct Slope {
  double operator()(const LogisticMargin&) const { return 1; }
  double operator()(const SquaredMargin&) const { return kLargestResidual; }
  double operator()(const HuberMargin& huber) const { return huber.knee; }
};

struct Curvature {
  double operator()(const LogisticMargin&) const { return 0.25; }
  double operator()(const SquaredMargin&) const { return 1; }
  double operator()(const HuberMargin&) const { return 1; }
};

}  // namespace

absl::Status ValidateMarginLoss(const MarginLoss& loss) { return std::visit(Validator{}, loss); }

std::string_view MarginLossName(const MarginLoss& loss) { return std::visit(Name{}, loss); }

double MarginLossValue(const MarginLoss& loss, double margin, double label) {
  return std::visit(Value{margin, label}, loss);
}

double Residual(const MarginLoss& loss, double margin, double label) {
  return std::visit(Derivative{margin, label}, loss);
}

double LargestResidual(const MarginLoss& loss) { return std::visit(Slope{}, loss); }

double LargestCurvature(const MarginLoss& loss) { return std::visit(Curvature{}, loss); }

double LipschitzConstant(const MarginLoss& loss, double row_norm_bound) {
  return row_norm_bound * row_norm_bound * LargestCurvature(loss);
}

}  // namespace epsledger::trainers::istdp
