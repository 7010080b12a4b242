#include "client/trainers/istdp/canaries.h"

#include <utility>

#include "accounting/event/status_macros.h"
#include "client/trainers/run/canary_scores.h"

namespace epsledger::trainers::istdp {
namespace {

void AppendFeatures(int count, LabeledRows* rows) {
  rows->features.conservativeResize(rows->features.rows(), rows->features.cols() + count);
  rows->features.makeCompressed();
}

}  // namespace

Canaries::Canaries(std::vector<bool> is_member, Eigen::Index first_feature)
    : is_member_(std::move(is_member)),
      first_feature_(first_feature),
      scores_(is_member_.size(), 0.0) {}

absl::StatusOr<Canaries> Canaries::Plant(int count, double row_norm, LabeledRows* train,
                                         LabeledRows* held_out) {
  ASSIGN_OR_RETURN(std::vector<bool> is_member, DrawMembers(count));
  const Eigen::Index first_feature = train->features.cols();
  AppendFeatures(count, train);
  AppendFeatures(count, held_out);

  Eigen::Index members = 0;
  for (const bool member : is_member) members += member ? 1 : 0;
  const SparseRows& records = train->features;
  const Eigen::Index record_count = records.rows();
  SparseRows features(record_count + members, records.cols());
  features.reserve(records.nonZeros() + members);
  for (Eigen::Index row = 0; row < record_count; ++row) {
    features.startVec(row);
    for (SparseRows::InnerIterator entry(records, row); entry; ++entry) {
      features.insertBack(row, entry.col()) = entry.value();
    }
  }
  Eigen::Index row = record_count;
  for (int canary = 0; canary < count; ++canary) {
    if (!is_member[static_cast<size_t>(canary)]) continue;
    features.startVec(row);
    features.insertBack(row++, first_feature + canary) = row_norm;
  }
  features.finalize();
  train->features = std::move(features);
  train->labels.conservativeResize(record_count + members);
  train->labels.tail(members).setOnes();
  return Canaries(std::move(is_member), first_feature);
}

void Canaries::Observe(const StepReport& step) {
  for (size_t canary = 0; canary < scores_.size(); ++canary) {
    scores_[canary] -=
        step.state.previous_gradient[first_feature_ + static_cast<Eigen::Index>(canary)];
  }
}

}  // namespace epsledger::trainers::istdp
