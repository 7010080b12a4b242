#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLIC_BASIS_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLIC_BASIS_H_

#include <Eigen/Core>

#include "client/trainers/network/shape.h"

namespace epsledger::trainers::fsdp {

// The mean and the directions of largest variance of PUBLIC records. A map made from it reads no
// private record, so it costs no privacy; a bad one costs accuracy.
struct PublicBasis {
  network::Vector<float> mean;
  network::Matrix<float> directions;  // orthonormal rows
};

// Returns the mean of the columns and `count` directions that nearly span their largest variance,
// by a few rounds of orthogonal iteration from a fixed start: only the span matters to a network
// whose first layer is fully connected. Equal on processors with the same vectors. Cost: about
// 40 rows * columns * count operations. REQUIRES: finite entries, 1 <= count < columns, count <=
// rows.
PublicBasis TopDirections(const network::Matrix<float>& public_columns, Eigen::Index count);

// Returns directions * (x - mean) of every column x of `inputs`. Columns go through the product in
// chunks of one width, padded with zeros, as those of ClippedSum, so a column's coordinates are the
// same bits whatever the other columns are and wherever it stands (tested, not proven: README, "As
// computed"). A NaN stays in its column. `threads` >= 1; the result does not depend on it.
// REQUIRES: inputs.rows() == basis.mean.size().
network::Matrix<float> Coordinates(const PublicBasis& basis, const network::Matrix<float>& inputs,
                                   int threads);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLIC_BASIS_H_
