#include "client/trainers/fsdp/state_file.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/network/byte_fields.h"
#include "client/trainers/network/checkpoint.h"
#include "client/trainers/run/ledger_flags.h"
#include "client/trainers/run/result_file.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::AppendNumber;
using network::AppendText;
using network::AppendUnsigned;
using network::Checkpoint;
using network::FieldReader;
using network::Network;

constexpr absl::string_view kMagic = "EPSLFSDP";
constexpr uint32_t kVersion = 4;
constexpr uint32_t kVersionWithoutCenter = 3;

// Rows, columns, then the entries as doubles, which hold every float exactly.
template <class Derived>
void AppendMatrix(const Eigen::MatrixBase<Derived>& matrix, std::string* bytes) {
  AppendUnsigned(static_cast<uint64_t>(matrix.rows()), bytes);
  AppendUnsigned(static_cast<uint64_t>(matrix.cols()), bytes);
  for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
    for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
      AppendNumber(static_cast<double>(matrix(row, column)), bytes);
    }
  }
}

absl::Status Refusal(absl::string_view field, absl::string_view got, absl::string_view want) {
  return absl::InvalidArgumentError(absl::StrCat("state.", field, ": got ", got, ", want ", want));
}

Eigen::MatrixXd TakeMatrix(absl::string_view field, FieldReader* reader) {
  const auto rows = reader->TakeUnsigned<uint64_t>(field);
  const auto columns = reader->TakeUnsigned<uint64_t>(field);
  const size_t left = reader->left();
  // Checked first, so that the product cannot overflow.
  reader->Expect(rows <= left && columns <= left && (rows == 0 || columns <= left / rows), field,
                 absl::StrCat(rows, " x ", columns), "a matrix that is there");
  if (!reader->status().ok()) return {};
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  for (double& value : matrix.reshaped()) value = reader->TakeNumber<double>(field);
  return matrix;
}

template <class Derived>
bool AllFinite(const Eigen::MatrixBase<Derived>& matrix) {
  return matrix.size() == 0 || matrix.allFinite();
}

struct StateHead {
  uint32_t version = 0;
  RunIdentity identity;
};

absl::StatusOr<StateHead> TakeHead(FieldReader& reader) {
  if (reader.Take("format", kMagic.size()) != kMagic) {
    return Refusal("format", "other bytes", "a file of this trainer");
  }
  const auto version = reader.TakeUnsigned<uint32_t>("version");
  if (reader.status().ok() && version != kVersion && version != kVersionWithoutCenter) {
    return Refusal("version", absl::StrCat(version),
                   absl::StrCat(kVersionWithoutCenter, " or ", kVersion));
  }
  // Release 0.1 stored the name as the user gave it.
  RunIdentity identity{.budget = BudgetId(std::string(reader.TakeText("budget"))),
                       .session = std::string(reader.TakeText("session")),
                       .settings = std::string(reader.TakeText("settings")),
                       .noise_multiplier = reader.TakeNumber<double>("noise_multiplier")};
  if (!reader.status().ok()) return reader.status();
  return StateHead{version, std::move(identity)};
}

// Returns a vector of `size` entries, or of none.
absl::StatusOr<network::Vector<float>> TakeVector(absl::string_view field, Eigen::Index size,
                                                  FieldReader* reader) {
  const Eigen::MatrixXd matrix = TakeMatrix(field, reader);
  if (matrix.size() == 0) return network::Vector<float>();
  if (matrix.cols() != 1 || matrix.rows() != size) {
    return Refusal(field, absl::StrCat(matrix.rows(), " x ", matrix.cols()),
                   absl::StrCat(size, " x 1, or none"));
  }
  return network::Vector<float>(matrix.cast<float>());
}

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

absl::StatusOr<std::string> EncodeState(const Network<float>& network, const RunIdentity& identity,
                                        const TrainingState& state) {
  ASSIGN_OR_RETURN(const std::string checkpoint,
                   network::EncodeCheckpoint<float>({.description = network.description(),
                                                     .step = static_cast<uint64_t>(state.step),
                                                     .parameters = state.parameters,
                                                     .velocity = state.velocity}));
  std::string bytes(kMagic);
  AppendUnsigned(kVersion, &bytes);
  AppendText(identity.budget, &bytes);
  AppendText(identity.session, &bytes);
  AppendText(identity.settings, &bytes);
  AppendNumber(identity.noise_multiplier, &bytes);
  AppendText(checkpoint, &bytes);
  AppendNumber(state.embedding_clip, &bytes);
  AppendNumber(state.residual_clip, &bytes);
  AppendMatrix(state.average, &bytes);
  AppendMatrix(state.center, &bytes);
  bool finite = std::isfinite(identity.noise_multiplier) && std::isfinite(state.embedding_clip) &&
                std::isfinite(state.residual_clip) && AllFinite(state.average) &&
                AllFinite(state.center);
  for (size_t layer = 0; layer < state.subspaces.size(); ++layer) {
    const GradientHistory& history = state.histories[layer];
    AppendMatrix(state.subspaces[layer], &bytes);
    AppendMatrix(state.scales[layer], &bytes);
    AppendMatrix(history.mean(), &bytes);
    AppendMatrix(history.noise(), &bytes);
    AppendNumber(history.weight(), &bytes);
    finite = finite && AllFinite(state.subspaces[layer]) && AllFinite(state.scales[layer]) &&
             AllFinite(history.mean()) && AllFinite(history.noise());
  }
  if (!finite) {
    return absl::InvalidArgumentError("state: got NaN or infinity, want finite numbers");
  }
  AppendUnsigned(network::Fnv1a(bytes), &bytes);
  return bytes;
}

absl::StatusOr<SavedRun> DecodeState(absl::string_view bytes, const Network<float>& network) {
  FieldReader reader(bytes, "state");
  ASSIGN_OR_RETURN(StateHead head, TakeHead(reader));
  const absl::string_view inner = reader.TakeText("checkpoint");
  if (!reader.status().ok()) return reader.status();
  ASSIGN_OR_RETURN(Checkpoint<float> checkpoint, network::DecodeCheckpoint<float>(inner, network));
  TrainingState state{.step = static_cast<int64_t>(checkpoint.step),
                      .parameters = std::move(checkpoint.parameters),
                      .velocity = std::move(checkpoint.velocity)};
  state.embedding_clip = reader.TakeNumber<double>("embedding_clip");
  state.residual_clip = reader.TakeNumber<double>("residual_clip");
  ASSIGN_OR_RETURN(state.average, TakeVector("average", network.parameter_count(), &reader));
  if (head.version != kVersionWithoutCenter) {
    ASSIGN_OR_RETURN(state.center, TakeVector("center", network.shape(0).size(), &reader));
  }
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    const std::string field = absl::StrCat("layers[", layer, "]");
    state.subspaces.push_back(TakeMatrix(field, &reader).cast<float>());
    const Eigen::MatrixXd scales = TakeMatrix(field, &reader);
    Eigen::MatrixXf mean = TakeMatrix(field, &reader).cast<float>();
    Eigen::MatrixXd noise = TakeMatrix(field, &reader);
    const double weight = reader.TakeNumber<double>(field);
    const Eigen::Index outputs = network.shape(layer + 1).size();
    const Eigen::Index columns = network.shape(layer).size() + 1;
    const bool fits = (scales.size() == 0 || (scales.rows() == columns && scales.cols() == 1)) &&
                      (mean.size() == 0 || (mean.rows() == outputs && mean.cols() == columns)) &&
                      (noise.size() == 0 || (noise.rows() == outputs && noise.cols() == outputs)) &&
                      (mean.size() == 0) == (noise.size() == 0);
    if (reader.status().ok() && !fits) {
      return Refusal(field, "sizes of another network", network.description());
    }
    state.scales.push_back(scales.size() == 0 ? network::Vector<float>()
                                              : network::Vector<float>(scales.cast<float>()));
    state.histories.push_back(GradientHistory::Restore(std::move(mean), std::move(noise), weight));
  }
  if (!reader.status().ok()) return reader.status();
  const size_t hashed = bytes.size() - reader.left();
  const auto checksum = reader.TakeUnsigned<uint64_t>("checksum");
  if (!reader.status().ok()) return reader.status();
  if (reader.left() != 0) {
    return Refusal("end", absl::StrCat(reader.left(), " bytes more"), "none");
  }
  if (checksum != network::Fnv1a(bytes.substr(0, hashed))) {
    return Refusal("checksum", "another one", "that of the bytes before it");
  }
  return SavedRun{std::move(head.identity), std::move(state)};
}

absl::Status WriteStateFile(const std::string& path, const Network<float>& network,
                            const RunIdentity& identity, const TrainingState& state) {
  ASSIGN_OR_RETURN(const std::string bytes, EncodeState(network, identity, state));
  return WriteDurably(path, bytes);
}

absl::StatusOr<RunIdentity> ReadIdentity(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path));
  FieldReader reader(bytes, "state");
  ASSIGN_OR_RETURN(StateHead head, TakeHead(reader));
  return std::move(head.identity);
}

absl::StatusOr<SavedRun> ReadStateFile(const std::string& path, const Network<float>& network) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path));
  return DecodeState(bytes, network);
}

}  // namespace epsledger::trainers::fsdp
