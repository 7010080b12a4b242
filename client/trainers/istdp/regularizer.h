#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_REGULARIZER_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_REGULARIZER_H_

#include <Eigen/Core>
#include <variant>

#include "absl/status/status.h"
#include "client/trainers/istdp/capped_l1_prox.h"
#include "client/trainers/istdp/mcp_prox.h"
#include "client/trainers/istdp/scad_prox.h"

namespace epsledger::trainers::istdp {

// phi(t) = lambda |t|. Valid if lambda is finite and >= 0.
struct L1Penalty {
  double lambda = 0;
};

// phi(t) = lambda t^2 / 2. Valid if lambda is finite and >= 0.
struct L2Penalty {
  double lambda = 0;
};

// R(theta) = sum over ALL coordinates of phi(theta_j); a bias coordinate is penalized like any
// other. It depends only on theta and public constants, never on a record. To add a penalty, add a
// struct here and one branch in each function below; the compiler points at a forgotten one.
using Regularizer = std::variant<McpPenalty, L1Penalty, L2Penalty, ScadPenalty, CappedL1Penalty>;

// Returns OK, or INVALID_ARGUMENT that names the field, the value and the domain.
absl::Status ValidateRegularizer(const Regularizer& regularizer);

// Returns R(theta) >= 0; NaN if a coordinate is NaN. REQUIRES: a valid regularizer.
double Penalty(const Regularizer& regularizer, const Eigen::VectorXd& theta);

// Returns a global minimizer of ||t - s||^2 / 2 + step * phi(t) over t, for one coordinate:
// MCP by McpProx; L1 by the soft threshold sign(s) max(|s| - step lambda, 0); L2 by
// s / (1 + step lambda); SCAD by ScadProx; capped L1 by CappedL1Prox. The minimizer is unique for
// every s if step < shape (MCP), step < shape - 1 (SCAD), always (L1, L2), and never (capped L1
// with lambda > 0); otherwise there are two at one |s|, and it returns the smaller one. NaN gives
// NaN. REQUIRES: a valid regularizer; step finite and > 0.
double ProxCoordinate(const Regularizer& regularizer, double step, double s);

// Returns ProxCoordinate of every coordinate: the proximal map of step * R at `point`. O(size).
Eigen::VectorXd Prox(const Regularizer& regularizer, double step, const Eigen::VectorXd& point);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_REGULARIZER_H_
