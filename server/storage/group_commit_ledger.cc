#include "server/storage/group_commit_ledger.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/overload.h"
#include "server/storage/failpoint.h"

namespace epsledger::storage {

using core::Command;
using core::Entry;
using core::Ledger;
using core::Outcome;

class GroupCommitLedger::Reader : public core::LedgerReader {
 public:
  Reader(GroupCommitLedger& owner, const core::Tenant& tenant)
      : owner_(owner), tenant_(tenant), budgets_(owner.BudgetsOf(tenant)) {}

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
    absl::StatusOr<std::optional<Entry>> entry = FindKey(name, attempt, std::string(charge_id));
    if (!entry.ok()) return entry.status();
    if (!entry->has_value()) return std::nullopt;
    absl::StatusOr<core::ChargeRecord> record = LedgerOf(name.budget_id)->ToRecord(**entry);
    if (!record.ok()) return record.status();
    return *std::move(record);
  }

  absl::StatusOr<std::optional<core::LeaseSettled>> FindSettlement(
      const core::SessionName& name, int64_t attempt, std::string_view lease_id) override {
    absl::StatusOr<std::optional<Entry>> entry =
        FindKey(name, attempt, core::SettlementId(std::string(lease_id)));
    if (!entry.ok()) return entry.status();
    if (!entry->has_value()) return std::nullopt;
    const auto* settled = std::get_if<core::LeaseSettled>(&(*entry)->body);
    if (settled == nullptr) return absl::DataLossError("ledger: a settlement is damaged");
    return *settled;
  }

  absl::StatusOr<std::vector<Entry>> ListEntries(const Ledger& ledger, int64_t after_sequence,
                                                 int64_t limit) override {
    return owner_.store_->ReadEntries(StoredRootId(ledger), after_sequence, limit);
  }

  absl::StatusOr<std::vector<core::ChargeRecord>> ListCharges(const core::SessionName& name,
                                                              int64_t after_sequence,
                                                              int64_t limit) override {
    const Ledger* ledger = LedgerOf(name.budget_id);
    const core::SessionState* session = ledger == nullptr ? nullptr : ledger->FindSession(name);
    std::vector<core::ChargeRecord> records;
    if (session == nullptr) return records;
    absl::StatusOr<std::vector<Entry>> entries =
        owner_.store_->ListCharges(StoredRootId(*ledger), session->number, after_sequence, limit);
    if (!entries.ok()) return entries.status();
    for (const Entry& entry : *entries) {
      absl::StatusOr<core::ChargeRecord> record = ledger->ToRecord(entry);
      if (!record.ok()) return record.status();
      records.push_back(*std::move(record));
    }
    return records;
  }

  void NotifyOfNextCommit(const Ledger& ledger,
                          std::weak_ptr<core::CommitListener> listener) override {
    owner_.listeners_.Add(ledger, std::move(listener));
  }

  std::vector<TenantLedger> AllLedgers() const override {
    std::vector<TenantLedger> all;
    for (const auto& [root_id, ledger] : owner_.ledgers_) {
      all.push_back({std::string(core::TenantNameOf(root_id)), ledger.get()});
    }
    return all;
  }

  const core::AccessLedger& Access() const override { return owner_.access_; }

  absl::StatusOr<std::vector<Entry>> ListAccessEntries(int64_t after_sequence,
                                                       int64_t limit) override {
    return owner_.store_->ReadEntries(core::kAccessRootId, after_sequence, limit);
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
    return owner_.store_->FindCharge(StoredRootId(*ledger),
                                     {session->number, attempt, std::move(charge_id)});
  }

  GroupCommitLedger& owner_;
  const core::Tenant tenant_;
  const LedgerOfBudget& budgets_;
};

absl::StatusOr<std::unique_ptr<GroupCommitLedger>> GroupCommitLedger::Open(
    std::unique_ptr<LedgerStore> store, Options options) {
  std::unique_ptr<GroupCommitLedger> ledger(new GroupCommitLedger(std::move(store), options));
  if (absl::Status status = ledger->Recover(); !status.ok()) return status;
  ledger->thread_ = std::thread([raw = ledger.get()] { raw->Loop(); });
  return ledger;
}

GroupCommitLedger::GroupCommitLedger(std::unique_ptr<LedgerStore> store, Options options)
    : options_(options), store_(std::move(store)), replies_(options.max_untold_batches) {}

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
    if (root_id == core::kAccessRootId) return access_.Apply(entry);
    std::unique_ptr<Ledger>& ledger = ledgers_[root_id];
    if (ledger == nullptr) ledger = std::make_unique<Ledger>();
    if (absl::Status applied = ledger->Apply(entry); !applied.ok()) return applied;
    if (const core::BudgetSpec* budget = core::NewBudgetOf(entry.body)) {
      ++recovered_budget_count_;
      const std::string tenant(core::TenantNameOf(root_id));
      // A ledger that was moved to another name is not what its name says.
      if (core::StoredId(tenant, ledger->root_id()) != root_id) {
        return absl::DataLossError(
            absl::StrFormat("the ledger %s is stored as that of %s", ledger->root_id(), root_id));
      }
      ledger_of_budget_[tenant][budget->id] = ledger.get();
    }
    return absl::OkStatus();
  });
  Failpoint("recovery.after");
  PublishTokens();
  return status;
}

void GroupCommitLedger::PublishTokens() {
  auto tokens = std::make_shared<const core::TokenTable>(access_.tokens());
  absl::MutexLock lock(&mutex_);
  tokens_ = std::move(tokens);
}

std::shared_ptr<const core::TokenTable> GroupCommitLedger::Tokens() const {
  absl::MutexLock lock(&mutex_);
  return tokens_;
}

const GroupCommitLedger::LedgerOfBudget& GroupCommitLedger::BudgetsOf(
    const core::Tenant& tenant) const {
  static const LedgerOfBudget none;
  const auto it = ledger_of_budget_.find(tenant.name);
  return it == ledger_of_budget_.end() ? none : it->second;
}

void GroupCommitLedger::Submit(core::Tenant tenant, Command command, Reply reply) {
  Enqueue(Write{std::move(tenant), std::move(command), std::move(reply)});
}

void GroupCommitLedger::Read(core::Tenant tenant, ReadFunction read) {
  Enqueue(TenantRead{std::move(tenant), std::move(read)});
}

absl::Status GroupCommitLedger::Health() const {
  absl::MutexLock lock(&mutex_);
  return failure_;
}

void GroupCommitLedger::Enqueue(Item item) {
  absl::Status refused;
  bool full = false;
  {
    absl::MutexLock lock(&mutex_);
    if (!failure_.ok()) {
      refused = failure_;
    } else if (stopping_) {
      refused = absl::UnavailableError("the server is shutting down; try another or later");
    } else if (queue_.size() >= options_.max_queue &&
               std::this_thread::get_id() != thread_.get_id() && !replies_.IsThisThread()) {
      full = true;  // the words are found without holding up the others
    } else {
      queue_.push_back(std::move(item));
      return;
    }
  }
  if (full) {
    refused = core::Overload(
        absl::StrCat(options_.max_queue,
                     " requests wait for the ledger already; nothing was charged, try again"));
  }
  if (Write* write = std::get_if<Write>(&item)) {
    std::move(write->reply)(refused);
  } else {
    std::move(std::get<TenantRead>(item).read)(refused);
  }
}

void GroupCommitLedger::Loop() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty();
  };
  while (true) {
    std::vector<Write> writes;
    std::vector<TenantRead> reads;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (queue_.empty()) return;  // stopping, and everything is done
      while (!queue_.empty() && writes.size() + reads.size() < options_.max_batch) {
        Item item = std::move(queue_.front());
        queue_.pop_front();
        if (Write* write = std::get_if<Write>(&item)) {
          writes.push_back(std::move(*write));
        } else {
          reads.push_back(std::move(std::get<TenantRead>(item)));
        }
      }
    }
    RunBatch(std::move(writes), std::move(reads));
  }
}

void GroupCommitLedger::RunBatch(std::vector<Write> writes, std::vector<TenantRead> reads) {
  Failpoint("batch.before");
  absl::Status failure = Health();
  std::vector<ReplyThread::Answer> answers;
  answers.reserve(writes.size());
  bool in_transaction = false;
  const int64_t access_before = access_.head().sequence;
  for (Write& write : writes) {
    Failpoint("command.before");
    absl::StatusOr<Outcome> outcome =
        failure.ok() ? Decide(write, &in_transaction, &failure) : absl::StatusOr<Outcome>(failure);
    answers.push_back({std::move(write.reply), std::move(outcome)});
    Failpoint("command.after");
  }
  if (failure.ok() && in_transaction) failure = store_->Commit();
  if (!failure.ok()) {
    Fail(failure);
    failure = Health();
    for (ReplyThread::Answer& answer : answers) answer.outcome = failure;
  }
  // Before the replies: who is told that a token is revoked finds it revoked.
  if (failure.ok() && access_.head().sequence != access_before) PublishTokens();
  replies_.Give(std::move(answers));
  if (in_transaction) listeners_.Notify();
  for (TenantRead& read : reads) {
    Failpoint("read.before");
    if (failure.ok()) {
      Reader reader(*this, read.tenant);
      std::move(read.read)(&reader);
    } else {
      std::move(read.read)(failure);
    }
  }
}

void GroupCommitLedger::Fail(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  if (!failure_.ok()) return;
  failure_ = absl::UnavailableError(
      absl::StrCat("the ledger has stopped and acknowledges nothing until it is restarted; what "
                   "was in flight counts as charged: ",
                   status.ToString()));
}

Ledger* GroupCommitLedger::Route(const core::Tenant& tenant, const Command& command,
                                 std::unique_ptr<Ledger>* fresh, std::string* root_id) {
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  const auto find = [&](const std::string& budget_id) -> Ledger* {
    const auto it = budgets.find(budget_id);
    if (it == budgets.end()) return nullptr;
    *root_id = core::StoredId(tenant.name, it->second->root_id());
    return it->second;
  };
  if (const auto* create = std::get_if<core::CreateBudget>(&command.body)) {
    if (Ledger* existing = find(create->spec.id)) return existing;
    if (!create->spec.parent_id.empty()) return find(create->spec.parent_id);
    *fresh = std::make_unique<Ledger>();
    *root_id = core::StoredId(tenant.name, create->spec.id);
    return fresh->get();
  }
  return find(core::BudgetOf(command));
}

absl::Status GroupCommitLedger::CheckSeen(const core::Tenant& tenant, const Command& command) {
  if (!command.last_seen.has_value()) return absl::OkStatus();
  const core::SeenHead& seen = *command.last_seen;
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  const auto it = budgets.find(seen.root_budget_id);
  const Ledger empty;
  const bool known = it != budgets.end();
  absl::Status status = (known ? *it->second : empty).CheckSeen(seen);
  // Read-only from now on: what it would acknowledge contradicts what it has acknowledged.
  if (!status.ok() && known) {
    quarantined_.emplace(core::StoredId(tenant.name, it->second->root_id()), status);
  }
  return status;
}

absl::Status GroupCommitLedger::CheckSuccessor(const core::Tenant& tenant,
                                               const Command& command) const {
  const auto* supersede = std::get_if<core::SupersedeBudget>(&command.body);
  if (supersede == nullptr) return absl::OkStatus();
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  const auto successor = budgets.find(supersede->successor_id);
  const auto budget = budgets.find(supersede->budget_id);
  if (successor == budgets.end() || budget == budgets.end() ||
      successor->second == budget->second) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(
      absl::StrFormat("budgets/%s exists already and is another budget", supersede->successor_id));
}

absl::Status GroupCommitLedger::Store(const std::string& stored_root_id, const Entry& entry,
                                      bool* in_transaction) {
  if (!*in_transaction) {
    if (absl::Status status = store_->Begin(); !status.ok()) return status;
    *in_transaction = true;
  }
  return store_->Append(stored_root_id, entry);
}

absl::StatusOr<Outcome> GroupCommitLedger::DecideAccess(const core::AccessCommand& command,
                                                        int64_t time_micros, bool* in_transaction,
                                                        absl::Status* store_status) {
  bool stored = false;
  absl::StatusOr<core::AccessOutcome> outcome =
      access_.Execute(command, time_micros, [&](const Entry& entry) {
        stored = true;
        return Store(core::kAccessRootId, entry, in_transaction);
      });
  if (!outcome.ok() && stored) *store_status = outcome.status();  // memory and store differ
  if (!outcome.ok()) return outcome.status();
  return *std::move(outcome);
}

absl::StatusOr<Outcome> GroupCommitLedger::Decide(const Write& write, bool* in_transaction,
                                                  absl::Status* store_status) {
  const auto& [tenant, command, reply] = write;
  if (const auto* access = std::get_if<core::AccessCommand>(&command.body)) {
    return DecideAccess(*access, command.time_micros, in_transaction, store_status);
  }
  if (absl::Status status = CheckSeen(tenant, command); !status.ok()) return status;
  if (absl::Status status = CheckSuccessor(tenant, command); !status.ok()) return status;
  std::unique_ptr<Ledger> fresh;
  std::string root_id;
  Ledger* ledger = Route(tenant, command, &fresh, &root_id);
  if (const auto behind = quarantined_.find(root_id); behind != quarantined_.end()) {
    return behind->second;
  }
  if (ledger == nullptr) {
    // An empty ledger says what is missing in the words of the others.
    ledger = (fresh = std::make_unique<Ledger>()).get();
  }
  bool stored = false;
  absl::StatusOr<Outcome> outcome = ledger->Execute(
      command, [&](const core::ChargeKey& key) { return store_->FindCharge(root_id, key); },
      [&](const Entry& entry) {
        stored = true;
        return Store(root_id, entry, in_transaction);
      });
  if (!outcome.ok() && stored) *store_status = outcome.status();  // memory and store differ
  if (outcome.ok() && !command.validate_only) {
    if (const auto* budget = std::get_if<core::BudgetOutcome>(&*outcome);
        budget != nullptr && budget->created) {
      ledger_of_budget_[tenant.name][budget->budget_id] = ledger;
      if (fresh != nullptr) ledgers_[root_id] = std::move(fresh);
    }
  }
  return outcome;
}

}  // namespace epsledger::storage
