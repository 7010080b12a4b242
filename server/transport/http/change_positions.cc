#include "server/transport/http/change_positions.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace epsledger::transport {
namespace {

constexpr size_t kMaxIdBytes = 16 << 10;

}  // namespace

std::string ToEventId(const ChangePositions& positions) {
  return absl::StrJoin(positions, ",", absl::PairFormatter(":"));
}

absl::StatusOr<ChangePositions> ReadEventId(std::string_view id) {
  ChangePositions positions;
  if (id.size() > kMaxIdBytes) return absl::InvalidArgumentError("last-event-id: too long");
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(id.data(), id.size()), ',', absl::SkipEmpty())) {
    const size_t colon = part.rfind(':');
    int64_t sequence = 0;
    if (colon == part.npos || colon == 0 || !absl::SimpleAtoi(part.substr(colon + 1), &sequence) ||
        sequence < 0 || !positions.emplace(std::string(part.substr(0, colon)), sequence).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("last-event-id: got \"", part.substr(0, 64),
                       "\", want the id of an event, such as budgets/adult:12"));
    }
  }
  return positions;
}

}  // namespace epsledger::transport
