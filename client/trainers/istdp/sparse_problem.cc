#include "client/trainers/istdp/sparse_problem.h"

#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace epsledger::trainers::istdp {

SparseProblem MakeSparseProblem(const SparseProblemOptions& options) {
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
