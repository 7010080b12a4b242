#include "server/core/unavailable.h"

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace epsledger::core {
namespace {

constexpr char kOverload[] = "epsledger.dev/overload";
constexpr char kReadOnly[] = "epsledger.dev/read-only";

absl::Status Marked(const char* mark, std::string_view message) {
  absl::Status status = absl::UnavailableError(absl::string_view(message.data(), message.size()));
  status.SetPayload(mark, absl::Cord());
  return status;
}

}  // namespace

absl::Status Overload(std::string_view message) { return Marked(kOverload, message); }
bool IsOverload(const absl::Status& status) { return status.GetPayload(kOverload).has_value(); }

absl::Status ReadOnly(std::string_view message) { return Marked(kReadOnly, message); }
bool IsReadOnly(const absl::Status& status) { return status.GetPayload(kReadOnly).has_value(); }

}  // namespace epsledger::core
