#include "client/trainers/fsdp/clipped_sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp/exact_sum.h"
#include "client/trainers/fsdp/gradient_norms.h"
#include "client/trainers/network/cross_entropy.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Network;
using network::Tape;
using network::Vector;

constexpr double kSmallestClip = 1e-15;
constexpr double kLargestClip = 1e15;
constexpr float kSmallestScale = 1e-6F;
constexpr float kLargestScale = 1e6F;
// Records that go through the network together; a smaller chunk is padded with zeros. How a matrix
// product rounds a column depends on the shapes and on the column's position in a packet. With a
// varying width one more record would change the last bits of other records' gradients. The sizes
// are multiples of every packet's size. Layers that form gradients one by one hold one for each
// record of a chunk.
constexpr size_t kChunk = 256;
constexpr size_t kConvolutionChunk = 64;
constexpr Eigen::Index kMostViews = 16;

bool IsFullyConnected(const Network<float>& network, Eigen::Index layer) {
  return std::holds_alternative<network::FullyConnected>(network.layers()[layer]);
}

absl::Status CheckClip(const char* field, double clip) {
  if (clip >= kSmallestClip && clip <= kLargestClip) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", clip, ", want a number in [1e-15, 1e15]"));
}

absl::Status CheckLayer(const Network<float>& network, Eigen::Index layer, const LayerView& view) {
  const std::string field = absl::StrCat("layers[", layer, "].");
  if (!IsFullyConnected(network, layer)) {
    if (view.subspace.size() == 0 && view.column_scales.size() == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        field, "subspace, column_scales: got some, want none: the layer is not fully connected"));
  }
  const Eigen::Index outputs = network.shape(layer + 1).size();
  const Eigen::Index columns = network.shape(layer).size() + 1;
  if (view.subspace.rows() > 0 &&
      (view.subspace.cols() != outputs || view.subspace.rows() > outputs)) {
    return absl::InvalidArgumentError(absl::StrCat(field, "subspace: got ", view.subspace.rows(),
                                                   " x ", view.subspace.cols(), ", want at most ",
                                                   outputs, " rows of ", outputs));
  }
  if (!view.subspace.allFinite()) {
    return absl::InvalidArgumentError(absl::StrCat(field, "subspace: want finite numbers"));
  }
  if (view.column_scales.size() == 0) return absl::OkStatus();
  if (view.column_scales.size() != columns) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, "column_scales: got ", view.column_scales.size(), ", want ", columns, " or none"));
  }
  for (const float scale : view.column_scales) {
    if (!(scale == 0 || (scale >= kSmallestScale && scale <= kLargestScale))) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, "column_scales: got ", scale, ", want 0 or in [1e-6, 1e6]"));
    }
  }
  return absl::OkStatus();
}

// The gradients of a chunk's records for one layer: the factors of the gradients if the layer is
// fully connected, otherwise the gradients themselves.
struct LayerRecords {
  Matrix<float> embedding;  // H delta_i
  Matrix<float> residual;   // delta_i - H^T H delta_i, or the gradients
  Matrix<float> columns;    // [a_i; 1] / s
};

struct ClipFactorsOfChunk {
  Eigen::ArrayXd embedding;
  Eigen::ArrayXd residual;
  Eigen::ArrayXXd indicators;  // a row an indicator: +1 or -1
};

// The norms of both parts of the gradients of a chunk's records.
struct ChunkNorms {
  GradientNorms embedding;
  GradientNorms residual;
};

ClipFactorsOfChunk FactorsOf(const StepView& view, const ChunkNorms& norms, Eigen::Index records) {
  const NoiseShares& shares = view.shares;
  ClipFactorsOfChunk factors{Eigen::ArrayXd::Zero(records), Eigen::ArrayXd::Zero(records),
                             -Eigen::ArrayXXd::Ones(shares.indicator_count, records)};
  for (Eigen::Index i = 0; i < records; ++i) {
    const PartNorm embedding = norms.embedding.of(i);
    const PartNorm residual = norms.residual.of(i);
    // A record with any number that is not finite is left out of all layers.
    if (!std::isfinite(embedding.norm) || !std::isfinite(residual.norm)) continue;
    if (view.geometry == ClipGeometry::kJoint) {
      const PartNorm joint{.norm = std::hypot(embedding.norm / view.embedding_clip,
                                              residual.norm / view.residual_clip),
                           .largest_view = std::max(embedding.largest_view / view.embedding_clip,
                                                    residual.largest_view / view.residual_clip),
                           .rounding = std::hypot(embedding.rounding, residual.rounding)};
      const double factor =
          ClipFactor(joint, {.clip = 1, .share = std::hypot(shares.embedding, shares.residual)});
      factors.embedding[i] = factor / view.embedding_clip;
      factors.residual[i] = factor / view.residual_clip;
      if (shares.indicator_count > 0 && joint.norm <= 1) factors.indicators(0, i) = 1;
      continue;
    }
    if (shares.embedding > 0) {
      factors.embedding[i] =
          ClipFactor(embedding, {.clip = view.embedding_clip, .share = shares.embedding});
    }
    factors.residual[i] =
        ClipFactor(residual, {.clip = view.residual_clip, .share = shares.residual});
    if (shares.indicator_count > 0 && residual.norm <= view.residual_clip) {
      factors.indicators(0, i) = 1;
    }
    if (shares.indicator_count > 1 && embedding.norm <= view.embedding_clip) {
      factors.indicators(1, i) = 1;
    }
  }
  return factors;
}

class Accumulator {
 public:
  Accumulator(const Network<float>& network, const StepView& view, const ContributionLayout& layout,
              const LabeledColumns& records)
      : network_(network),
        view_(view),
        layout_(layout),
        records_(records),
        sum_(Eigen::VectorXd::Zero(layout.size)) {}

  // Sends `width` columns through the network: view v of record i of the chunk is column
  // v * (width / views) + i. REQUIRES: at most width / views records.
  absl::Status Add(std::span<const int> chunk, size_t width) {
    const Eigen::Index views = records_.view_count();
    const Eigen::Index places = static_cast<Eigen::Index>(width) / views;
    const auto filled = static_cast<Eigen::Index>(chunk.size());
    Matrix<float> inputs =
        Matrix<float>::Zero(records_.inputs.rows(), static_cast<Eigen::Index>(width));
    std::vector<int> labels(width, 0);
    for (Eigen::Index view = 0; view < views; ++view) {
      const Matrix<float>& source =
          view == 0 ? records_.inputs : records_.more_views[static_cast<size_t>(view - 1)];
      for (Eigen::Index i = 0; i < filled; ++i) {
        const int record = chunk[static_cast<size_t>(i)];
        inputs.col(view * places + i) = source.col(record);
        labels[static_cast<size_t>(view * places + i)] =
            records_.labels[static_cast<size_t>(record)];
      }
    }
    ASSIGN_OR_RETURN(Tape<float> tape, network_.Forward(std::move(inputs)));
    ASSIGN_OR_RETURN(network::SampleLosses<float> losses,
                     network::CrossEntropy<float>(tape.activations.back(), labels));
    RETURN_IF_ERROR(network_.Backward(std::move(losses.gradients), &tape));
    ChunkNorms norms{GradientNorms(places, views), GradientNorms(places, views)};
    std::vector<LayerRecords> layers;
    for (Eigen::Index layer = 0; layer < network_.layer_count(); ++layer) {
      layers.push_back(Look(tape, layer, places));
      AddNorms(layers.back(), &norms);
    }
    ClipFactorsOfChunk factors = FactorsOf(view_, norms, places);
    factors.embedding.tail(places - filled).setZero();
    factors.residual.tail(places - filled).setZero();
    factors.indicators.rightCols(places - filled).setZero();
    for (Eigen::Index layer = 0; layer < network_.layer_count(); ++layer) {
      AddLayer(layers[layer], layout_.layers[layer], factors);
    }
    // The shares are on a grid of 2^-30, so these sums are exact too.
    const Eigen::VectorXd votes = factors.indicators.rowwise().sum();
    sum_.tail(votes.size()) += votes * std::ldexp(view_.shares.indicator, kGridBits);
    return absl::OkStatus();
  }

  // In units of the grid.
  const Eigen::VectorXd& sum() const { return sum_; }

 private:
  LayerRecords Look(const Tape<float>& tape, Eigen::Index layer, Eigen::Index places) const {
    if (network_.segment(layer).size == 0) return {};
    if (!IsFullyConnected(network_, layer)) {
      return {.residual = MeanOverViews(network_.SampleGradients(tape, layer), places)};
    }
    const LayerView& view = view_.layers[layer];
    const Matrix<float>& inputs = tape.activations[layer];
    const Matrix<float>& deltas = tape.gradients[layer + 1];
    LayerRecords result;
    result.columns.resize(inputs.rows() + 1, inputs.cols());
    result.columns.topRows(inputs.rows()) = inputs;
    result.columns.bottomRows(1).setOnes();
    if (view.column_scales.size() > 0) {
      result.columns.array().colwise() *= view.column_scales.array().unaryExpr(
          [](float scale) { return scale == 0 ? 0 : 1 / scale; });
    }
    if (records_.view_count() > 1) result.columns = OnGrid(result.columns);
    if (view.subspace.rows() == 0) {
      result.residual = deltas;
      return result;
    }
    result.embedding.noalias() = view.subspace * deltas;
    result.residual = deltas - view.subspace.transpose() * result.embedding;
    return result;
  }

  Matrix<float> MeanOverViews(Matrix<float> gradients, Eigen::Index places) const {
    const Eigen::Index views = records_.view_count();
    if (views == 1) return gradients;
    Matrix<float> mean = gradients.leftCols(places);
    for (Eigen::Index view = 1; view < views; ++view) {
      mean += gradients.middleCols(view * places, places);
    }
    return mean / static_cast<float>(views);
  }

  static void AddNorms(const LayerRecords& layer, ChunkNorms* norms) {
    if (layer.columns.size() == 0) {
      if (layer.residual.size() > 0) norms->residual.AddColumns(layer.residual);
      return;
    }
    norms->residual.AddOuterProducts(layer.residual, layer.columns);
    norms->embedding.AddOuterProducts(layer.embedding, layer.columns);
  }

  // Returns the factors of the columns of all views, whose gradients are averaged.
  Eigen::ArrayXd OfViews(const Eigen::ArrayXd& factors, Eigen::Index width) const {
    const Eigen::Index views = records_.view_count();
    if (views == 1) return factors;
    Eigen::ArrayXd all = Eigen::ArrayXd::Zero(width);
    for (Eigen::Index view = 0; view < views; ++view) {
      all.segment(view * factors.size(), factors.size()) = factors / static_cast<double>(views);
    }
    return all;
  }

  void AddLayer(const LayerRecords& layer, const ContributionLayout::Part& part,
                const ClipFactorsOfChunk& factors) {
    if (part.residual_size == 0) return;
    double* residual = sum_.data() + part.residual_begin;
    if (part.columns == 0) return AddColumns(layer.residual, factors.residual, residual);
    const Eigen::Index width = layer.columns.cols();
    AddOuterProducts(ToGrid(layer.residual, layer.columns, OfViews(factors.residual, width)),
                     layer.columns, residual);
    if (part.embedding_rows > 0) {
      AddOuterProducts(ToGrid(layer.embedding, layer.columns, OfViews(factors.embedding, width)),
                       layer.columns, sum_.data() + part.embedding_begin);
    }
  }

  const Network<float>& network_;
  const StepView& view_;
  const ContributionLayout& layout_;
  const LabeledColumns& records_;
  Eigen::VectorXd sum_;
};

// The sizes of a chunk: the columns that go through the network, and the records they are of.
struct ChunkSize {
  size_t columns;
  size_t records;
};

// Adds every thread_count-th chunk, starting at chunk `thread`.
absl::Status AddChunks(const std::vector<int>& batch, const ChunkSize& chunk, int thread,
                       int threads, Accumulator* accumulator) {
  const size_t stride = chunk.records * static_cast<size_t>(threads);
  for (size_t begin = chunk.records * static_cast<size_t>(thread); begin < batch.size();
       begin += stride) {
    const size_t size = std::min(chunk.records, batch.size() - begin);
    RETURN_IF_ERROR(accumulator->Add(std::span<const int>(&batch[begin], size), chunk.columns));
  }
  return absl::OkStatus();
}

absl::Status CheckBatch(const LabeledColumns& records, const std::vector<int>& batch) {
  const auto count = static_cast<size_t>(records.inputs.cols());
  if (records.labels.size() != count) {
    return absl::InvalidArgumentError(absl::StrCat("records.labels: got ", records.labels.size(),
                                                   ", want one for each of ", count, " records"));
  }
  if (records.view_count() > kMostViews) {
    return absl::InvalidArgumentError(absl::StrCat(
        "records.more_views: got ", records.more_views.size(), ", want fewer than ", kMostViews));
  }
  for (const Matrix<float>& more : records.more_views) {
    if (more.rows() == records.inputs.rows() && more.cols() == records.inputs.cols()) continue;
    return absl::InvalidArgumentError(absl::StrCat("records.more_views: got ", more.rows(), " x ",
                                                   more.cols(), ", want ", records.inputs.rows(),
                                                   " x ", records.inputs.cols(), " as the inputs"));
  }
  const int64_t most = MaxRecords(records.view_count());
  if (batch.size() > static_cast<size_t>(most)) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch: got ", batch.size(), " records, want at most ", most));
  }
  for (const int record : batch) {
    if (record < 0 || static_cast<size_t>(record) >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("batch: got record ", record, ", want in [0, ", count, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ContributionLayout> LayOut(const Network<float>& network, const StepView& view) {
  if (static_cast<Eigen::Index>(view.layers.size()) != network.layer_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("layers: got ", view.layers.size(), " views, want ", network.layer_count()));
  }
  for (const auto& [field, clip] : {std::pair{"embedding_clip", view.embedding_clip},
                                    std::pair{"residual_clip", view.residual_clip}}) {
    RETURN_IF_ERROR(CheckClip(field, clip));
  }
  ContributionLayout layout;
  bool any_subspace = false;
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    const LayerView& layer_view = view.layers[static_cast<size_t>(layer)];
    RETURN_IF_ERROR(CheckLayer(network, layer, layer_view));
    ContributionLayout::Part part;
    part.columns = IsFullyConnected(network, layer) ? network.shape(layer).size() + 1 : 0;
    part.embedding_begin = layout.size;
    part.embedding_rows = layer_view.subspace.rows();
    part.residual_begin = layout.size + part.embedding_rows * part.columns;
    part.residual_size = network.segment(layer).size;
    layout.size = part.residual_begin + part.residual_size;
    layout.layers.push_back(part);
    any_subspace = any_subspace || part.embedding_rows > 0;
  }
  const NoiseShares& shares = view.shares;
  const double total = shares.embedding * shares.embedding + shares.residual * shares.residual +
                       shares.indicator_count * shares.indicator * shares.indicator;
  const int most_indicators = view.geometry == ClipGeometry::kSeparate && any_subspace ? 2 : 1;
  if (!(total <= 1) || !(shares.residual > 0) || !(shares.embedding >= 0) ||
      (any_subspace && !(shares.embedding > 0)) || shares.indicator_count < 0 ||
      shares.indicator_count > most_indicators) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shares: got embedding ", shares.embedding, ", residual ", shares.residual, " and ",
        shares.indicator_count, " indicators of ", shares.indicator,
        ", want squares that add up to at most 1, a share for each part there is, and at most ",
        most_indicators, " indicators"));
  }
  layout.indicators_begin = layout.size;
  layout.size += shares.indicator_count;
  return layout;
}

absl::StatusOr<Eigen::VectorXd> ClippedSum(const Network<float>& network, const StepView& view,
                                           const LabeledColumns& records,
                                           const std::vector<int>& batch, int threads) {
  ASSIGN_OR_RETURN(const ContributionLayout layout, LayOut(network, view));
  RETURN_IF_ERROR(CheckBatch(records, batch));
  size_t columns = kChunk;
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    const bool forms_gradients =
        !IsFullyConnected(network, layer) && network.segment(layer).size > 0;
    if (forms_gradients) columns = kConvolutionChunk;
  }
  const ChunkSize chunk{columns, columns / static_cast<size_t>(records.view_count())};
  const size_t chunks = (batch.size() + chunk.records - 1) / chunk.records;
  const int used = std::max(1, std::min(threads, static_cast<int>(chunks)));
  std::vector<Accumulator> accumulators(static_cast<size_t>(used),
                                        Accumulator(network, view, layout, records));
  std::vector<absl::Status> statuses(static_cast<size_t>(used));
  std::vector<std::thread> others;
  for (int thread = 1; thread < used; ++thread) {
    others.emplace_back([&, thread] {
      statuses[thread] = AddChunks(batch, chunk, thread, used, &accumulators[thread]);
    });
  }
  statuses[0] = AddChunks(batch, chunk, 0, used, &accumulators[0]);
  for (std::thread& other : others) other.join();
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(layout.size);
  for (int thread = 0; thread < used; ++thread) {
    if (!statuses[thread].ok()) return statuses[thread];
    sum += accumulators[thread].sum();
  }
  return Eigen::VectorXd(sum * std::ldexp(1.0, -kGridBits));
}

Vector<float> Reconstruct(const Network<float>& network, const StepView& view,
                          const Eigen::VectorXd& released) {
  const ContributionLayout layout = *LayOut(network, view);
  double embedding_scale = view.embedding_clip / view.shares.embedding;
  double residual_scale = view.residual_clip / view.shares.residual;
  if (view.geometry == ClipGeometry::kJoint) {
    const double share = std::hypot(view.shares.embedding, view.shares.residual);
    embedding_scale = view.embedding_clip / share;
    residual_scale = view.residual_clip / share;
  }
  Vector<float> gradient(network.parameter_count());
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    const ContributionLayout::Part& part = layout.layers[static_cast<size_t>(layer)];
    if (part.residual_size == 0) continue;
    const LayerView& layer_view = view.layers[static_cast<size_t>(layer)];
    auto segment = gradient.segment(network.segment(layer).begin, network.segment(layer).size);
    segment =
        (released.segment(part.residual_begin, part.residual_size) * residual_scale).cast<float>();
    if (part.columns == 0) continue;
    // Weights and bias are contiguous: one matrix of outputs x (inputs + 1).
    Eigen::Map<Matrix<float>> matrix(segment.data(), part.residual_size / part.columns,
                                     part.columns);
    if (part.embedding_rows > 0) {
      const Matrix<float>& subspace = layer_view.subspace;
      const Matrix<float> embedding =
          (Eigen::Map<const Eigen::MatrixXd>(released.data() + part.embedding_begin,
                                             part.embedding_rows, part.columns) *
           embedding_scale)
              .cast<float>();
      matrix += subspace.transpose() * (embedding - subspace * matrix);
    }
    if (layer_view.column_scales.size() > 0) {
      matrix.array().rowwise() *= layer_view.column_scales.transpose().array();
    }
  }
  return gradient;
}

}  // namespace epsledger::trainers::fsdp
