#include "server/transport/grpc/handlers/watch.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "server/transport/grpc/calls/granted_subject.h"
#include "server/transport/grpc/calls/unary_call.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {

std::shared_ptr<wire::StreamedCall> Watch::Start(const HandlerContext& context,
                                                 wire::StreamRequest request,
                                                 std::string_view method,
                                                 const absl::StatusOr<Watched>& watched,
                                                 int64_t after_sequence) {
  std::shared_ptr<Watch> watch(
      new Watch(context, request, method, watched.ok() ? *watched : Watched(), after_sequence));
  if (watched.ok()) {
    watch->set_resource(watched->session_id.empty()
                            ? FormatBudgetName(watched->budget_id)
                            : FormatSessionName({watched->budget_id, watched->session_id}));
  }
  absl::Status status = watch->Open();
  if (status.ok()) status = watched.status();
  if (status.ok()) {
    status = accounting::CheckRange("afterSequence", after_sequence, 0,
                                    std::numeric_limits<int64_t>::max());
  }
  if (status.ok()) {
    watch->Continue();
  } else {
    watch->Fail(ToGrpcStatus(status));
  }
  return watch;
}

Watch::Watch(const HandlerContext& context, wire::StreamRequest& request, std::string_view method,
             Watched watched, int64_t after_sequence)
    : StreamCall(context.open_streams, request, std::move(method)),
      ledger_(context.ledger),
      turns_(context.watch_turns),
      watched_(std::move(watched)),
      read_sequence_(after_sequence),
      told_sequence_(after_sequence) {}

// Loses nothing: another watch can continue from there.
void Watch::Drain() { Fail(Stopping()); }

void Watch::OnCommit() {
  {
    Turn turn(*this);
    behind_ = true;
  }
  Continue();
}

bool Watch::WantsBookmark(SteadyTime now) const {
  return read_sequence_ > told_sequence_ && now - bookmark_time_ >= kBookmarkInterval;
}

void Watch::Continue() {
  {
    Turn turn(*this);
    if (ended_ || writing_ || reading_) return;
    if (!page_.empty()) {
      Change next = std::move(page_.front());
      page_.pop_front();
      told_sequence_ = next.sequence;
      return Write(std::move(next.message), !page_.empty());
    }
    if (const SteadyTime now = SteadyNow(); WantsBookmark(now)) {
      bookmark_time_ = now;
      told_sequence_ = read_sequence_;
      return Write(Bookmark(read_sequence_, absl::ToUnixMicros(absl::Now())).SerializeAsString());
    }
    if (!behind_ || !MayRead()) return;
    reading_ = true;
  }
  turns_->Take(
      [self = std::static_pointer_cast<Watch>(shared_from_this())] { self->AskForPage(); });
}

void Watch::AskForPage() {
  bool ended = false;
  {
    Turn turn(*this);
    ended = ended_;
  }
  if (ended) return turns_->GiveBack();
  ledger_.Read(tenant(), [self = std::static_pointer_cast<Watch>(shared_from_this())](
                             absl::StatusOr<core::LedgerReader*> reader) {
    const absl::Status status = reader.ok() ? self->ReadPage(**reader) : reader.status();
    self->turns_->GiveBack();
    if (status.ok()) {
      self->Continue();
    } else {
      self->Fail(ToGrpcStatus(status));
    }
  });
}

absl::StatusOr<const core::Ledger*> Watch::FindLedger(core::LedgerReader& reader) const {
  RETURN_IF_ERROR(CheckScope(reader, caller(),
                             {.budget_id = watched_.budget_id, .session_id = watched_.session_id}));
  const core::Ledger* ledger = reader.LedgerOf(watched_.budget_id);
  if (ledger == nullptr) return NoSuchBudget(watched_.budget_id);
  const core::SessionName session{watched_.budget_id, watched_.session_id};
  if (!session.session_id.empty() && ledger->FindSession(session) == nullptr) {
    return NoSuchSession(session);
  }
  return ledger;
}

absl::Status Watch::ReadPage(core::LedgerReader& reader) {
  ASSIGN_OR_RETURN(const core::Ledger* ledger, FindLedger(reader));
  int64_t position = 0;
  {
    Turn turn(*this);
    position = read_sequence_;
  }
  const int64_t newest = ledger->head().sequence;
  if (position > newest) {
    return absl::DataLossError(absl::StrFormat(
        "afterSequence: got %d, and the ledger of %s ends at %d: it has lost what you saw",
        position, FormatBudgetName(ledger->root_id()), newest));
  }
  std::deque<Change> page;
  size_t bytes = 0;
  // Read more at a time while entries turn out to be small: entries that do not fit into the page
  // were read in vain.
  int64_t count = 0;
  for (int64_t at_a_time = 1;
       position < newest && count < kWatchPageEntries && bytes <= kWatchPageBytes; at_a_time *= 2) {
    ASSIGN_OR_RETURN(
        const std::vector<core::Entry> entries,
        reader.ListEntries(*ledger, position, std::min(at_a_time, kWatchPageEntries - count)));
    if (entries.empty()) break;
    for (const core::Entry& entry : entries) {
      if (bytes > kWatchPageBytes) break;
      ASSIGN_OR_RETURN(const std::optional<v1::LedgerChange> change,
                       ToChange(reader, *ledger, watched_, entry));
      position = entry.sequence;
      ++count;
      if (!change.has_value()) continue;
      page.push_back({position, change->SerializeAsString()});
      bytes += page.back().message.size();
    }
  }
  CountRead(bytes);
  const bool behind = position < newest;
  if (!behind) {
    reader.NotifyOfNextCommit(*ledger, std::static_pointer_cast<Watch>(shared_from_this()));
  }
  Turn turn(*this);
  page_.swap(page);
  read_sequence_ = position;
  behind_ = behind;
  reading_ = false;
  return absl::OkStatus();
}

}  // namespace epsledger::transport
