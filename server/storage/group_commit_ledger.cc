#include "server/storage/group_commit_ledger.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "server/core/unavailable.h"
#include "server/storage/failpoint.h"
#include "server/storage/held_commit.h"
#include "server/storage/ledger_view.h"
#include "server/storage/shared_commit.h"

namespace epsledger::storage {

using core::Command;
using core::Entry;
using core::Outcome;

namespace {

std::unique_ptr<CommitStrategy> StrategyFor(LedgerStore& store, Replica& replica,
                                            RequestQueue& queue, PublishedTokens& tokens,
                                            const GroupCommitOptions& options) {
  if (store.shared() != nullptr) {
    return std::make_unique<SharedCommit>(store, replica, queue, tokens, options);
  }
  return std::make_unique<HeldCommit>(store, replica, queue, tokens, options.resume_interval);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GroupCommitLedger>> GroupCommitLedger::Open(
    std::unique_ptr<LedgerStore> store, Options options) {
  std::unique_ptr<GroupCommitLedger> ledger(new GroupCommitLedger(std::move(store), options));
  RETURN_IF_ERROR(ledger->Recover());
  ledger->thread_ = std::thread([raw = ledger.get()] { raw->Loop(); });
  return ledger;
}

GroupCommitLedger::GroupCommitLedger(std::unique_ptr<LedgerStore> store, Options options)
    : options_(std::move(options)),
      store_(std::move(store)),
      queue_(
          {.max_waiting = options_.max_queue, .wake_when_refusing = store_->shared() != nullptr}),
      strategy_(StrategyFor(*store_, replica_, queue_, tokens_, options_)),
      replies_(options_.max_untold_batches) {}

GroupCommitLedger::~GroupCommitLedger() {
  if (!thread_.joinable()) return;
  queue_.Stop();
  Failpoint("drain.before");
  thread_.join();
  Failpoint("drain.after");
}

absl::Status GroupCommitLedger::Recover() {
  Failpoint("recovery.before");
  absl::Status status = store_->ReadAll([this](const std::string& root_id, Entry entry) {
    ++recovered_entry_count_;
    Failpoint("recovery.entry");
    return replica_.Apply(root_id, entry);
  });
  Failpoint("recovery.after");
  if (status.ok()) {
    if (!store_->Damage().ok()) replica_.QuarantineAll(store_->Damage());
    for (const std::string& root_id : store_->LedgersWithDamagedKeys()) {
      replica_.QuarantineForKeys(root_id, "other keys than its entries hold");
    }
  }
  recovered_budget_count_ = replica_.budget_count();
  incarnations_ = store_->Incarnations();
  if (status.ok()) status = strategy_->Start();
  if (status.ok()) {
    replica_.SetIncarnations(incarnations_);
    replica_.CheckPublished(options_.published,
                            [this](const std::string& root_id, int64_t sequence) {
                              return store_->HashOf(root_id, sequence);
                            });
    RecordLostEntries();
  }
  tokens_.Publish(replica_);
  return status;
}

void GroupCommitLedger::Submit(core::Tenant tenant, Command command, Reply reply) {
  queue_.Put(RequestQueue::Write{std::move(tenant), std::move(command), std::move(reply)},
             [this] { return IsThreadOfLedger(); });
}

void GroupCommitLedger::Read(core::Tenant tenant, ReadFunction read) {
  queue_.Put(RequestQueue::Read{std::move(tenant), std::move(read)},
             [this] { return IsThreadOfLedger(); });
}

bool GroupCommitLedger::IsThreadOfLedger() const {
  return std::this_thread::get_id() == thread_.get_id() || replies_.IsThisThread();
}

absl::Status GroupCommitLedger::Health() const {
  absl::Status failure = queue_.WhyNoCommands();
  return failure.ok() ? strategy_->CheckProgress() : failure;
}

void GroupCommitLedger::Loop() {
  while (true) {
    std::optional<Batch> batch =
        queue_.Take(options_.max_batch, strategy_->due(), strategy_->HasSetAside());
    if (!batch.has_value()) return;
    strategy_->BeginWork();
    if (batch->size() > 0) RunBatch(*std::move(batch));
    if (Batch again = strategy_->TakeSetAside(); again.size() > 0) {
      RunBatch(std::move(again));
      replies_.Give(strategy_->TakeOverdue());
    }
    if (strategy_->LookAgain()) listeners_.Notify();
    RecordLostEntries();
    strategy_->EndWork();
  }
}

void GroupCommitLedger::RecordLostEntries() {
  if (!queue_.WhyNoCommands().ok()) return;  // later
  for (core::NamedEntry& lost : replica_.TakeUnrecorded()) {
    // Without this entry the quarantine would last only as long as this process, or until the entry
    // is reported again.
    queue_.Put(
        RequestQueue::Write{{},
                            {.time_micros = absl::ToUnixMicros(absl::Now()),
                             .actor = core::Actor{.door = core::Door::kServer},
                             .body = core::AccessCommand{core::BeginQuarantine{std::move(lost)}}},
                            [](const absl::StatusOr<Outcome>&) {}},
        /*is_from_ledger=*/[] { return true; });
  }
}

void GroupCommitLedger::RunBatch(Batch batch) {
  Failpoint("batch.before");
  Outcomes outcomes;
  absl::Status failure = queue_.WhyNoCommands();
  if (failure.ok() && !batch.writes.empty()) failure = strategy_->Commit(&batch, &outcomes);
  // Publish before the replies, so that a caller who learns of a revocation finds the token
  // revoked.
  if (failure.ok()) tokens_.Publish(replica_);
  const bool has_writes = !batch.writes.empty();
  Answer(std::move(batch.writes), std::move(outcomes), failure);
  if (has_writes) listeners_.Notify();
  if (batch.reads.empty()) return;
  if (failure.ok() && strategy_->BringUpToDate()) listeners_.Notify();
  RunReads(std::move(batch.reads));
}

void GroupCommitLedger::Answer(std::vector<RequestQueue::Write> writes, Outcomes outcomes,
                               const absl::Status& failure) {
  std::vector<ReplyThread::Answer> answers;
  answers.reserve(writes.size());
  for (size_t i = 0; i < writes.size(); ++i) {
    RequestQueue::Write& write = writes[i];
    if (failure.ok()) {
      answers.push_back({std::move(write.reply), std::move(outcomes[i])});
      continue;
    }
    absl::Status refusal = failure;
    if (core::IsReadOnly(failure)) {
      // A head that proves a loss is reported even while nothing can be written.
      const absl::Status seen = replica_.CheckSeen(
          write.tenant, write.command, [this](const std::string& root_id, int64_t sequence) {
            return store_->HashOf(root_id, sequence);
          });
      if (!seen.ok()) refusal = seen;
    }
    answers.push_back({std::move(write.reply), std::move(refusal)});
  }
  replies_.Give(std::move(answers));
}

void GroupCommitLedger::RunReads(std::vector<RequestQueue::Read> reads) {
  const absl::Status failure = queue_.WhyNothing();
  const auto began = RequestQueue::Clock::now();
  for (size_t i = 0; i < reads.size(); ++i) {
    if (i > 0 && absl::FromChrono(RequestQueue::Clock::now() - began) > options_.max_reading) {
      return queue_.PutBack(i, &reads);
    }
    RequestQueue::Read& read = reads[i];
    Failpoint("read.before");
    if (failure.ok()) {
      LedgerView view(replica_, *store_, listeners_, read.tenant);
      std::move(read.read)(&view);
    } else {
      std::move(read.read)(failure);
    }
  }
}

}  // namespace epsledger::storage
