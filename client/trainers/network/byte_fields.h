#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_BYTE_FIELDS_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_BYTE_FIELDS_H_

// The fields of a binary file: little-endian numbers, and texts behind their length.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace epsledger::trainers::network {

// Returns the FNV-1a hash of the bytes. It finds accidents, not forgery.
uint64_t Fnv1a(absl::string_view bytes);

template <class Unsigned>
void AppendUnsigned(Unsigned value, std::string* bytes) {
  static_assert(std::is_unsigned_v<Unsigned>);
  for (size_t i = 0; i < sizeof(value); ++i) {
    bytes->push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
}

// The unsigned integer with the bits of a float or a double.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T>
void AppendNumber(T number, std::string* bytes) {
  AppendUnsigned(std::bit_cast<Bits<T>>(number), bytes);
}

// Its length as 8 bytes, then the text.
void AppendText(absl::string_view text, std::string* bytes);

// Reads fields from the front of bytes. After the first error every field is zero or empty.
class FieldReader {
 public:
  // `file` is what errors call the whole: "checkpoint". Keeps a view of both texts.
  FieldReader(absl::string_view bytes, absl::string_view file) : bytes_(bytes), file_(file) {}

  // INVALID_ARGUMENT "checkpoint.step: got 3 bytes, want 8" from the first error on.
  const absl::Status& status() const { return status_; }
  // How many bytes are not taken.
  size_t left() const { return bytes_.size(); }

  // Makes this the error unless `holds`, or unless there is one already.
  void Expect(bool holds, absl::string_view field, absl::string_view got, absl::string_view want);

  absl::string_view Take(absl::string_view field, uint64_t size);
  absl::string_view TakeText(absl::string_view field) {
    return Take(field, TakeUnsigned<uint64_t>(field));
  }

  template <class Unsigned>
  Unsigned TakeUnsigned(absl::string_view field) {
    static_assert(std::is_unsigned_v<Unsigned>);
    Unsigned value = 0;
    size_t shift = 0;
    for (const char byte : Take(field, sizeof(Unsigned))) {
      value |= static_cast<Unsigned>(static_cast<unsigned char>(byte)) << shift;
      shift += 8;
    }
    return value;
  }

  // An error if it is NaN or infinite.
  template <class T>
  T TakeNumber(absl::string_view field) {
    const T number = std::bit_cast<T>(TakeUnsigned<Bits<T>>(field));
    Expect(std::isfinite(number), field, "NaN or infinity", "finite numbers");
    return status_.ok() ? number : T{0};
  }

 private:
  absl::string_view bytes_;
  absl::string_view file_;
  absl::Status status_;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_BYTE_FIELDS_H_
