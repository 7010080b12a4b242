#include "server/transport/grpc/handlers/list_denials.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "server/core/access_ledger.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/access_convert.h"
#include "server/transport/grpc/converters/page_token.h"

namespace epsledger::transport {
namespace {

constexpr char kDenialList[] = "denials";

void AddPending(const access::DenialCounts& denials, const std::string& tenant, int64_t size,
                v1::ListDenialsResponse* response) {
  const int64_t now = absl::ToUnixMicros(absl::Now());
  for (const core::DenialCount& denial : denials.Pending()) {
    if (denial.tenant != tenant || response->denials_size() == size) continue;
    ToProto(denial, now, response->add_denials());
  }
}

// Reads one range of entries backwards from `before`, so that no charge waits for long.
absl::Status AnswerPage(core::LedgerReader& reader, int64_t before, int64_t size, const Call& call,
                        v1::ListDenialsResponse response) {
  const int64_t newest = reader.Access().head().sequence;
  before = before == 0 ? newest + 1 : std::clamp<int64_t>(before, 1, newest + 1);
  const int64_t after = std::max<int64_t>(0, before - 1 - core::kMaxPageSize);
  ASSIGN_OR_RETURN(const std::vector<core::Entry> entries,
                   reader.ListAccessEntries(after, before - 1 - after));
  int64_t next = after + 1;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (response.denials_size() >= size) {
      next = entry->sequence + 1;
      break;
    }
    const auto* denied = std::get_if<core::CallsDenied>(&entry->body);
    if (denied == nullptr || denied->denial.tenant != call->caller().tenant.name) continue;
    ToProto(denied->denial, entry->time_micros, response.add_denials());
  }
  if (next > 1) response.set_next_page_token(MakePageToken(kDenialList, absl::StrCat(next)));
  call->Succeed(response);
  return absl::OkStatus();
}

}  // namespace

absl::Status ListDenials(const HandlerContext& context, const v1::ListDenialsRequest& request,
                         const Call& call) {
  const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
  if (!size.ok()) return size.status();
  ASSIGN_OR_RETURN(const std::string token, ReadPageToken(kDenialList, request.page_token()));
  int64_t before = 0;  // of an empty token: the newest
  std::from_chars(token.data(), token.data() + token.size(), before);
  ReadState(
      context.ledger, call,
      [denials = context.access.denials(), call, before, size = *size](core::LedgerReader& reader) {
        v1::ListDenialsResponse response;
        if (before == 0) AddPending(*denials, call->caller().tenant.name, size, &response);
        return AnswerPage(reader, before, size, call, std::move(response));
      });
  return absl::OkStatus();
}

}  // namespace epsledger::transport
