#include "client/trainers/fsdp/evaluation.h"

#include <algorithm>
#include <vector>

#include "accounting/event/status_macros.h"
#include "client/trainers/network/cross_entropy.h"

namespace epsledger::trainers::fsdp {
namespace {

constexpr Eigen::Index kChunk = 500;

}  // namespace

absl::StatusOr<Evaluation> Evaluate(const network::Network<float>& network,
                                    const HeldOutColumns& held_out) {
  const LabeledColumns& records = held_out.records;
  const Eigen::Index count = records.inputs.cols();
  Evaluation sum;
  for (Eigen::Index begin = 0; begin < count; begin += kChunk) {
    const Eigen::Index size = std::min(kChunk, count - begin);
    ASSIGN_OR_RETURN(const auto tape, network.Forward(records.inputs.middleCols(begin, size)));
    const network::Matrix<float>& logits = tape.activations.back();
    const std::vector<int> labels(records.labels.begin() + begin,
                                  records.labels.begin() + begin + size);
    ASSIGN_OR_RETURN(const auto losses, network::CrossEntropy<float>(logits, labels));
    sum.loss += losses.losses.sum();
    for (Eigen::Index i = 0; i < size; ++i) {
      Eigen::Index largest = 0;
      logits.col(i).maxCoeff(&largest);
      if (largest == labels[static_cast<size_t>(i)]) sum.accuracy += 1;
    }
  }
  const auto total = static_cast<double>(count);
  return Evaluation{.accuracy = sum.accuracy / total, .loss = sum.loss / total};
}

}  // namespace epsledger::trainers::fsdp
