#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_NOISE_SCALES_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_NOISE_SCALES_H_

#include <Eigen/Core>
#include <vector>

#include "client/trainers/fsdp_published/factorization.h"

namespace epsledger::trainers::fsdp_published {

// What the paper calls the privacy budget.
struct PublishedBudget {
  double epsilon = 2;
  double delta = 1e-5;
};

// The paper's scales for one batch, equations (3) to (5) and (8), as printed except for two indices
// with only one possible meaning (n in (5) is d). None of them is a sensitivity: M is a maximum
// over the private batch, and the paper scales the local sensitivity down, while smooth sensitivity
// is never below it.
struct NoiseScales {
  double largest_embedding = 0;  // M_V, over the batch
  double largest_residual = 0;   // M_Phi
  double beta = 0;               // epsilon / (2 ln(1 / delta))
  // (5)  S*_V = 2 d k M_V exp(-beta), S*_Phi = 2 p k M_Phi exp(-beta)
  double embedding_sensitivity = 0;
  double residual_sensitivity = 0;
  // (8) at epsilon_j = epsilon: sqrt(2 ln(1.25 / delta)) S* / epsilon
  double embedding_noise = 0;
  double residual_noise = 0;
};

// REQUIRES: all of one shape, at least one; epsilon > 0, delta in (0, 1).
NoiseScales ScalesOf(const std::vector<Factorization>& batch, const PublishedBudget& budget);

// (7)  epsilon_j = d epsilon |R_j| / sum |R_j|: the budgets of the d rows, which add up to d
// epsilon. The paper does not define the budget of a row with relevance 0, whose noise would be
// infinite. Here every |R_j| is at least 1e-3 of their mean, and rows are equal where all are 0.
Eigen::VectorXd RowEpsilons(const Eigen::VectorXd& relevances, double epsilon);

// (6)  Layer-wise relevance propagation through one layer z = W^T a + b, by the epsilon rule:
// R_j = sum_m a_j w_jm / (z_m + stabilizer sign z_m) R_m. Up to the stabilizer and the biases'
// share the R_j add up to the R_m. weights: d x p, biases and output_relevances: p, inputs: d.
Eigen::VectorXd PropagateRelevances(const Eigen::MatrixXd& weights, const Eigen::VectorXd& biases,
                                    const Eigen::VectorXd& inputs,
                                    const Eigen::VectorXd& output_relevances, double stabilizer);

// The same for the last layer, with R_m = z_m of the record's class and 0 of the others. The paper
// computes it from a private record and uses it without a charge. label in [0, p).
Eigen::VectorXd Relevances(const Eigen::MatrixXd& weights, const Eigen::VectorXd& biases,
                           const Eigen::VectorXd& inputs, int label, double stabilizer);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_NOISE_SCALES_H_
