#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_CANARIES_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_CANARIES_H_

#include <Eigen/Core>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_rows.h"
#include "client/trainers/istdp/training.h"

namespace epsledger::trainers::istdp {

// Artificial records for an audit in one run [SNJ23]. A fair coin decides for each record whether
// it is trained on.
//
// Every canary is of class 1 and has one feature that no other record has, of value `row_norm`
// ("Dirac canaries"), so no record and no other canary hides it. Canaries depend only on public
// numbers and on the coins. So theorem 1 of README.md holds for the records given any canaries, and
// someone who knows all canaries learns nothing about the records from them.
class Canaries {
 public:
  // Appends `count` features to both parts, and the members to the training records: each is one
  // more record, at distance one by add-or-remove. INTERNAL if there is no randomness.
  // REQUIRES: count >= 1, row_norm > 0, both parts with the same features.
  static absl::StatusOr<Canaries> Plant(int count, double row_norm, LabeledRows* train,
                                        LabeledRows* held_out);

  // Subtracts the released gradient of a step along every canary from its score: post-processing. A
  // member makes this gradient entry smaller until its margin has grown.
  void Observe(const StepReport& step);

  // One score a canary, in order; a higher score indicates a member. 0 before the first step.
  const std::vector<double>& scores() const { return scores_; }
  const std::vector<bool>& is_member() const { return is_member_; }

 private:
  Canaries(std::vector<bool> is_member, Eigen::Index first_feature);

  std::vector<bool> is_member_;
  Eigen::Index first_feature_;
  std::vector<double> scores_;
};

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_CANARIES_H_
