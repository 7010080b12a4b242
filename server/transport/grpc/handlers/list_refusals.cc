#include "server/transport/grpc/handlers/list_refusals.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/transport/grpc/converters/change_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/limits.h"

namespace epsledger::transport {
namespace {

// Refusals before the sequence number `before`.
absl::Status AnswerPage(core::LedgerReader& reader, const std::string& budget_id,
                        const std::string& list, int64_t before, int64_t size, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(budget_id);
  if (ledger == nullptr) return NoSuchBudget(budget_id);
  const auto& marks = ledger->FindBudget(budget_id)->recent_refusals;
  v1::ListRefusalsResponse response;
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    if (mark->sequence >= before) continue;
    if (response.charges_size() + response.refused_sessions_size() == size) {
      response.set_next_page_token(MakePageToken(list, absl::StrCat(mark->sequence + 1)));
      break;
    }
    ASSIGN_OR_RETURN(const std::vector<core::Entry> entry,
                     reader.ListEntries(*ledger, mark->sequence - 1, 1));
    if (entry.empty()) return absl::DataLossError("the ledger lacks an entry that was refused");
    ASSIGN_OR_RETURN(std::optional<v1::LedgerChange> change,
                     ToChange(reader, *ledger, Watched{.budget_id = budget_id}, entry.front()));
    if (!change.has_value()) continue;
    if (change->has_charge()) {
      *response.add_charges() = std::move(*change->mutable_charge());
    } else {
      *response.add_refused_sessions() = *std::move(change);
    }
  }
  call->Succeed(response);
  return absl::OkStatus();
}

}  // namespace

absl::Status ListRefusals(const HandlerContext& context, const v1::ListRefusalsRequest& request,
                          const Call& call) {
  absl::StatusOr<std::string> id = ParseBudgetName("parent", request.parent());
  if (!id.ok()) return id.status();
  const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
  if (!size.ok()) return size.status();
  const std::string list = request.parent() + "/refusals";
  ASSIGN_OR_RETURN(const std::string token, ReadPageToken(list, request.page_token()));
  int64_t before = std::numeric_limits<int64_t>::max();  // of an empty token: from the newest
  std::from_chars(token.data(), token.data() + token.size(), before);
  ReadState(
      context.ledger, call,
      [id = *std::move(id), list, before, size = std::min(*size, kEntriesPerRead), call](
          core::LedgerReader& reader) { return AnswerPage(reader, id, list, before, size, call); });
  return absl::OkStatus();
}

}  // namespace epsledger::transport
