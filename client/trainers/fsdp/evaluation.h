#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_EVALUATION_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_EVALUATION_H_

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// Records that no training step reads. Evaluation accepts only this type: on private records its
// numbers would be an uncharged release.
struct HeldOutColumns {
  LabeledColumns records;
};

struct Evaluation {
  double accuracy = 0;  // share of records whose label has the largest logit; NaN for no records
  double loss = 0;      // mean cross-entropy
};

// INVALID_ARGUMENT if the records do not fit the network.
absl::StatusOr<Evaluation> Evaluate(const network::Network<float>& network,
                                    const HeldOutColumns& held_out);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_EVALUATION_H_
