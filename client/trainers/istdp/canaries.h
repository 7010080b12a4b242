#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_CANARIES_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_CANARIES_H_

#include <Eigen/Core>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_rows.h"
#include "client/trainers/istdp/training.h"

namespace epsledger::trainers::istdp {

// Records that were made for an audit in one run [SNJ23], each trained on with probability 1/2 by a
// fair coin.
//
// Every canary is of class 1 and has one feature that no other record has, of value `row_norm`
// ("Dirac canaries"): no record and no other canary stands before it. They are a function of public
// numbers and of the coins alone, so what theorem 1 of README.md says of the records holds given
// any canaries, and whoever knows all of them learns nothing of the records by them.
class Canaries {
 public:
  // Appends `count` features to both parts, and the members to the records to train on: each is one
  // record more, at distance one by add-or-remove. INTERNAL without randomness.
  // REQUIRES: count >= 1, row_norm > 0, both parts with the same features.
  static absl::StatusOr<Canaries> Plant(int count, double row_norm, LabeledRows* train,
                                        LabeledRows* held_out);

  // Takes the released gradient of a step, along every canary: post-processing. A member pulls it
  // down there until its margin has grown.
  void Observe(const StepReport& step);

  // In the order of the canaries; the higher a score, the more a member. 0 before the first step.
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
