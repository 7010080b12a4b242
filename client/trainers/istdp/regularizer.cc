#include "client/trainers/istdp/regularizer.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {
namespace {

absl::Status ValidateLambda(const char* field, double lambda) {
  if (std::isfinite(lambda) && lambda >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", lambda, ", want a finite number >= 0"));
}

struct Validator {
  absl::Status operator()(const McpPenalty& penalty) const { return ValidateMcp(penalty); }
  absl::Status operator()(const L1Penalty& penalty) const {
    return ValidateLambda("L1Penalty.lambda", penalty.lambda);
  }
  absl::Status operator()(const L2Penalty& penalty) const {
    return ValidateLambda("L2Penalty.lambda", penalty.lambda);
  }
  absl::Status operator()(const ScadPenalty& penalty) const { return ValidateScad(penalty); }
  absl::Status operator()(const CappedL1Penalty& penalty) const {
    return ValidateCappedL1(penalty);
  }
};

struct Value {
  double t;
  double operator()(const McpPenalty& penalty) const { return McpValue(penalty, t); }
  double operator()(const L1Penalty& penalty) const { return penalty.lambda * std::fabs(t); }
  double operator()(const L2Penalty& penalty) const { return 0.5 * penalty.lambda * t * t; }
  double operator()(const ScadPenalty& penalty) const { return ScadValue(penalty, t); }
  double operator()(const CappedL1Penalty& penalty) const { return CappedL1Value(penalty, t); }
};

struct Proximal {
  double step;
  double s;
  double operator()(const McpPenalty& penalty) const { return McpProx(penalty, step, s); }
  double operator()(const L1Penalty& penalty) const {
    const double excess = std::fabs(s) - step * penalty.lambda;
    if (std::isnan(excess)) return excess;
    return excess > 0 ? std::copysign(excess, s) : 0.0;
  }
  double operator()(const L2Penalty& penalty) const { return s / (1 + step * penalty.lambda); }
  double operator()(const ScadPenalty& penalty) const { return ScadProx(penalty, step, s); }
  double operator()(const CappedL1Penalty& penalty) const { return CappedL1Prox(penalty, step, s); }
};

}  // namespace

absl::Status ValidateRegularizer(const Regularizer& regularizer) {
  return std::visit(Validator{}, regularizer);
}

double Penalty(const Regularizer& regularizer, const Eigen::VectorXd& theta) {
  double sum = 0;
  for (const double t : theta) sum += std::visit(Value{t}, regularizer);
  return sum;
}

double ProxCoordinate(const Regularizer& regularizer, double step, double s) {
  return std::visit(Proximal{step, s}, regularizer);
}

Eigen::VectorXd Prox(const Regularizer& regularizer, double step, const Eigen::VectorXd& point) {
  return point.unaryExpr([&](double s) { return ProxCoordinate(regularizer, step, s); });
}

}  // namespace epsledger::trainers::istdp
