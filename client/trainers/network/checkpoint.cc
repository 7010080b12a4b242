#include "client/trainers/network/checkpoint.h"

#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers::network {
namespace {

constexpr absl::string_view kMagic = "EPSLNETW";
constexpr uint32_t kVersion = 1;

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

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

template <class T>
void Append(const Vector<T>& numbers, std::string* bytes) {
  for (const T number : numbers) Append(std::bit_cast<Bits<T>>(number), bytes);
}

absl::Status Refusal(absl::string_view field, absl::string_view got, absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat("checkpoint.", field, ": got ", got, ", want ", want));
}

// Takes fields off the front of the bytes; after the first that is not there all others are zero.
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

  template <class Unsigned>
  Unsigned TakeNumber(absl::string_view field) {
    Unsigned value = 0;
    size_t shift = 0;
    for (const char byte : Take(field, sizeof(Unsigned))) {
      value |= static_cast<Unsigned>(static_cast<unsigned char>(byte)) << shift;
      shift += 8;
    }
    return value;
  }

  template <class T>
  Vector<T> TakeNumbers(absl::string_view field, Eigen::Index count) {
    Reader numbers(Take(field, static_cast<uint64_t>(count) * sizeof(T)));
    if (!status_.ok()) return {};
    Vector<T> result(count);
    for (T& number : result) number = std::bit_cast<T>(numbers.TakeNumber<Bits<T>>(field));
    if (!result.allFinite()) status_ = Refusal(field, "NaN or infinity", "finite numbers");
    return result;
  }

  // Refuses with `want` unless `equal`.
  void Expect(bool equal, absl::string_view field, absl::string_view got, absl::string_view want) {
    if (status_.ok() && !equal) status_ = Refusal(field, got, want);
  }

 private:
  absl::string_view bytes_;
  absl::Status status_;
};

}  // namespace

template <class T>
absl::StatusOr<std::string> EncodeCheckpoint(const Checkpoint<T>& checkpoint) {
  if (!checkpoint.parameters.allFinite()) {
    return Refusal("parameters", "NaN or infinity", "finite numbers");
  }
  if (!checkpoint.velocity.allFinite()) {
    return Refusal("velocity", "NaN or infinity", "finite numbers");
  }
  if (checkpoint.velocity.size() != checkpoint.parameters.size()) {
    return Refusal("velocity", absl::StrCat(checkpoint.velocity.size(), " numbers"),
                   absl::StrCat(checkpoint.parameters.size()));
  }
  std::string bytes(kMagic);
  Append(kVersion, &bytes);
  Append(uint32_t{sizeof(T)}, &bytes);
  Append(checkpoint.step, &bytes);
  Append(uint64_t{checkpoint.description.size()}, &bytes);
  bytes += checkpoint.description;
  Append(static_cast<uint64_t>(checkpoint.parameters.size()), &bytes);
  Append(checkpoint.parameters, &bytes);
  Append(checkpoint.velocity, &bytes);
  Append(Fnv1a(bytes), &bytes);
  return bytes;
}

template <class T>
absl::StatusOr<Checkpoint<T>> DecodeCheckpoint(absl::string_view bytes, const Network<T>& network) {
  Reader reader(bytes);
  reader.Expect(reader.Take("magic", kMagic.size()) == kMagic, "magic", "other bytes", kMagic);
  const auto version = reader.TakeNumber<uint32_t>("version");
  reader.Expect(version == kVersion, "version", absl::StrCat(version), absl::StrCat(kVersion));
  const auto width = reader.TakeNumber<uint32_t>("bytes a number");
  reader.Expect(width == sizeof(T), "bytes a number", absl::StrCat(width), absl::StrCat(sizeof(T)));
  Checkpoint<T> checkpoint;
  checkpoint.step = reader.TakeNumber<uint64_t>("step");
  const auto length = reader.TakeNumber<uint64_t>("description");
  checkpoint.description = std::string(reader.Take("description", length));
  reader.Expect(checkpoint.description == network.description(), "description",
                checkpoint.description, network.description());
  const auto count = reader.TakeNumber<uint64_t>("parameter count");
  reader.Expect(count == static_cast<uint64_t>(network.parameter_count()), "parameter count",
                absl::StrCat(count), absl::StrCat(network.parameter_count()));
  checkpoint.parameters = reader.TakeNumbers<T>("parameters", network.parameter_count());
  checkpoint.velocity = reader.TakeNumbers<T>("velocity", network.parameter_count());
  const uint64_t want = Fnv1a(bytes.substr(0, bytes.size() - reader.left()));
  reader.Expect(reader.TakeNumber<uint64_t>("checksum") == want, "checksum", "another",
                absl::StrCat(want));
  reader.Expect(reader.left() == 0, "end", absl::StrCat(reader.left(), " bytes more"), "none");
  if (!reader.status().ok()) return reader.status();
  return checkpoint;
}

template absl::StatusOr<std::string> EncodeCheckpoint(const Checkpoint<float>&);
template absl::StatusOr<std::string> EncodeCheckpoint(const Checkpoint<double>&);
template absl::StatusOr<Checkpoint<float>> DecodeCheckpoint(absl::string_view,
                                                            const Network<float>&);
template absl::StatusOr<Checkpoint<double>> DecodeCheckpoint(absl::string_view,
                                                             const Network<double>&);

}  // namespace epsledger::trainers::network
