#include "client/trainers/fsdp/public_basis.h"

#include <Eigen/QR>
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "client/trainers/fsdp/subspace.h"
#include "client/trainers/network/matrix_product.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Factor;
using network::Matrix;

constexpr uint64_t kStartSeed = 1;
constexpr int kRounds = 10;
constexpr Eigen::Index kChunkColumns = 256;

Matrix<float> Product(const Factor<float>& left, const Factor<float>& right) {
  Matrix<float> result(left.rows(), right.cols());
  network::SetProduct<float>(
      left, right, Eigen::Map<Matrix<float>>(result.data(), result.rows(), result.cols()));
  return result;
}

// Returns orthonormal columns with the same span.
Matrix<float> OrthonormalColumns(const Matrix<float>& columns) {
  const Eigen::MatrixXd wide = columns.cast<double>();
  return (Eigen::HouseholderQR<Eigen::MatrixXd>(wide).householderQ() *
          Eigen::MatrixXd::Identity(wide.rows(), wide.cols()))
      .cast<float>();
}

}  // namespace

PublicBasis TopDirections(const Matrix<float>& public_columns, Eigen::Index count) {
  PublicBasis basis{.mean = public_columns.rowwise().mean(), .directions = {}};
  const Matrix<float> centered = public_columns.colwise() - basis.mean;
  Matrix<float> directions = RandomSubspace(count, public_columns.rows(), kStartSeed).transpose();
  for (int round = 0; round < kRounds; ++round) {
    const Matrix<float> coordinates =
        Product(Factor<float>(centered).Transposed(), Factor<float>(directions));
    directions = OrthonormalColumns(Product(Factor<float>(centered), Factor<float>(coordinates)));
  }
  basis.directions = directions.transpose();
  return basis;
}

Matrix<float> Coordinates(const PublicBasis& basis, const Matrix<float>& inputs, int threads) {
  Matrix<float> coordinates(basis.directions.rows(), inputs.cols());
  const auto work = [&](Eigen::Index thread) {
    Matrix<float> chunk(inputs.rows(), kChunkColumns);
    for (Eigen::Index begin = thread * kChunkColumns; begin < inputs.cols();
         begin += threads * kChunkColumns) {
      const Eigen::Index filled = std::min(kChunkColumns, inputs.cols() - begin);
      chunk.leftCols(filled) = inputs.middleCols(begin, filled).colwise() - basis.mean;
      chunk.rightCols(kChunkColumns - filled).setZero();
      coordinates.middleCols(begin, filled) =
          Product(Factor<float>(basis.directions), Factor<float>(chunk)).leftCols(filled);
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
  return coordinates;
}

}  // namespace epsledger::trainers::fsdp
