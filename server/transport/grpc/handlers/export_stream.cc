#include "server/transport/grpc/handlers/export_stream.h"

#include <utility>
#include <vector>

#include "accounting/event/status_macros.h"
#include "epsledger/v1/audit.pb.h"
#include "server/transport/grpc/calls/granted_subject.h"
#include "server/transport/grpc/converters/audit_convert.h"
#include "server/transport/grpc/handlers/handler_context.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {

std::shared_ptr<wire::StreamedCall> ExportStream::Start(core::DurableLedger& ledger,
                                                        std::shared_ptr<OpenCalls> open_streams,
                                                        wire::StreamRequest request,
                                                        absl::StatusOr<std::string> budget_id,
                                                        int64_t after_sequence) {
  std::shared_ptr<ExportStream> stream(new ExportStream(ledger, std::move(open_streams), request,
                                                        budget_id.value_or(""), after_sequence));
  if (budget_id.ok()) stream->set_resource("budgets/" + *budget_id);
  if (!stream->Open().ok()) return stream;
  if (budget_id.ok()) {
    stream->Continue();
  } else {
    stream->Fail(ToGrpcStatus(budget_id.status()));
  }
  return stream;
}

ExportStream::ExportStream(core::DurableLedger& ledger, std::shared_ptr<OpenCalls> open_streams,
                           wire::StreamRequest& request, std::string budget_id,
                           int64_t after_sequence)
    : StreamCall(std::move(open_streams), request, "epsledger.v1.AuditService.ExportLedger"),
      ledger_(ledger),
      budget_id_(std::move(budget_id)),
      after_sequence_(after_sequence) {}

void ExportStream::Continue() {
  {
    Turn turn(*this);
    if (ended_ || writing_ || reading_) return;
    if (!page_.empty()) {
      std::string entry = std::move(page_.front());
      page_.pop_front();
      return Write(std::move(entry), !page_.empty());
    }
    if (last_sequence_.has_value() && after_sequence_ >= *last_sequence_) {
      return End(grpc::Status::OK);
    }
    if (!MayRead()) return;
    reading_ = true;
  }
  ledger_.Read(tenant(), [self = std::static_pointer_cast<ExportStream>(shared_from_this())](
                             absl::StatusOr<core::LedgerReader*> reader) {
    const absl::Status status = reader.ok() ? self->ReadPage(**reader) : reader.status();
    if (status.ok()) {
      self->Continue();
    } else {
      self->Fail(ToGrpcStatus(status));
    }
  });
}

absl::Status ExportStream::ReadPage(core::LedgerReader& reader) {
  Turn turn(*this);
  reading_ = false;
  if (ended_) return absl::OkStatus();
  RETURN_IF_ERROR(CheckScope(reader, caller(), {.budget_id = budget_id_, .whole_ledger = true}));
  const core::Ledger* ledger = reader.LedgerOf(budget_id_);
  if (ledger == nullptr) return NoSuchBudget(budget_id_);
  if (!last_sequence_.has_value()) last_sequence_ = ledger->head().sequence;
  if (after_sequence_ >= *last_sequence_) return absl::OkStatus();
  // The previous entry provides the hash that the first entry follows.
  const int64_t before = after_sequence_ == 0 ? 0 : 1;
  ASSIGN_OR_RETURN(const std::vector<core::Entry> entries,
                   reader.ListEntries(*ledger, after_sequence_ - before, kEntriesPerRead + before));
  core::Hash previous{};
  for (const core::Entry& entry : entries) {
    if (entry.sequence > after_sequence_ && entry.sequence <= *last_sequence_) {
      v1::AuditEntry message;
      ToProto(entry, previous, *ledger, &message);
      page_.push_back(message.SerializeAsString());
      CountRead(page_.back().size());
      after_sequence_ = entry.sequence;
    }
    previous = entry.hash;
  }
  if (page_.empty()) return absl::DataLossError("an entry is missing: verify the ledger");
  return absl::OkStatus();
}

}  // namespace epsledger::transport
