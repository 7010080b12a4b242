#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_CLIPPED_SUM_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_CLIPPED_SUM_H_

#include <Eigen/Core>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/fsdp/noise_split.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// One column a record.
struct LabeledColumns {
  network::Matrix<float> inputs;
  std::vector<int> labels;
  // More views of the records, each as `inputs`: the gradient of a record is the mean of the
  // gradients at its views [DBHSB22, augmentation multiplicity]. Only training reads them.
  std::vector<network::Matrix<float>> more_views = {};

  Eigen::Index view_count() const { return static_cast<Eigen::Index>(more_views.size()) + 1; }
};

// How the gradient of one fully connected layer is split and scaled. Its gradient for record i is
// the matrix delta_i [a_i; 1]^T of outputs x (inputs + 1); the last column is for the bias.
struct LayerView {
  // H, k x outputs: the embedding of the gradient is H delta_i [a_i; 1]^T, its residual
  // (delta_i - H^T H delta_i) [a_i; 1]^T. No rows: the whole gradient is residual.
  network::Matrix<float> subspace;
  // s, one a column of the gradient: columns are divided by s before clipping and multiplied by it
  // after the release, so the noise of column j is proportional to s_j. Each is in [1e-6, 1e6] or
  // 0; 0 leaves the column out, and its gradient is 0. Empty: all 1.
  network::Vector<float> column_scales;
};

enum class ClipGeometry {
  kSeparate,  // ||v|| <= C_V and ||phi|| <= C_Phi, each in its own share of the noise
  kJoint,     // ||v||^2 / C_V^2 + ||phi||^2 / C_Phi^2 <= 1, all of the noise for both
};

// Everything except the network that a step's sum over the records depends on. It must be a
// function of public numbers and of earlier releases.
struct StepView {
  std::vector<LayerView> layers;  // one for each layer of the network
  ClipGeometry geometry = ClipGeometry::kSeparate;
  double embedding_clip = 1;  // C_V, in [1e-15, 1e15]; used if a layer has a subspace
  double residual_clip = 1;   // C_Phi, in [1e-15, 1e15]
  NoiseShares shares;
};

// The positions of the parts of a contribution in the vector that is summed and released: for every
// layer with parameters its embedding (k x (inputs + 1), column-major), then its residual (as many
// entries as it has parameters); then the indicators.
struct ContributionLayout {
  struct Part {
    Eigen::Index embedding_begin = 0;
    Eigen::Index embedding_rows = 0;  // k
    Eigen::Index residual_begin = 0;
    Eigen::Index residual_size = 0;
    Eigen::Index columns = 0;  // inputs + 1 of a fully connected layer; else 0
  };
  std::vector<Part> layers;
  Eigen::Index indicators_begin = 0;
  Eigen::Index size = 0;
};

// Returns the layout. INVALID_ARGUMENT that names the field unless `view` fits the network: one
// view a layer, subspaces and column scales only on fully connected layers and of their sizes, all
// finite, scales and clip norms in their domains.
absl::StatusOr<ContributionLayout> LayOut(const network::Network<float>& network,
                                          const StepView& view);

// Returns the sum over the batch of each record's contribution:
//
//   separate:  (v_i shares.embedding min(1/C_V, 1/||v_i||),
//               phi_i shares.residual min(1/C_Phi, 1/||phi_i||),
//               +-shares.indicator as ||v_i|| <= C_V or not, the same for phi_i)
//   joint:     ((v_i / C_V, phi_i / C_Phi) w min(1, 1/n_i), +-shares.indicator as n_i <= 1 or not)
//              with n_i = || (v_i / C_V, phi_i / C_Phi) ||, w^2 = embedding^2 + residual^2
//
// With views, v_i and phi_i are means over the views of the record, formed before clipping: the
// norm is that of the mean, so however many views a record has, its contribution is bounded as
// without them. v_i and phi_i cover all layers together; parameters without a subspace are in
// phi_i. If no layer has a subspace, the indicator of v_i is left out (shares.indicator_count is
// then at most 1). A single indicator under kSeparate is that of phi_i.
//
// Sensitivity: a record's contribution is a function of the network, the view and that record
// alone, and its norm is at most 1, as computed and not only in exact arithmetic; the sum is exact
// (exact_sum.h). So batches that differ by one record have sums at distance at most 1 (at most 2 if
// a record is replaced). A record whose loss or gradient is not finite contributes no gradient, and
// contributes the indicators of a record whose norms exceed the clips.
//
// NOT private: pass it only to a GradientRelease, with contribution 1.
//
// `threads` >= 1; the result does not depend on it. INVALID_ARGUMENT as LayOut, and for a batch of
// more than MaxRecords(views) records, numbers outside `records`, views of another shape, or more
// than 16 views. An empty batch gives zeros.
absl::StatusOr<Eigen::VectorXd> ClippedSum(const network::Network<float>& network,
                                           const StepView& view, const LabeledColumns& records,
                                           const std::vector<int>& batch, int threads = 1);

// Returns the sum of the clipped gradients that a released vector represents, in the order of
// Network::parameters(): H^T V + (I - H^T H) Phi of every layer, with V and Phi scaled back.
// Without clipping and noise the result is the gradient. Post-processing. REQUIRES: `released` is
// laid out as LayOut(network, view) and finite.
network::Vector<float> Reconstruct(const network::Network<float>& network, const StepView& view,
                                   const Eigen::VectorXd& released);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_CLIPPED_SUM_H_
