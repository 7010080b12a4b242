#include "server/transport/grpc/calls/export_stream.h"

#include <utility>
#include <vector>

#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/support/proto_buffer_writer.h"
#include "server/transport/grpc/converters/audit_convert.h"
#include "server/transport/grpc/handlers/handler_context.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {

grpc::ServerWriteReactor<grpc::ByteBuffer>* ExportStream::Start(core::DurableLedger& ledger,
                                                                core::Tenant tenant,
                                                                std::string budget_id,
                                                                int64_t after_sequence) {
  std::shared_ptr<ExportStream> stream(
      new ExportStream(ledger, std::move(tenant), std::move(budget_id), after_sequence));
  stream->self_ = stream;
  stream->Advance();
  return stream.get();
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ExportStream::Fail(core::DurableLedger& ledger,
                                                               const absl::Status& status) {
  std::shared_ptr<ExportStream> stream(new ExportStream(ledger, {}, "", 0));
  stream->self_ = stream;
  {
    absl::MutexLock lock(&stream->mutex_);
    stream->failure_ = status;
  }
  stream->Advance();
  return stream.get();
}

ExportStream::ExportStream(core::DurableLedger& ledger, core::Tenant tenant, std::string budget_id,
                           int64_t after_sequence)
    : ledger_(ledger),
      tenant_(std::move(tenant)),
      budget_id_(std::move(budget_id)),
      after_sequence_(after_sequence) {}

void ExportStream::Advance() {
  const std::shared_ptr<ExportStream> self = shared_from_this();  // OnDone may come any time
  {
    absl::MutexLock lock(&mutex_);
    if (finished_ || writing_) return;
    const bool at_end = last_sequence_.has_value() && after_sequence_ >= *last_sequence_;
    if (!failure_.ok() || (at_end && page_.empty())) {
      finished_ = true;
      Finish(failure_.ok() ? grpc::Status::OK : ToGrpcStatus(failure_));
      return;
    }
    if (!page_.empty()) {
      bool own_buffer = false;
      writing_ = true;
      written_.Clear();
      grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::Message>(
          page_.front(), &written_, &own_buffer);
      page_.pop_front();
      StartWrite(&written_);
      return;
    }
    if (reading_) return;
    reading_ = true;
  }
  ledger_.Read(tenant_,
               [self](absl::StatusOr<core::LedgerReader*> reader) { self->TakePage(reader); });
}

void ExportStream::TakePage(absl::StatusOr<core::LedgerReader*> reader) {
  {
    absl::MutexLock lock(&mutex_);
    reading_ = false;
    if (finished_) return;
    const absl::Status status = reader.ok() ? ReadPage(**reader) : reader.status();
    if (failure_.ok()) failure_ = status;
  }
  Advance();
}

absl::Status ExportStream::ReadPage(core::LedgerReader& reader) {
  const core::Ledger* ledger = reader.LedgerOf(budget_id_);
  if (ledger == nullptr) return NoSuchBudget(budget_id_);
  if (!last_sequence_.has_value()) last_sequence_ = ledger->head().sequence;
  if (after_sequence_ >= *last_sequence_) return absl::OkStatus();
  // The entry before gives the hash that the first one follows.
  const int64_t before = after_sequence_ == 0 ? 0 : 1;
  const absl::StatusOr<std::vector<core::Entry>> entries =
      reader.ListEntries(*ledger, after_sequence_ - before, kEntriesPerRead + before);
  if (!entries.ok()) return entries.status();
  core::Hash previous{};
  for (const core::Entry& entry : *entries) {
    if (entry.sequence > after_sequence_ && entry.sequence <= *last_sequence_) {
      ToProto(entry, previous, *ledger, &page_.emplace_back());
      after_sequence_ = entry.sequence;
    }
    previous = entry.hash;
  }
  if (page_.empty()) return absl::DataLossError("an entry is missing: verify the ledger");
  return absl::OkStatus();
}

void ExportStream::OnWriteDone(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok && failure_.ok()) failure_ = absl::CancelledError("the client takes no more");
  }
  Advance();
}

void ExportStream::OnCancel() {
  {
    absl::MutexLock lock(&mutex_);
    if (failure_.ok()) failure_ = absl::CancelledError("cancelled");
    page_.clear();
  }
  Advance();
}

void ExportStream::OnDone() { const std::shared_ptr<ExportStream> last = std::move(self_); }

}  // namespace epsledger::transport
