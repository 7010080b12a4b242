#include "server/transport/grpc/calls/entry_scan.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/transport/grpc/limits.h"

namespace epsledger::transport {

void EntryScan::Start(core::DurableLedger& ledger, const std::shared_ptr<ComputationPool>& pool,
                      Call call, std::string budget_id, int64_t last_sequence, Visit visit,
                      Finish finish) {
  std::shared_ptr<EntryScan> scan(new EntryScan(ledger, pool, std::move(call), std::move(budget_id),
                                                last_sequence, std::move(visit),
                                                std::move(finish)));
  scan->ReadPage();
}

EntryScan::EntryScan(core::DurableLedger& ledger, std::weak_ptr<ComputationPool> pool, Call call,
                     std::string budget_id, int64_t last_sequence, Visit visit, Finish finish)
    : ledger_(ledger),
      pool_(std::move(pool)),
      call_(std::move(call)),
      budget_id_(std::move(budget_id)),
      last_sequence_(last_sequence),
      visit_(std::move(visit)),
      finish_(std::move(finish)),
      page_size_(kEntriesPerRead) {}

void EntryScan::ReadPage() {
  if (call_->Abandoned()) return;
  ledger_.Read(call_->caller().tenant,
               [self = shared_from_this()](absl::StatusOr<core::LedgerReader*> reader) {
                 const absl::Status status =
                     reader.ok() ? self->TakePage(**reader) : reader.status();
                 if (!status.ok()) self->call_->Fail(status);
               });
}

absl::Status EntryScan::TakePage(core::LedgerReader& reader) {
  const core::Ledger* ledger = reader.LedgerOf(budget_id_);
  if (ledger == nullptr) return absl::InternalError("a ledger vanished while it was read");
  const int64_t limit = std::min(page_size_, last_sequence_ - after_sequence_);
  absl::StatusOr<std::vector<core::Entry>> page =
      reader.ListEntries(*ledger, after_sequence_, limit);
  if (!page.ok() && page_size_ > 1) {
    // Reads one by one, so that every entry before the unreadable one is visited.
    page_size_ = 1;
    page = reader.ListEntries(*ledger, after_sequence_, 1);
  }
  const std::shared_ptr<ComputationPool> pool = pool_.lock();
  if (pool == nullptr) return absl::UnavailableError("the server is stopping");
  return pool->Submit(call_->caller().tenant, [self = shared_from_this(), page = std::move(page)] {
    if (page.ok()) {
      self->VisitPage(*page);
    } else {
      self->End(page.status());
    }
  });
}

void EntryScan::VisitPage(const std::vector<core::Entry>& page) {
  for (const core::Entry& entry : page) {
    if (entry.sequence > last_sequence_) break;
    if (!visit_(entry)) return End(absl::OkStatus());
    after_sequence_ = entry.sequence;
  }
  if (after_sequence_ >= last_sequence_) return End(absl::OkStatus());
  if (page.empty() || page.back().sequence > last_sequence_) {
    return End(absl::DataLossError(absl::StrCat("entry ", after_sequence_ + 1, " is missing")));
  }
  ReadPage();
}

void EntryScan::End(const absl::Status& status) {
  if (!call_->Abandoned()) std::move(finish_)(status);
}

}  // namespace epsledger::transport
