#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_PUBLISHED_RELEASE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_PUBLISHED_RELEASE_H_

#include <Eigen/Core>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp_published/factorization.h"
#include "client/trainers/fsdp_published/noise_scales.h"

namespace epsledger::trainers::fsdp_published {

// The publication. Every result carries kNotProvenLabel with kCounterexampleFlag: see attacks.h.
inline constexpr std::string_view kPublishedSource =
    "Zhou and Qian 2022, Differential Privacy Algorithm under Deep Neural Networks (FSDP)";

// Returns draws of N(0, 1).
using NormalSource = std::function<double()>;

// One record's part of a batch.
struct RecordGradient {
  Eigen::MatrixXd gradient;      // d x p
  Eigen::VectorXd row_epsilons;  // (7), of size d; empty: epsilon for every row
};

struct PublishedOptions {
  PublishedBudget budget;
  FactorizationOptions factorization;
};

// What Table 1 computes from the private batch.
struct Thresholds {
  double embedding = 0;  // C_V
  double residual = 0;   // C_Phi
  double gradient = 0;   // C_g
};

struct PublishedRelease {
  Eigen::MatrixXd gradient;  // the release of the published algorithm: the mean of the clipped
  NoiseScales scales;
  Thresholds thresholds;
  int used = 0;  // records left after Table 1 dropped outliers
  // Means over the records: of the norm of one record's noised gradient before clipping, and of the
  // norm of its exact gradient.
  double noisy_norm = 0;
  double signal_norm = 0;
};

// Table 1 and steps (5) to (12) of Table 2 for one layer and one batch:
//
//   records whose gradient norm is outside mean +- 3 standard deviations are dropped;
//   g = V H + Phi;  sigma_j by (8) with the record's epsilon_j;
//   C_V = mean ||V + N(0, sigma_V^2)||, C_Phi likewise, of the scales at epsilon;
//   row j of V gets N(0, (sigma_jV C_V)^2), row j of Phi N(0, (sigma_jPhi C_Phi)^2);
//   C_g = mean ||V~ H + Phi~||, and the mean of (V~ H + Phi~) / max(1, || . || / C_g) is released.
//
// Tables 1 and 2 each need results of the other; this order allows both to be computed. THIS IS NOT
// PRIVATE: H is exact, every scale depends on the records, clipping comes after the noise, and the
// sum is divided by the number of records. Do not call it without a nonPrivate charge
// (unproven_run.h).
//
// An empty batch releases zero. INVALID_ARGUMENT unless all gradients have the same shape and a
// finite squared norm, row_epsilons has size d and positive entries, epsilon > 0 and delta is in
// (0, 1); also as Factor.
absl::StatusOr<PublishedRelease> ReleaseBatch(const std::vector<RecordGradient>& batch,
                                              const PublishedOptions& options,
                                              const NormalSource& normal);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_PUBLISHED_RELEASE_H_
