#include "server/core/overload.h"

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace epsledger::core {
namespace {

constexpr char kMark[] = "epsledger.dev/overload";

}  // namespace

absl::Status Overload(std::string_view message) {
  absl::Status status = absl::UnavailableError(absl::string_view(message.data(), message.size()));
  status.SetPayload(kMark, absl::Cord());
  return status;
}

bool IsOverload(const absl::Status& status) { return status.GetPayload(kMark).has_value(); }

}  // namespace epsledger::core
