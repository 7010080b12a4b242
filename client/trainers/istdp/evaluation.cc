#include "client/trainers/istdp/evaluation.h"

#include "client/trainers/istdp/linear_loss.h"

namespace epsledger::trainers::istdp {

double Accuracy(const HeldOutRows& held_out, const Eigen::VectorXd& theta) {
  const Eigen::VectorXd margins = held_out.rows.features * theta;
  Eigen::Index right = 0;
  for (Eigen::Index row = 0; row < margins.size(); ++row) {
    const double predicted = margins[row] > 0 ? 1 : 0;
    if (predicted == held_out.rows.labels[row]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(margins.size());
}

double Objective(const HeldOutRows& held_out, const MarginLoss& loss,
                 const Regularizer& regularizer, const Eigen::VectorXd& theta) {
  const double records = static_cast<double>(held_out.rows.labels.size());
  return LossSum(loss, held_out.rows, theta) / records + Penalty(regularizer, theta);
}

}  // namespace epsledger::trainers::istdp
