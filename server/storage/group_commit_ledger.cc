#include "server/storage/group_commit_ledger.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "accounting/event/status_macros.h"
#include "server/core/unavailable.h"
#include "server/storage/failpoint.h"
#include "spdlog/spdlog.h"

namespace epsledger::storage {

using core::Command;
using core::Entry;
using core::Ledger;
using core::Outcome;

namespace {

absl::Status DamagedKeys(const std::string& root_id, const std::string& what) {
  return absl::DataLossError(absl::StrCat(
      "ledger ", root_id, ": its table of charge keys has ", what,
      ": it is damaged, or was changed. Charges are refused until that is mended and the server is "
      "started anew; `epsledgerd ledger verify` names what is wrong"));
}

}  // namespace

class GroupCommitLedger::Reader : public core::LedgerReader {
 public:
  Reader(GroupCommitLedger& owner, const core::Tenant& tenant)
      : owner_(owner), tenant_(tenant), budgets_(owner.replica_.BudgetsOf(tenant)) {}

  const Ledger* LedgerOf(std::string_view budget_id) const override {
    const auto it = budgets_.find(budget_id);
    return it == budgets_.end() ? nullptr : it->second;
  }

  std::vector<std::string> BudgetIds(std::string_view after_id, int64_t limit) const override {
    std::vector<std::string> ids;
    for (auto it = budgets_.upper_bound(after_id);
         it != budgets_.end() && static_cast<int64_t>(ids.size()) < limit; ++it) {
      ids.push_back(it->first);
    }
    return ids;
  }

  absl::StatusOr<std::optional<core::ChargeRecord>> FindCharge(
      const core::SessionName& name, int64_t attempt, std::string_view charge_id) override {
    ASSIGN_OR_RETURN(std::optional<Entry> entry, FindKey(name, attempt, std::string(charge_id)));
    if (!entry.has_value()) return std::nullopt;
    return LedgerOf(name.budget_id)->ToRecord(*entry);
  }

  absl::StatusOr<std::optional<core::LeaseSettled>> FindSettlement(
      const core::SessionName& name, int64_t attempt, std::string_view lease_id) override {
    ASSIGN_OR_RETURN(std::optional<Entry> entry,
                     FindKey(name, attempt, core::SettlementId(std::string(lease_id))));
    if (!entry.has_value()) return std::nullopt;
    const auto* settled = std::get_if<core::LeaseSettled>(&entry->body);
    if (settled == nullptr) return absl::DataLossError("ledger: a settlement is damaged");
    return *settled;
  }

  absl::StatusOr<std::vector<Entry>> ListEntries(const Ledger& ledger, int64_t after_sequence,
                                                 int64_t limit) override {
    const std::string id = StoredRootId(ledger);
    return Visible(ledger,
                   owner_.store_->ReadEntries(id, after_sequence, limit, core::kMaxListedBytes));
  }

  absl::StatusOr<ChargePage> ListCharges(const core::SessionName& name, int64_t after_sequence,
                                         int64_t limit) override {
    const Ledger* ledger = LedgerOf(name.budget_id);
    const core::SessionState* session = ledger == nullptr ? nullptr : ledger->FindSession(name);
    if (session == nullptr) return ChargePage();
    ASSIGN_OR_RETURN(
        std::vector<Entry> entries,
        Visible(*ledger, owner_.store_->ListCharges(StoredRootId(*ledger), session->number,
                                                    after_sequence, limit, core::kMaxListedBytes)));
    ChargePage page;
    for (int64_t bytes = 0; const Entry& entry : entries) {
      ASSIGN_OR_RETURN(core::ChargeRecord record, ledger->ToRecord(entry));
      page.records.push_back(std::move(record));
      bytes += static_cast<int64_t>(entry.content.size());
      page.is_cut = bytes >= core::kMaxListedBytes || std::ssize(page.records) >= limit;
    }
    return page;
  }

  void NotifyOfNextCommit(const Ledger& ledger,
                          std::weak_ptr<core::CommitListener> listener) override {
    owner_.listeners_.Add(ledger, std::move(listener));
  }

  std::vector<TenantLedger> AllLedgers() const override {
    std::vector<TenantLedger> all;
    for (const auto& [root_id, ledger] : owner_.replica_.ledgers()) {
      all.push_back({std::string(core::TenantNameOf(root_id)), ledger.get()});
    }
    return all;
  }

  int64_t QuarantinedLedgerCount() const override { return owner_.replica_.quarantined_count(); }
  int64_t UnprovedHeadCount() const override { return owner_.replica_.unproved_head_count(); }

  std::vector<core::QuarantinedLedger> QuarantinedLedgers() const override {
    return owner_.replica_.QuarantinedOf(tenant_);
  }

  const core::AccessLedger& Access() const override { return owner_.replica_.access(); }

  absl::StatusOr<std::vector<Entry>> ListAccessEntries(int64_t after_sequence,
                                                       int64_t limit) override {
    return owner_.store_->ReadEntries(core::kAccessRootId, after_sequence, limit, kAnyBytes);
  }

 private:
  std::string StoredRootId(const Ledger& ledger) const {
    return core::StoredId(tenant_.name, ledger.root_id());
  }

  absl::StatusOr<std::optional<Entry>> FindKey(const core::SessionName& name, int64_t attempt,
                                               std::string charge_id) {
    const Ledger* ledger = LedgerOf(name.budget_id);
    const core::SessionState* session = ledger == nullptr ? nullptr : ledger->FindSession(name);
    if (session == nullptr) return std::nullopt;
    const core::ChargeKey key{session->number, attempt, std::move(charge_id)};
    absl::StatusOr<std::optional<Entry>> entry =
        owner_.store_->FindCharge(StoredRootId(*ledger), key);
    if (entry.ok()) {
      RETURN_IF_ERROR(owner_.CheckFound(StoredRootId(*ledger), key, *entry));
    }
    if (entry.ok() && entry->has_value() && (*entry)->sequence > ledger->head().sequence) {
      return std::nullopt;
    }
    return entry;
  }

  // A shared store may have newer entries than this view shows.
  static absl::StatusOr<std::vector<Entry>> Visible(const Ledger& ledger,
                                                    absl::StatusOr<std::vector<Entry>> entries) {
    if (!entries.ok()) return entries;
    while (!entries->empty() && entries->back().sequence > ledger.head().sequence) {
      entries->pop_back();
    }
    return entries;
  }

  GroupCommitLedger& owner_;
  const core::Tenant tenant_;
  const Replica::LedgerOfBudget& budgets_;
};

absl::StatusOr<std::unique_ptr<GroupCommitLedger>> GroupCommitLedger::Open(
    std::unique_ptr<LedgerStore> store, Options options) {
  std::unique_ptr<GroupCommitLedger> ledger(new GroupCommitLedger(std::move(store), options));
  RETURN_IF_ERROR(ledger->Recover());
  ledger->thread_ = std::thread([raw = ledger.get()] { raw->Loop(); });
  return ledger;
}

GroupCommitLedger::GroupCommitLedger(std::unique_ptr<LedgerStore> store, Options options)
    : options_(options),
      store_(std::move(store)),
      shared_(store_->shared()),
      replies_(options.max_untold_batches) {}

GroupCommitLedger::~GroupCommitLedger() {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  Failpoint("drain.before");
  thread_.join();
  Failpoint("drain.after");
}

absl::Status GroupCommitLedger::Recover() {
  Failpoint("recovery.before");
  absl::Status status = store_->ReadAll([this](const std::string& root_id, Entry entry) {
    ++recovered_entry_count_;
    Failpoint("recovery.entry");
    if (shared_ != nullptr) unsettled_.insert(root_id);
    return replica_.Apply(root_id, entry);
  });
  Failpoint("recovery.after");
  if (status.ok()) {
    if (!store_->Damage().ok()) replica_.QuarantineAll(store_->Damage());
    for (const std::string& root_id : store_->LedgersWithDamagedKeys()) {
      replica_.Quarantine(root_id, DamagedKeys(root_id, "other keys than its entries hold"));
    }
  }
  recovered_budget_count_ = replica_.budget_count();
  incarnations_ = store_->Incarnations();
  if (status.ok() && shared_ != nullptr) status = CatchUp();
  if (status.ok() && shared_ == nullptr) {
    for (const auto& [root_id, ledger] : replica_.ledgers()) replica_.Kept({root_id});
    replica_.Kept({core::kAccessRootId});
    if (!store_->Writable().ok()) BecomeReadOnly(store_->Writable());
  }
  if (status.ok()) {
    replica_.SetIncarnations(incarnations_);
    replica_.CheckPublished(
        options_.published,
        [this](const std::string& root_id, int64_t sequence) { return HashOf(root_id, sequence); });
    RecordLostEntries();
  }
  PublishTokens();
  return status;
}

void GroupCommitLedger::PublishTokens() {
  // If entries were lost, revoked tokens would be valid again.
  if (replica_.IsQuarantined(core::kAccessRootId) && Tokens() != nullptr) return;
  const core::LedgerHead& head = replica_.access().head();
  if (head == published_access_ && Tokens() != nullptr) return;
  published_access_ = head;
  auto tokens = std::make_shared<const core::TokenTable>(replica_.access().tokens());
  absl::MutexLock lock(&mutex_);
  tokens_ = std::move(tokens);
}

std::shared_ptr<const core::TokenTable> GroupCommitLedger::Tokens() const {
  absl::MutexLock lock(&mutex_);
  return tokens_;
}

void GroupCommitLedger::Submit(core::Tenant tenant, Command command, Reply reply) {
  Enqueue(Write{std::move(tenant), std::move(command), std::move(reply)});
}

void GroupCommitLedger::Read(core::Tenant tenant, ReadFunction read) {
  Enqueue(TenantRead{std::move(tenant), std::move(read)});
}

absl::Status GroupCommitLedger::Health() const {
  absl::MutexLock lock(&mutex_);
  const auto worked = absl::FromChrono(Clock::now() - working_since_);
  if (failure_.ok() && shared_ != nullptr && worked > options_.patience) {
    return absl::UnavailableError(absl::StrCat("the ledger's database has not answered for ",
                                               absl::FormatDuration(options_.patience),
                                               " or more; is its standby there?"));
  }
  return failure_;
}

void GroupCommitLedger::Enqueue(Item item) {
  absl::Status refused;
  bool full = false;
  {
    absl::MutexLock lock(&mutex_);
    // A head that may prove a loss is checked even while nothing can be written.
    const auto* const write = std::get_if<Write>(&item);
    const bool is_refused = write != nullptr && !write->command.last_seen.has_value();
    if (const absl::Status& failure = is_refused ? failure_ : unreadable_; !failure.ok()) {
      refused = failure;
      asked_while_failed_ = true;
    } else if (stopping_) {
      refused = absl::UnavailableError("the server is shutting down; try another or later");
    } else if ((queue_.SizeOf(TenantOf(item)) >= options_.max_queue ||
                queue_.size() / 2 >= options_.max_queue) &&
               std::this_thread::get_id() != thread_.get_id() && !replies_.IsThisThread()) {
      full = true;  // the message is built without the lock
    } else {
      const std::string tenant = TenantOf(item);
      queue_.PushBack(tenant, std::move(item));
      return;
    }
  }
  if (full) {
    refused = core::Overload(absl::StrCat(
        "as many requests as may, ", options_.max_queue,
        " of one tenant, wait for the ledger already; nothing was charged, try again"));
  }
  if (Write* write = std::get_if<Write>(&item)) {
    std::move(write->reply)(refused);
  } else {
    std::move(std::get<TenantRead>(item).read)(refused);
  }
}

void GroupCommitLedger::Loop() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty() || (shared_ != nullptr && asked_while_failed_);
  };
  while (true) {
    Batch batch;
    {
      const Clock::time_point next = std::min(next_look_, next_try_);
      const absl::Duration idle = next == Clock::time_point::max()
                                      ? absl::InfiniteDuration()
                                      : absl::FromChrono(next - Clock::now());
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&ready), idle);
      if (queue_.empty() && aside_.empty() && stopping_) return;  // everything is done
      asked_while_failed_ = false;
      if (shared_ != nullptr) working_since_ = Clock::now();
      while (!queue_.empty() && batch.size() < options_.max_batch) batch.Add(queue_.Pop());
    }
    if (batch.size() > 0) RunBatch(std::move(batch));
    if (Clock::now() >= next_try_) TryAgain();
    if (shared_ == nullptr && Clock::now() >= next_look_) Resume();
    if (shared_ != nullptr && Clock::now() >= next_look_ && CatchUp().ok()) {
      PublishTokens();
      listeners_.Notify();
    }
    RecordLostEntries();
    if (shared_ != nullptr) {
      absl::MutexLock lock(&mutex_);
      working_since_ = Clock::time_point::max();
    }
  }
}

absl::Status GroupCommitLedger::CheckSeen(const Write& write) {
  return replica_.CheckSeen(
      write.tenant, write.command,
      [this](const std::string& root_id, int64_t sequence) { return HashOf(root_id, sequence); });
}

void GroupCommitLedger::RecordLostEntries() {
  if (!Failure().ok()) return;  // later
  for (core::NamedEntry& lost : replica_.TakeUnrecorded()) {
    // Without this entry the quarantine would last only as long as this process, or until the entry
    // is reported again.
    Enqueue(Write{{},
                  {.time_micros = absl::ToUnixMicros(absl::Now()),
                   .actor = core::Actor{.door = core::Door::kServer},
                   .body = core::AccessCommand{core::BeginQuarantine{std::move(lost)}}},
                  [](const absl::StatusOr<Outcome>&) {}});
  }
}

void GroupCommitLedger::Batch::Add(Item item) {
  if (Write* write = std::get_if<Write>(&item)) {
    writes.push_back(std::move(*write));
  } else {
    reads.push_back(std::move(std::get<TenantRead>(item)));
  }
}

void GroupCommitLedger::RunBatch(Batch batch) {
  Failpoint("batch.before");
  std::vector<Write>& writes = batch.writes;
  std::vector<TenantRead>& reads = batch.reads;
  std::vector<absl::StatusOr<Outcome>> outcomes;
  absl::Status failure = Failure();
  if (failure.ok() && !writes.empty()) {
    failure =
        shared_ == nullptr ? TransactHeld(&batch, &outcomes) : TransactShared(&batch, &outcomes);
    if (!failure.ok() && shared_ != nullptr) {
      Fail(failure);
      failure = Failure();
      next_look_ = Clock::time_point();  // long ago
    }
  }
  std::vector<ReplyThread::Answer> answers;
  answers.reserve(writes.size());
  for (size_t i = 0; i < writes.size(); ++i) {
    absl::Status refusal = failure;
    if (core::IsReadOnly(failure)) {
      const absl::Status seen = CheckSeen(writes[i]);
      if (!seen.ok()) refusal = seen;
    }
    if (failure.ok()) {
      answers.push_back({std::move(writes[i].reply), std::move(outcomes[i])});
    } else {
      answers.push_back({std::move(writes[i].reply), std::move(refusal)});
    }
  }
  // Publish before the replies, so that a caller who learns of a revocation finds the token
  // revoked.
  if (failure.ok()) PublishTokens();
  replies_.Give(std::move(answers));
  if (!writes.empty()) listeners_.Notify();
  if (reads.empty()) return;
  if (failure.ok() && shared_ != nullptr) {
    if (CatchUp().ok()) PublishTokens();
    listeners_.Notify();
  }
  {
    absl::MutexLock lock(&mutex_);
    failure = unreadable_;
  }
  const Clock::time_point began = Clock::now();
  for (size_t i = 0; i < reads.size(); ++i) {
    if (i > 0 && absl::FromChrono(Clock::now() - began) > options_.max_reading) {
      return PutBack(i, &reads);
    }
    TenantRead& read = reads[i];
    Failpoint("read.before");
    if (failure.ok()) {
      Reader reader(*this, read.tenant);
      std::move(read.read)(&reader);
    } else {
      std::move(read.read)(failure);
    }
  }
}

absl::Status GroupCommitLedger::Transact(Batch* batch,
                                         std::vector<absl::StatusOr<Outcome>>* outcomes) {
  outcomes->clear();
  in_transaction_ = false;
  absl::Status status;
  if (shared_ != nullptr) {
    status = HoldLedgersOf(batch->writes);
    if (absl::IsDeadlineExceeded(status)) return status;
    if (status.ok()) TopUp(batch);
    if (status.ok() && !held_.empty()) status = PrefetchKeysOf(batch->writes);
  }
  outcomes->reserve(batch->writes.size());
  bool repeated = false;
  const Clock::time_point began = Clock::now();
  for (size_t i = 0; i < batch->writes.size(); ++i) {
    if (shared_ != nullptr && i > 0 &&
        absl::FromChrono(Clock::now() - began) > options_.max_deciding) {
      PutBack(i, &batch->writes);
      break;
    }
    const Write& write = batch->writes[i];
    Failpoint("command.before");
    outcomes->push_back(status.ok() ? Decide(write, &status) : status);
    repeated |= outcomes->back().ok() && !write.command.validate_only;
    Failpoint("command.after");
  }
  // A stored entry of a shared store may be on the disk of one machine only, if the wait for the
  // standby was canceled. The commit of this transaction comes after it everywhere.
  const bool commit = in_transaction_ || (repeated && shared_ != nullptr);
  if (status.ok() && commit) status = store_->Commit();
  // DEADLINE_EXCEEDED: another transaction is about to take the budget id.
  return absl::IsDeadlineExceeded(status) ? absl::AbortedError(status.message()) : status;
}

absl::StatusOr<std::optional<core::Hash>> GroupCommitLedger::HashOf(const std::string& root_id,
                                                                    int64_t sequence) {
  ASSIGN_OR_RETURN(const auto found, store_->ReadEntries(root_id, sequence - 1, 1, kAnyBytes));
  if (found.empty() || found.front().sequence != sequence) return std::nullopt;
  return found.front().hash;
}

absl::Status GroupCommitLedger::CheckFound(const std::string& root_id, const core::ChargeKey& key,
                                           const std::optional<Entry>& found) {
  if (!found.has_value() || core::KeyOf(found->body) == key) return absl::OkStatus();
  const absl::Status damaged = DamagedKeys(
      root_id, absl::StrCat("entry ", found->sequence, " for the key of another charge"));
  replica_.Quarantine(root_id, damaged);
  return damaged;
}

absl::StatusOr<Outcome> GroupCommitLedger::Decide(const Write& write, absl::Status* store_status) {
  return replica_.Decide(
      write.tenant, write.command,
      [&](const std::string& root_id, const core::ChargeKey& key) {
        absl::StatusOr<std::optional<Entry>> found = store_->FindCharge(root_id, key);
        if (!found.ok() && shared_ != nullptr) {
          *store_status = found.status();  // the transaction is over
          // The next transaction continues without this ledger.
          if (absl::IsDataLoss(found.status())) replica_.Lost(root_id);
        }
        if (absl::IsDataLoss(found.status()) && shared_ == nullptr) {
          replica_.Quarantine(root_id,
                              DamagedKeys(root_id, "a key whose entry is damaged or gone"));
        }
        if (found.ok()) {
          const absl::Status status = CheckFound(root_id, key, *found);
          if (!status.ok()) return absl::StatusOr<std::optional<Entry>>(status);
        }
        return found;
      },
      [&](const std::string& root_id, int64_t sequence) {
        absl::StatusOr<std::optional<core::Hash>> hash = HashOf(root_id, sequence);
        if (!hash.ok() && shared_ != nullptr) *store_status = hash.status();
        return hash;
      },
      [this](const std::string& root_id, const Entry& entry) {
        if (!in_transaction_ && shared_ == nullptr) {
          RETURN_IF_ERROR(store_->Begin());
        }
        in_transaction_ = true;
        if (appended_.empty() || appended_.back() != root_id) appended_.push_back(root_id);
        return store_->Append(root_id, entry);
      },
      store_status);
}

absl::Status GroupCommitLedger::TransactHeld(Batch* batch,
                                             std::vector<absl::StatusOr<Outcome>>* outcomes) {
  appended_.clear();
  const absl::Status status = Transact(batch, outcomes);
  if (status.ok()) {
    replica_.Kept(appended_);
    return status;
  }
  BecomeReadOnly(status);
  const absl::Status read = ReadAgain();
  if (read.ok()) {
    PublishTokens();  // the commit may have succeeded nevertheless
  } else {
    Fail(read);
  }
  return absl::UnavailableError(absl::StrCat(
      "the ledger could not be written; what was in flight counts as charged until a repetition "
      "says what became of it: ",
      status.ToString()));
}

absl::Status GroupCommitLedger::ReadAgain() {
  ASSIGN_OR_RETURN(const std::vector<std::string> unknown, store_->Rollback());
  for (const std::string& root_id : unknown) {
    replica_.Forget(root_id);
    int64_t last = 0;
    absl::StatusOr<std::vector<Entry>> entries;
    do {
      entries = store_->ReadEntries(root_id, last, /*limit=*/1000, kAnyBytes);
      if (!entries.ok()) return entries.status();
      for (const Entry& entry : *entries) {
        RETURN_IF_ERROR(replica_.Apply(root_id, entry));
        last = entry.sequence;
      }
    } while (!entries->empty());
  }
  replica_.Kept(unknown);
  return absl::OkStatus();
}

void GroupCommitLedger::BecomeReadOnly(const absl::Status& why) {
  {
    absl::MutexLock lock(&mutex_);
    failure_ = core::ReadOnly(absl::StrCat("the ledger can only be read, and takes no charges: ",
                                           why.ToString(), "; the server tries again by itself"));
  }
  LookAgainIn(options_.resume_interval);
  spdlog::error("read only: {}", why.ToString());
}

void GroupCommitLedger::Resume() {
  const absl::Status status = store_->Resume();
  if (status.ok()) {
    Serve("the ledger can be written");
    next_look_ = Clock::time_point::max();
    return;
  }
  LookAgainIn(options_.resume_interval);
  if (!absl::IsFailedPrecondition(status)) return;
  next_look_ = Clock::time_point::max();
  {
    absl::MutexLock lock(&mutex_);
    failure_ = core::ReadOnly(
        absl::StrCat("the ledger can only be read, and takes no charges until the server is "
                     "started anew: ",
                     status.ToString()));
  }
  spdlog::error("read only until the server is started anew: {}", status.ToString());
}

void GroupCommitLedger::LookAgainIn(absl::Duration interval) {
  next_look_ = Clock::now() + absl::ToChronoMilliseconds(interval);
}

absl::Status GroupCommitLedger::Failure() const {
  absl::MutexLock lock(&mutex_);
  return failure_;
}

void GroupCommitLedger::Fail(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    if (!unreadable_.ok()) return;
    unreadable_ = absl::UnavailableError(absl::StrCat(
        "the ledger cannot use its database; what was in flight counts as charged until a "
        "repetition says what became of it: ",
        status.ToString()));
    failure_ = unreadable_;
  }
  // The contents of a held store are no longer known.
  if (shared_ == nullptr) next_look_ = Clock::time_point::max();
  spdlog::error("not serving: {}", status.ToString());
}

void GroupCommitLedger::Serve(const char* why) {
  {
    absl::MutexLock lock(&mutex_);
    if (failure_.ok()) return;
    failure_ = unreadable_ = absl::OkStatus();
  }
  spdlog::info("serving again: {}", why);
}

}  // namespace epsledger::storage
