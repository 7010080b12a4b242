#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_EXACT_SUM_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_EXACT_SUM_H_

#include <Eigen/Core>
#include <cstdint>

#include "client/trainers/network/shape.h"

namespace epsledger::trainers::fsdp {

// Sums over records without rounding.
//
// Every entry of every record's contribution is rounded toward zero to a multiple of 2^-33 before
// it is added, and no entry is above 1. So sums over at most kMaxRecords records are integers of at
// most 53 bits times 2^-33, and double arithmetic adds them exactly: in any order, in any blocks,
// with or without fused multiply-add, on any number of threads. One more record changes a sum by
// exactly its own contribution.
//
// A record with several views adds one outer product a view. Their sum has no entry above 1, but
// each of them can have entries up to kLargestOfAView, so fewer records can be added exactly.
inline constexpr int kGridBits = 33;
inline constexpr int64_t kMaxRecords = int64_t{1} << 20;
inline constexpr double kLargestOfAView = 2;

// Returns how many records of so many views can be added exactly. REQUIRES: views >= 1.
constexpr int64_t MaxRecords(int64_t views) {
  return views == 1 ? kMaxRecords : kMaxRecords / (2 * views);
}

// The integers of one chunk of records: the outer product of column i of `left` and of column i of
// RightOnGrid is record i's contribution in units of 2^-33.
struct GridFactors {
  Eigen::MatrixXd left;         // at most 2^18 each, 2^19 for a record with several views
  Eigen::ArrayXd right_scales;  // a power of two for each column, 0 for one that is left out
};

// Returns factors whose outer products are at most factors[i] * left_i right_i^T in every entry's
// magnitude, and below it by at most 2^-15 of the largest |right| entry and 2^-33 / that entry, of
// the other's. A column with factor 0 is all zero, whatever it contained.
// REQUIRES: where factors[i] > 0, all is finite and |factors[i] * left * right| <= 1 in every
// entry (kLargestOfAView for a record with several views).
GridFactors ToGrid(const network::Matrix<float>& left, const network::Matrix<float>& right,
                   const Eigen::ArrayXd& factors);

// Returns column i of `right` times scales[i], rounded toward zero: at most 2^16 each with the
// scales of ToGrid. A column with scale 0 is all zero.
Eigen::MatrixXd RightOnGrid(const network::Matrix<float>& right, const Eigen::ArrayXd& scales);

// Returns `right` with every entry rounded toward zero as ToGrid rounds it: ToGrid leaves the
// result as it is. Columns that are not finite do not change. For records with several views: their
// outer products can cancel, so the norm of the sum must be that of the rounded columns.
network::Matrix<float> OnGrid(const network::Matrix<float>& right);

// Returns a bound on the Frobenius norm of what ToGrid rounds away from the left side of an outer
// product, in the units of a contribution: sqrt(left_rows) ||right|| 2^-17 / (largest |right|), or
// less. 0 for a column of zeros. REQUIRES: a finite column of OnGrid.
double LeftRounding(Eigen::Index left_rows, const Eigen::Ref<const Eigen::VectorXf>& right);

// Adds the contributions of a chunk to the matrix at `sum`, column-major with left.rows() rows.
// REQUIRES: `right` is what ToGrid had.
void AddOuterProducts(const GridFactors& chunk, const network::Matrix<float>& right, double* sum);

// Adds factors[i] * column i of `gradients` to `sum`, rounded toward zero to the grid, in units of
// 2^-33. REQUIRES: as ToGrid.
void AddColumns(const network::Matrix<float>& gradients, const Eigen::ArrayXd& factors,
                double* sum);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_EXACT_SUM_H_
