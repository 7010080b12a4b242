#include "client/trainers/network/byte_fields.h"

namespace epsledger::trainers::network {

uint64_t Fnv1a(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}

void AppendText(absl::string_view text, std::string* bytes) {
  AppendUnsigned(uint64_t{text.size()}, bytes);
  bytes->append(text.data(), text.size());
}

void FieldReader::Expect(bool holds, absl::string_view field, absl::string_view got,
                         absl::string_view want) {
  if (holds || !status_.ok()) return;
  status_ =
      absl::InvalidArgumentError(absl::StrCat(file_, ".", field, ": got ", got, ", want ", want));
}

absl::string_view FieldReader::Take(absl::string_view field, uint64_t size) {
  if (size > bytes_.size()) {
    Expect(false, field, absl::StrCat(bytes_.size(), " bytes"), absl::StrCat(size));
  }
  if (!status_.ok()) return {};
  const absl::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

}  // namespace epsledger::trainers::network
