#include "server/storage/shared_commit.h"

#include <chrono>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/storage/failpoint.h"

namespace epsledger::storage {

using core::Entry;
using core::Outcome;

namespace {

// The number of attempts at a transaction if the database asks for a repetition, or after a
// conflict.
constexpr int kMaxAttempts = 5;

absl::Status HeldElsewhere() {
  return absl::UnavailableError(
      "another server holds the ledger and does not go on; nothing was charged, try again");
}

// The time between two attempts at a ledger that another server holds.
constexpr std::chrono::milliseconds kTryInterval(200);

}  // namespace

SharedCommit::SharedCommit(LedgerStore& store, Replica& replica, RequestQueue& queue,
                           PublishedTokens& tokens, const GroupCommitOptions& options)
    : store_(store),
      shared_(*store.shared()),
      replica_(replica),
      queue_(queue),
      tokens_(tokens),
      options_(options) {}

absl::Status SharedCommit::Start() {
  unsettled_ = {core::kAccessRootId};
  for (const auto& [root_id, ledger] : replica_.ledgers()) unsettled_.insert(root_id);
  return CatchUp();
}

absl::Status SharedCommit::Commit(Batch* batch, Outcomes* outcomes) {
  const absl::Status status = TransactAgain(batch, outcomes);
  if (status.ok()) return status;
  queue_.StopServing(status);
  next_look_ = Clock::time_point();  // long ago
  return queue_.WhyNoCommands();
}

absl::Status SharedCommit::TransactAgain(Batch* batch, Outcomes* outcomes) {
  SetAside(batch);
  if (batch->writes.empty()) return absl::OkStatus();
  for (int attempt = 1;; ++attempt) {
    absl::Status status = Transact(batch, outcomes);
    if (status.ok() && in_transaction_) {
      replica_.Kept(held_);
      return status;
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> unknown, store_.Rollback());
    for (const std::string& root_id : unknown) {
      replica_.Forget(root_id);
      unsettled_.insert(root_id);
    }
    if (absl::IsDeadlineExceeded(status)) return TransactApart(batch, outcomes);
    if (status.code() != absl::StatusCode::kAborted || attempt == kMaxAttempts) return status;
  }
}

absl::Status SharedCommit::Transact(Batch* batch, Outcomes* outcomes) {
  outcomes->clear();
  in_transaction_ = false;
  absl::Status status = HoldLedgersOf(batch->writes);
  if (absl::IsDeadlineExceeded(status)) return status;
  if (status.ok()) TopUp(batch);
  if (status.ok() && !held_.empty()) status = PrefetchKeysOf(batch->writes);
  outcomes->reserve(batch->writes.size());
  bool repeated = false;
  const Clock::time_point began = Clock::now();
  for (size_t i = 0; i < batch->writes.size(); ++i) {
    if (i > 0 && absl::FromChrono(Clock::now() - began) > options_.max_deciding) {
      queue_.PutBack(i, &batch->writes);
      break;
    }
    const Write& write = batch->writes[i];
    Failpoint("command.before");
    outcomes->push_back(status.ok() ? Decide(write, &status) : status);
    repeated |= outcomes->back().ok() && !write.command.validate_only;
    Failpoint("command.after");
  }
  // A stored entry may be on the disk of one machine only, if the wait for the standby was
  // canceled. The commit of this transaction comes after it everywhere.
  if (status.ok() && (in_transaction_ || repeated)) status = store_.Commit();
  // DEADLINE_EXCEEDED: another transaction is about to take the budget id.
  return absl::IsDeadlineExceeded(status) ? absl::AbortedError(status.message()) : status;
}

absl::Status SharedCommit::TransactApart(Batch* batch, Outcomes* outcomes) {
  outcomes->clear();
  std::map<std::vector<std::string>, Batch> parts;
  for (Write& write : std::exchange(batch->writes, {})) {
    std::vector<std::string> ledgers = LedgersOf(write);
    parts[std::move(ledgers)].writes.push_back(std::move(write));
  }
  if (parts.size() == 1) {
    // All writes need the held ledgers.
    auto& [ledgers, part] = *parts.begin();
    held_elsewhere_.insert(ledgers.begin(), ledgers.end());
    SetAside(&part);
    batch->writes = std::move(part.writes);  // need ledgers that are not known here
    outcomes->assign(batch->writes.size(), HeldElsewhere());
    return absl::OkStatus();
  }
  absl::Status status;
  for (auto& [ledgers, part] : parts) {
    std::vector<absl::StatusOr<Outcome>> decided;
    if (status.ok()) status = TransactAgain(&part, &decided);
    for (Write& write : part.writes) batch->writes.push_back(std::move(write));
    for (absl::StatusOr<Outcome>& outcome : decided) outcomes->push_back(std::move(outcome));
  }
  return status;
}

absl::Status SharedCommit::HoldLedgersOf(const std::vector<Write>& writes) {
  std::vector<std::string> unknown;
  for (const Write& write : writes) {
    for (std::string& id : replica_.UnknownBudgets(write.tenant, write.command)) {
      unknown.push_back(std::move(id));
    }
  }
  std::map<std::string, std::string> elsewhere;
  if (!unknown.empty()) {
    absl::StatusOr<std::map<std::string, std::string>> found = shared_.FindLedgers(unknown);
    if (!found.ok()) return found.status();
    elsewhere = *std::move(found);
  }
  std::set<std::string> root_ids;
  for (const Write& write : writes) {
    for (std::string& id : replica_.LedgersOf(write.tenant, write.command, elsewhere)) {
      root_ids.insert(std::move(id));
    }
  }
  held_.assign(root_ids.begin(), root_ids.end());
  if (held_.empty()) return absl::OkStatus();  // of no ledger: nothing will be appended
  RETURN_IF_ERROR(store_.Begin());
  ASSIGN_OR_RETURN(const std::vector<std::string> lost,
                   shared_.Hold(held_, [this](const std::string& root_id, const Entry& entry) {
                     return ApplyForeign(root_id, entry);
                   }));
  for (const std::string& root_id : lost) replica_.Lost(root_id);
  replica_.Kept(held_);
  for (const std::string& root_id : held_) unsettled_.erase(root_id);
  return absl::OkStatus();
}

void SharedCommit::TopUp(Batch* batch) {
  while (batch->size() < options_.max_batch) {
    std::optional<RequestQueue::Item> item = queue_.TakeNext();
    if (!item.has_value()) return;
    if (!NeedsOnlyHeld(*item)) {
      // Nobody else takes from the queue, and newer items of the tenant are behind this one.
      return queue_.PutBack(*std::move(item));
    }
    batch->Add(*std::move(item));
  }
}

bool SharedCommit::NeedsOnlyHeld(const RequestQueue::Item& item) const {
  const auto* write = std::get_if<Write>(&item);
  if (write == nullptr) return true;
  if (!replica_.UnknownBudgets(write->tenant, write->command).empty()) return false;
  for (const std::string& id : LedgersOf(*write)) {
    if (!std::binary_search(held_.begin(), held_.end(), id)) return false;
  }
  return true;
}

absl::Status SharedCommit::PrefetchKeysOf(const std::vector<Write>& writes) {
  Replica::HighestIds highest;
  std::vector<StoredKey> keys;
  for (const Write& write : writes) {
    replica_.AddKeysOf(write.tenant, write.command, &highest, &keys);
  }
  return shared_.Prefetch(keys);
}

absl::StatusOr<Outcome> SharedCommit::Decide(const Write& write, absl::Status* store_status) {
  return replica_.Decide(
      write.tenant, write.command,
      [&](const std::string& root_id, const core::ChargeKey& key) {
        return FindCharge(root_id, key, store_status);
      },
      [&](const std::string& root_id, int64_t sequence) {
        absl::StatusOr<std::optional<core::Hash>> hash = store_.HashOf(root_id, sequence);
        if (!hash.ok()) *store_status = hash.status();
        return hash;
      },
      [this](const std::string& root_id, const Entry& entry) {
        in_transaction_ = true;
        return store_.Append(root_id, entry);
      },
      store_status);
}

absl::StatusOr<std::optional<Entry>> SharedCommit::FindCharge(const std::string& root_id,
                                                              const core::ChargeKey& key,
                                                              absl::Status* store_status) {
  absl::StatusOr<std::optional<Entry>> found = store_.FindCharge(root_id, key);
  if (!found.ok()) {
    *store_status = found.status();  // the transaction is over
    // The next transaction continues without this ledger.
    if (absl::IsDataLoss(found.status())) replica_.Lost(root_id);
    return found;
  }
  RETURN_IF_ERROR(replica_.CheckFound(root_id, key, *found));
  return found;
}

void SharedCommit::SetAside(Batch* batch) {
  if (held_elsewhere_.empty()) return;
  const Clock::time_point now = Clock::now();
  std::vector<Write> others;
  for (Write& write : batch->writes) {
    const std::vector<std::string> ledgers = LedgersOf(write);
    const bool waits = std::any_of(ledgers.begin(), ledgers.end(), [this](const std::string& id) {
      return held_elsewhere_.count(id) > 0;
    });
    if (!waits) {
      others.push_back(std::move(write));
      continue;
    }
    if (!write.set_aside.has_value()) write.set_aside = now;
    aside_.push_back(std::move(write));
  }
  batch->writes = std::move(others);
  if (!aside_.empty()) next_try_ = std::min(next_try_, now + kTryInterval);
}

SharedCommit::Batch SharedCommit::TakeSetAside() {
  Batch batch;
  if (Clock::now() < next_try_) return batch;
  next_try_ = Clock::time_point::max();
  held_elsewhere_.clear();
  batch.writes = std::exchange(aside_, {});
  return batch;
}

std::vector<ReplyThread::Answer> SharedCommit::TakeOverdue() {
  const Clock::time_point now = Clock::now();
  std::vector<ReplyThread::Answer> answers;
  std::vector<Write> others;
  for (Write& write : std::exchange(aside_, {})) {
    if (absl::FromChrono(now - *write.set_aside) < options_.hold_patience) {
      others.push_back(std::move(write));
      continue;
    }
    answers.push_back({std::move(write.reply), HeldElsewhere()});
  }
  aside_ = std::move(others);
  return answers;
}

bool SharedCommit::BringUpToDate() {
  CatchUp().IgnoreError();  // the queue has the reason
  return true;
}

bool SharedCommit::LookAgain() { return Clock::now() >= next_look_ && CatchUp().ok(); }

absl::Status SharedCommit::ApplyForeign(const std::string& root_id, const Entry& entry) {
  unsettled_.insert(root_id);
  replica_.ApplyForeign(root_id, entry);
  return absl::OkStatus();
}

absl::Status SharedCommit::CatchUp() {
  const absl::StatusOr<std::vector<std::string>> lost =
      shared_.CatchUp([this](const std::string& root_id, const Entry& entry) {
        return ApplyForeign(root_id, entry);
      });
  next_look_ = Clock::now() + absl::ToChronoMilliseconds(options_.catch_up_interval);
  if (!lost.ok()) {
    queue_.StopServing(lost.status());
    return queue_.WhyNoCommands();
  }
  for (const std::string& root_id : *lost) replica_.Lost(root_id);
  replica_.Kept({unsettled_.begin(), unsettled_.end()});
  unsettled_.clear();
  tokens_.Publish(replica_);
  {
    absl::MutexLock lock(&mutex_);
    caught_up_at_ = Clock::now();
  }
  queue_.ServeAll("the database answers");
  return absl::OkStatus();
}

void SharedCommit::BeginWork() {
  absl::MutexLock lock(&mutex_);
  working_since_ = Clock::now();
}

void SharedCommit::EndWork() {
  absl::MutexLock lock(&mutex_);
  working_since_ = Clock::time_point::max();
}

absl::Status SharedCommit::CheckProgress() const {
  absl::MutexLock lock(&mutex_);
  if (absl::FromChrono(Clock::now() - working_since_) <= options_.patience) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("the ledger's database has not answered for ",
                                             absl::FormatDuration(options_.patience),
                                             " or more; is its standby there?"));
}

bool SharedCommit::TokensAreCurrent() const {
  absl::MutexLock lock(&mutex_);
  return absl::FromChrono(Clock::now() - caught_up_at_) < options_.token_patience;
}

}  // namespace epsledger::storage
