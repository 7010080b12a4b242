#include "client/cpp/watch_changes.h"

#include <chrono>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cpp/retry.h"
#include "client/cpp/rpc_status.h"

namespace epsledger {
namespace {

using Reader = grpc::ClientReaderInterface<v1::LedgerChange>;

std::unique_ptr<Reader> Open(Connection& connection, grpc::ClientContext* context,
                             const std::string& name, int64_t after_sequence) {
  if (name.find("/sessions/") == name.npos) {
    v1::WatchBudgetRequest request;
    request.set_name(name);
    request.set_after_sequence(after_sequence);
    return connection.budgets().WatchBudget(context, request);
  }
  v1::WatchSessionRequest request;
  request.set_name(name);
  request.set_after_sequence(after_sequence);
  return connection.sessions().WatchSession(context, request);
}

}  // namespace

void Canceller::Cancel() {
  absl::MutexLock lock(&mutex_);
  cancelled_ = true;
  if (context_ != nullptr) context_->TryCancel();
}

bool Canceller::cancelled() const {
  absl::MutexLock lock(&mutex_);
  return cancelled_;
}

void Canceller::Attach(grpc::ClientContext* context) {
  absl::MutexLock lock(&mutex_);
  context_ = context;
  if (cancelled_ && context_ != nullptr) context_->TryCancel();
}

absl::Status WatchChanges(Connection& connection, const std::string& name, int64_t after_sequence,
                          Canceller& canceller,
                          const std::function<bool(const v1::LedgerChange&)>& on_change) {
  int64_t seen = after_sequence;
  bool ended = false;  // by on_change
  // Reads one stream until it ends. Returns OK if it brought a change: the count of tries starts
  // again.
  const auto watch_once = [&]() -> absl::Status {
    grpc::ClientContext context;
    canceller.Attach(&context);
    const std::unique_ptr<Reader> reader = Open(connection, &context, name, seen);
    bool brought = false;
    v1::LedgerChange change;
    absl::Status wrong;
    while (!ended && wrong.ok() && reader->Read(&change)) {
      brought = true;
      if (change.sequence() <= seen) {
        wrong = absl::InternalError(absl::StrCat("the server told of entry ", change.sequence(),
                                                 " of ", name, " after entry ", seen));
      } else {
        seen = change.sequence();
        ended = !on_change(change);
      }
    }
    if (ended || !wrong.ok()) context.TryCancel();
    const absl::Status status = FromGrpc(reader->Finish());
    canceller.Attach(nullptr);
    if (ended || canceller.cancelled()) return absl::OkStatus();
    if (!wrong.ok()) return wrong;
    return brought && IsWorthRetrying(status.code()) ? absl::OkStatus() : status;
  };
  while (true) {
    const Tries tries = RetryUntilDefinite(connection.retry(), [&](std::chrono::nanoseconds) {
      return canceller.cancelled() ? absl::OkStatus() : watch_once();
    });
    if (canceller.cancelled()) return absl::CancelledError("the watch was cancelled");
    if (ended) return absl::OkStatus();
    if (!tries.last.ok()) return tries.last;
  }
}

const std::string& NameOf(const v1::LedgerChange& change) {
  static const std::string& nameless = *new std::string;
  switch (change.change_case()) {
    case v1::LedgerChange::kBudget:
      return change.budget().name();
    case v1::LedgerChange::kSession:
      return change.session().name();
    case v1::LedgerChange::kAttempt:
      return change.attempt().name();
    case v1::LedgerChange::kCharge:
      return change.charge().name();
    case v1::LedgerChange::kLease:
      return change.lease().name();
    case v1::LedgerChange::kRefusedSession:
      return change.refused_session().name();
    case v1::LedgerChange::CHANGE_NOT_SET:
      break;
  }
  return nameless;
}

}  // namespace epsledger
