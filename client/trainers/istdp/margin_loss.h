#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_MARGIN_LOSS_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_MARGIN_LOSS_H_

#include <string_view>
#include <variant>

#include "absl/status/status.h"

namespace epsledger::trainers::istdp {

// The loss of a linear model on one record: a convex function of the margin m = theta . x, for a
// label y in {0, 1}. All losses predict class 1 where m > 0.

// log(1 + exp(m)) - y m.
struct LogisticMargin {};

// (m - t)^2 / 2 with t = 2 y - 1: least squares on the targets -1 and 1.
struct SquaredMargin {};

// r^2 / 2 for |r| <= knee, else knee (|r| - knee / 2), with r = m - t and t = 2 y - 1 [Hub64].
// Valid if knee is in [1e-100, kLargestResidual].
struct HuberMargin {
  double knee = 1;
};

// A public choice. To add a loss, add a struct here and a branch in each function below; the
// compiler points at a forgotten one.
using MarginLoss = std::variant<LogisticMargin, SquaredMargin, HuberMargin>;

// The largest residual: the squared loss is the Huber loss with this knee. It keeps every
// intermediate number finite, and is far beyond any margin of a model that fits.
inline constexpr double kLargestResidual = 1e6;

// Returns OK, or INVALID_ARGUMENT that names the field, the value and the domain.
absl::Status ValidateMarginLoss(const MarginLoss& loss);

// Returns "logistic", "squared" or "huber".
std::string_view MarginLossName(const MarginLoss& loss);

// Returns the loss, >= 0; no overflow for any finite margin; NaN for NaN.
// REQUIRES, here and below: a valid loss, label 0 or 1.
double MarginLossValue(const MarginLoss& loss, double margin, double label);

// Returns the derivative of the loss by the margin, the "residual": nondecreasing in the margin, in
// [-LargestResidual(loss), LargestResidual(loss)]; NaN for NaN.
double Residual(const MarginLoss& loss, double margin, double label);

// Returns a bound on |Residual|, which is also the Lipschitz constant of the loss in the margin: 1,
// kLargestResidual, knee.
double LargestResidual(const MarginLoss& loss);

// Returns a bound on the second derivative of the loss by the margin: 1/4, 1, 1.
double LargestCurvature(const MarginLoss& loss);

// Returns R^2 LargestCurvature(loss) >= the Lipschitz constant of the gradient of the MEAN loss
// over any records with ||x|| <= R: its Hessian is the mean of curvatures times x x^T. A public
// number. REQUIRES: row_norm_bound finite and > 0.
double LipschitzConstant(const MarginLoss& loss, double row_norm_bound);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_MARGIN_LOSS_H_
