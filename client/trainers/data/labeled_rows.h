#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_LABELED_ROWS_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_LABELED_ROWS_H_

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <vector>

#include "absl/status/status.h"

namespace epsledger::trainers {

// One record a row; always compressed.
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// Records of a two-class problem. Invariants: labels.size() == features.rows(), every label is 0 or
// 1, `features` is compressed.
struct LabeledRows {
  SparseRows features;
  Eigen::VectorXd labels;
};

// Records that no training step reads. Evaluation accepts only this type, so code that computes a
// loss or an accuracy of the private training records does not compile by accident. Such a number
// would be an uncharged release.
struct HeldOutRows {
  LabeledRows rows;
};

// Returns `rows` with an additional last column that is 1 in every row. Each result row depends on
// its own row only. O(non-zeros).
LabeledRows WithBiasColumn(const LabeledRows& rows);

// Scales every row x of `rows` with ||x||_2 > row_norm_bound by row_norm_bound / ||x||_2, and does
// not change the others. Afterwards ||x||_2 <= row_norm_bound (1 + 4e-16 + 1e-16 * non-zeros of the
// row). A row with a NaN or an infinity, or whose norm overflows, becomes the zero row. Each result
// row depends on its own row and the PUBLIC bound only; a bound computed from the records (say,
// their largest norm) would be an uncharged release. INVALID_ARGUMENT unless row_norm_bound is
// finite and > 0. O(non-zeros).
absl::Status ClipRowNorms(double row_norm_bound, LabeledRows* rows);

// Returns the rows with the given numbers, in that order. REQUIRES: each in [0, features.rows()).
LabeledRows SelectRows(const LabeledRows& rows, const std::vector<int>& row_numbers);

// Returns the Euclidean norm of each row, without overflow or underflow on the way; NaN or +inf if
// the row has a NaN or an infinity or if its norm exceeds the largest double. REQUIRES: compressed.
Eigen::VectorXd RowNorms(const SparseRows& features);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_LABELED_ROWS_H_
