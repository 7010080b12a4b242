#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_SPARSE_PROBLEM_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_SPARSE_PROBLEM_H_

#include <Eigen/Core>
#include <cstdint>

#include "client/trainers/data/labeled_rows.h"

namespace epsledger::trainers::istdp {

struct SparseProblemOptions {
  int record_count = 20000;
  int feature_count = 100;
  int entries_per_record = 20;  // <= feature_count
  int true_coefficient_count = 10;
  double true_coefficient = 10;  // with alternating signs
  uint64_t seed = 7;
};

// An artificial problem with a known answer.
struct SparseProblem {
  LabeledRows rows;  // of norm 1
  Eigen::VectorXd truth;
};

// Returns records with entries_per_record normal entries at random places, scaled to norm 1, and
// labels that are 1 with probability sigmoid(truth . x). The first n records do not depend on
// record_count. A seed always gives the same problem with the same standard library.
SparseProblem MakeSparseProblem(const SparseProblemOptions& options);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_SPARSE_PROBLEM_H_
