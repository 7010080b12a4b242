#include "client/trainers/network/checkpoint.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/trainers/network/byte_fields.h"

namespace epsledger::trainers::network {
namespace {

constexpr absl::string_view kMagic = "EPSLNETW";
constexpr uint32_t kVersion = 1;

template <class T>
void AppendNumbers(const Vector<T>& numbers, std::string* bytes) {
  for (const T number : numbers) AppendNumber(number, bytes);
}

absl::Status Refusal(absl::string_view field, absl::string_view got, absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat("checkpoint.", field, ": got ", got, ", want ", want));
}

template <class T>
Vector<T> TakeNumbers(absl::string_view field, Eigen::Index count, FieldReader* reader) {
  reader->Expect(static_cast<uint64_t>(count) * sizeof(T) <= reader->left(), field,
                 absl::StrCat(reader->left(), " bytes"),
                 absl::StrCat(static_cast<uint64_t>(count) * sizeof(T)));
  if (!reader->status().ok()) return {};
  Vector<T> numbers(count);
  for (T& number : numbers) number = reader->TakeNumber<T>(field);
  return numbers;
}

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
  AppendUnsigned(kVersion, &bytes);
  AppendUnsigned(uint32_t{sizeof(T)}, &bytes);
  AppendUnsigned(checkpoint.step, &bytes);
  AppendText(checkpoint.description, &bytes);
  AppendUnsigned(static_cast<uint64_t>(checkpoint.parameters.size()), &bytes);
  AppendNumbers(checkpoint.parameters, &bytes);
  AppendNumbers(checkpoint.velocity, &bytes);
  AppendUnsigned(Fnv1a(bytes), &bytes);
  return bytes;
}

template <class T>
absl::StatusOr<Checkpoint<T>> DecodeCheckpoint(absl::string_view bytes, const Network<T>& network) {
  FieldReader reader(bytes, "checkpoint");
  reader.Expect(reader.Take("magic", kMagic.size()) == kMagic, "magic", "other bytes", kMagic);
  const auto version = reader.TakeUnsigned<uint32_t>("version");
  reader.Expect(version == kVersion, "version", absl::StrCat(version), absl::StrCat(kVersion));
  const auto width = reader.TakeUnsigned<uint32_t>("bytes a number");
  reader.Expect(width == sizeof(T), "bytes a number", absl::StrCat(width), absl::StrCat(sizeof(T)));
  Checkpoint<T> checkpoint;
  checkpoint.step = reader.TakeUnsigned<uint64_t>("step");
  checkpoint.description = std::string(reader.TakeText("description"));
  reader.Expect(checkpoint.description == network.description(), "description",
                checkpoint.description, network.description());
  const auto count = reader.TakeUnsigned<uint64_t>("parameter count");
  reader.Expect(count == static_cast<uint64_t>(network.parameter_count()), "parameter count",
                absl::StrCat(count), absl::StrCat(network.parameter_count()));
  checkpoint.parameters = TakeNumbers<T>("parameters", network.parameter_count(), &reader);
  checkpoint.velocity = TakeNumbers<T>("velocity", network.parameter_count(), &reader);
  const uint64_t want = Fnv1a(bytes.substr(0, bytes.size() - reader.left()));
  reader.Expect(reader.TakeUnsigned<uint64_t>("checksum") == want, "checksum", "another",
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
