#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_SPARSE_PROBLEM_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_SPARSE_PROBLEM_H_

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "client/trainers/data/labeled_rows.h"

namespace epsledger::trainers::istdp {

struct SparseProblemOptions {
  int record_count = 20000;
  int feature_count = 100;
  int entries_per_record = 20;
  int true_coefficient_count = 10;
  double true_coefficient = 10;  // with alternating signs
  std::uint64_t seed = 7;
};

struct SparseProblem {
  LabeledRows rows;  // of norm 1
  Eigen::VectorXd truth;
};

// Logistic labels from a sparse truth.
inline SparseProblem MakeSparseProblem(const SparseProblemOptions& options) {
  std::mt19937_64 generator(options.seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  SparseProblem problem;
  problem.truth = Eigen::VectorXd::Zero(options.feature_count);
  for (int k = 0; k < options.true_coefficient_count; ++k) {
    problem.truth[k * (options.feature_count / options.true_coefficient_count)] =
        k % 2 == 0 ? options.true_coefficient : -options.true_coefficient;
  }
  problem.rows.features.resize(options.record_count, options.feature_count);
  problem.rows.labels.resize(options.record_count);
  std::vector<Eigen::Triplet<double>> entries;
  for (int row = 0; row < options.record_count; ++row) {
    std::set<int> columns;
    while (static_cast<int>(columns.size()) < options.entries_per_record) {
      columns.insert(static_cast<int>(generator() % options.feature_count));
    }
    Eigen::VectorXd record = Eigen::VectorXd::Zero(options.feature_count);
    for (const int column : columns) record[column] = normal(generator);
    record.normalize();
    for (const int column : columns) entries.emplace_back(row, column, record[column]);
    const double probability = 1 / (1 + std::exp(-record.dot(problem.truth)));
    problem.rows.labels[row] = uniform(generator) < probability ? 1 : 0;
  }
  problem.rows.features.setFromTriplets(entries.begin(), entries.end());
  problem.rows.features.makeCompressed();
  return problem;
}

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_ISTDP_SPARSE_PROBLEM_H_
