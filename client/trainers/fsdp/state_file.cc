#include "client/trainers/fsdp/state_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/trainers/network/checkpoint.h"
#include "client/trainers/run/ledger_flags.h"
#include "client/trainers/run/result_file.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Checkpoint;
using network::Network;

constexpr absl::string_view kMagic = "EPSLFSDP";
constexpr uint32_t kVersion = 3;

uint64_t Fnv1a(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}

template <class Unsigned>
void Append(Unsigned value, std::string* bytes) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    bytes->push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
}

void AppendText(absl::string_view text, std::string* bytes) {
  Append(static_cast<uint64_t>(text.size()), bytes);
  bytes->append(text.data(), text.size());
}

void AppendNumber(double value, std::string* bytes) {
  Append(std::bit_cast<uint64_t>(value), bytes);
}

// Rows, columns, then the entries as doubles: a float comes back as it was.
template <class Derived>
void AppendMatrix(const Eigen::MatrixBase<Derived>& matrix, std::string* bytes) {
  Append(static_cast<uint64_t>(matrix.rows()), bytes);
  Append(static_cast<uint64_t>(matrix.cols()), bytes);
  for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
    for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
      AppendNumber(static_cast<double>(matrix(row, column)), bytes);
    }
  }
}

absl::Status Refusal(absl::string_view field, absl::string_view got, absl::string_view want) {
  return absl::InvalidArgumentError(absl::StrCat("state.", field, ": got ", got, ", want ", want));
}

// Takes fields off the front; after the first that is not there all others are zero or empty.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  const absl::Status& status() const { return status_; }
  size_t left() const { return bytes_.size(); }

  absl::string_view Take(absl::string_view field, uint64_t size) {
    if (status_.ok() && size > bytes_.size()) {
      status_ = Refusal(field, absl::StrCat(bytes_.size(), " bytes"), absl::StrCat(size));
    }
    if (!status_.ok()) return {};
    const absl::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  uint64_t TakeUnsigned(absl::string_view field, size_t size = 8) {
    uint64_t value = 0;
    int shift = 0;
    for (const char byte : Take(field, size)) {
      value |= uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }

  absl::string_view TakeText(absl::string_view field) { return Take(field, TakeUnsigned(field)); }

  double TakeNumber(absl::string_view field) {
    const double value = std::bit_cast<double>(TakeUnsigned(field));
    if (status_.ok() && !std::isfinite(value)) {
      status_ = Refusal(field, "NaN or infinity", "finite numbers");
    }
    return status_.ok() ? value : 0;
  }

  Eigen::MatrixXd TakeMatrix(absl::string_view field) {
    const uint64_t rows = TakeUnsigned(field);
    const uint64_t columns = TakeUnsigned(field);
    // So that the product cannot overflow.
    if (rows > left() || columns > left() || (rows > 0 && columns > left() / rows)) {
      if (status_.ok()) {
        status_ = Refusal(field, absl::StrCat(rows, " x ", columns), "a matrix that is there");
      }
      return {};
    }
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    for (double& value : matrix.reshaped()) value = TakeNumber(field);
    return matrix;
  }

 private:
  absl::string_view bytes_;
  absl::Status status_;
};

template <class Derived>
bool AllFinite(const Eigen::MatrixBase<Derived>& matrix) {
  return matrix.size() == 0 || matrix.allFinite();
}

absl::StatusOr<RunIdentity> TakeIdentity(Reader& reader) {
  if (reader.Take("format", kMagic.size()) != kMagic) {
    return Refusal("format", "other bytes", "a file of this trainer");
  }
  const uint64_t version = reader.TakeUnsigned("version", sizeof(kVersion));
  if (reader.status().ok() && version != kVersion) {
    return Refusal("version", absl::StrCat(version), absl::StrCat(kVersion));
  }
  // Release 0.1 kept the name as it was given.
  RunIdentity identity{.budget = BudgetId(std::string(reader.TakeText("budget"))),
                       .session = std::string(reader.TakeText("session")),
                       .settings = std::string(reader.TakeText("settings")),
                       .noise_multiplier = reader.TakeNumber("noise_multiplier")};
  if (!reader.status().ok()) return reader.status();
  return identity;
}

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

absl::StatusOr<std::string> EncodeState(const Network<float>& network, const RunIdentity& identity,
                                        const TrainingState& state) {
  const absl::StatusOr<std::string> checkpoint =
      network::EncodeCheckpoint<float>({.description = network.description(),
                                        .step = static_cast<uint64_t>(state.step),
                                        .parameters = state.parameters,
                                        .velocity = state.velocity});
  if (!checkpoint.ok()) return checkpoint.status();
  std::string bytes(kMagic);
  Append(kVersion, &bytes);
  AppendText(identity.budget, &bytes);
  AppendText(identity.session, &bytes);
  AppendText(identity.settings, &bytes);
  AppendNumber(identity.noise_multiplier, &bytes);
  AppendText(*checkpoint, &bytes);
  AppendNumber(state.embedding_clip, &bytes);
  AppendNumber(state.residual_clip, &bytes);
  AppendMatrix(state.average, &bytes);
  bool finite = std::isfinite(identity.noise_multiplier) && std::isfinite(state.embedding_clip) &&
                std::isfinite(state.residual_clip) && AllFinite(state.average);
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
  Append(Fnv1a(bytes), &bytes);
  return bytes;
}

absl::StatusOr<SavedRun> DecodeState(absl::string_view bytes, const Network<float>& network) {
  Reader reader(bytes);
  absl::StatusOr<RunIdentity> identity = TakeIdentity(reader);
  if (!identity.ok()) return identity.status();
  const absl::string_view inner = reader.TakeText("checkpoint");
  if (!reader.status().ok()) return reader.status();
  absl::StatusOr<Checkpoint<float>> checkpoint = network::DecodeCheckpoint<float>(inner, network);
  if (!checkpoint.ok()) return checkpoint.status();
  TrainingState state{.step = static_cast<int64_t>(checkpoint->step),
                      .parameters = std::move(checkpoint->parameters),
                      .velocity = std::move(checkpoint->velocity)};
  state.embedding_clip = reader.TakeNumber("embedding_clip");
  state.residual_clip = reader.TakeNumber("residual_clip");
  const Eigen::MatrixXd average = reader.TakeMatrix("average");
  if (average.size() > 0) {
    if (average.cols() != 1 || average.rows() != network.parameter_count()) {
      return Refusal("average", absl::StrCat(average.rows(), " x ", average.cols()),
                     absl::StrCat(network.parameter_count(), " x 1, or none"));
    }
    state.average = average.cast<float>();
  }
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    const std::string field = absl::StrCat("layers[", layer, "]");
    state.subspaces.push_back(reader.TakeMatrix(field).cast<float>());
    const Eigen::MatrixXd scales = reader.TakeMatrix(field);
    Eigen::MatrixXf mean = reader.TakeMatrix(field).cast<float>();
    Eigen::MatrixXd noise = reader.TakeMatrix(field);
    const double weight = reader.TakeNumber(field);
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
  const uint64_t checksum = reader.TakeUnsigned("checksum");
  if (!reader.status().ok()) return reader.status();
  if (reader.left() != 0) {
    return Refusal("end", absl::StrCat(reader.left(), " bytes more"), "none");
  }
  if (checksum != Fnv1a(bytes.substr(0, hashed))) {
    return Refusal("checksum", "another one", "that of the bytes before it");
  }
  return SavedRun{*std::move(identity), std::move(state)};
}

absl::Status WriteStateFile(const std::string& path, const Network<float>& network,
                            const RunIdentity& identity, const TrainingState& state) {
  const absl::StatusOr<std::string> bytes = EncodeState(network, identity, state);
  if (!bytes.ok()) return bytes.status();
  return WriteDurably(path, *bytes);
}

absl::StatusOr<RunIdentity> ReadIdentity(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadBytes(path);
  if (!bytes.ok()) return bytes.status();
  Reader reader(*bytes);
  return TakeIdentity(reader);
}

absl::StatusOr<SavedRun> ReadStateFile(const std::string& path, const Network<float>& network) {
  const absl::StatusOr<std::string> bytes = ReadBytes(path);
  if (!bytes.ok()) return bytes.status();
  return DecodeState(*bytes, network);
}

}  // namespace epsledger::trainers::fsdp
