#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_CANARIES_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_CANARIES_H_

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// The shape of canaries. All public: no field may depend on the private records.
struct CanaryRequest {
  int64_t count = 0;            // in [1, kMaxRecords]
  Eigen::Index input_size = 0;  // of a record, >= 1
  int class_count = 0;          // >= 1
  float magnitude = 0;          // of every entry of an input; finite and > 0
};

// Artificial records for an audit in one run [SNJ23], and the coin of each.
struct Canaries {
  LabeledColumns records;
  std::vector<bool> is_member;  // one a canary; true: it is trained on

  int64_t member_count() const;
};

// Returns canaries whose entries are each +magnitude or -magnitude by a fair coin, with labels that
// are uniform (to 2^-32), each a member with probability exactly 1/2, everything independent. They
// depend only on the request and on chance, so they are independent of every private record.
// Theorem 1 of README.md holds for the records given any canaries, and someone who knows all
// canaries and coins learns nothing about the records from them.
//
// Randomness is OpenSSL's RAND_bytes; there is no seed. INVALID_ARGUMENT outside the domains;
// INTERNAL if the operating system gave no randomness.
absl::StatusOr<Canaries> DrawCanaries(const CanaryRequest& request);

// Appends the members, and no other canary, to the training records: each is one more record, at
// distance one by add-or-remove.
// REQUIRES: `train` has inputs of the canaries' size.
void AddMembers(const Canaries& canaries, LabeledColumns& train);

// Returns minus the cross-entropy of every canary under this network, in the order of the canaries:
// a higher score indicates a member. Reads only the canaries' records, not their membership, so
// with released parameters it is post-processing. INVALID_ARGUMENT if the canaries do not fit the
// network.
absl::StatusOr<std::vector<double>> ScoreCanaries(const network::Network<float>& network,
                                                  const Canaries& canaries);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_CANARIES_H_
