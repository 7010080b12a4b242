#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_NOISE_SPLIT_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_NOISE_SPLIT_H_

#include "absl/status/statusor.h"

namespace epsledger::trainers::fsdp {

// How the one Gaussian that a step is charged for is divided among the parts of the release.
// A record's contribution is the concatenation of its parts, each of norm at most its share, with
//
//   embedding^2 + residual^2 + indicator_count * indicator^2 <= 1,
//
// so that noise of standard deviation z on every coordinate is gaussian{z}. A part of clip norm C
// and share w, scaled back by C / w, then has noise of standard deviation (z / w) C: its own noise
// multiplier is z / w, and 1 / z^2 >= sum of 1 / (z / w)^2 over the parts.
struct NoiseShares {
  double embedding = 0;
  double residual = 0;
  // Share of each indicator: its +-1/2 is scaled to +-indicator.
  double indicator = 0;
  int indicator_count = 0;
};

struct NoiseSplitOptions {
  // Share of the embedding in the gradient's part: embedding^2 / (embedding^2 + residual^2). In [0,
  // 1).
  double embedding_fraction = 0;
  int indicator_count = 0;  // in [0, 2]
  // Standard deviation of the noise on each sum of indicators - 1/2. > 0 with indicators.
  double indicator_noise = 0;
};

// Returns the shares, rounded down, for a charged noise multiplier. Each indicator's share is
// noise_multiplier / (2 indicator_noise): one record moves its sum by at most 1/2 [ATMR21].
// INVALID_ARGUMENT that names the field outside its domain, or if the indicators alone would take
// half of the charged noise or more (indicator_noise too small).
absl::StatusOr<NoiseShares> SplitNoise(const NoiseSplitOptions& options, double noise_multiplier);

// Returns z with 1 / z^2 = 1 / first^2 + 1 / second^2: the joint multiplier of two Gaussians with
// these multipliers on the same records (the same sample, for a sampled event). REQUIRES: both > 0.
double JointNoiseMultiplier(double first, double second);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_NOISE_SPLIT_H_
