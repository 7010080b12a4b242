// The operations of a GroupCommitLedger over a shared store.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "accounting/event/status_macros.h"
#include "server/storage/group_commit_ledger.h"
#include "spdlog/spdlog.h"

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

bool GroupCommitLedger::TokensAreCurrent() const {
  if (shared_ == nullptr) return true;
  absl::MutexLock lock(&mutex_);
  return absl::FromChrono(Clock::now() - caught_up_at_) < options_.token_patience;
}

absl::Status GroupCommitLedger::ApplyForeign(const std::string& root_id, const Entry& entry) {
  unsettled_.insert(root_id);
  replica_.ApplyForeign(root_id, entry);
  return absl::OkStatus();
}

absl::Status GroupCommitLedger::HoldLedgersOf(const std::vector<Write>& writes) {
  std::vector<std::string> unknown;
  for (const Write& write : writes) {
    for (std::string& id : replica_.UnknownBudgets(write.tenant, write.command)) {
      unknown.push_back(std::move(id));
    }
  }
  std::map<std::string, std::string> elsewhere;
  if (!unknown.empty()) {
    absl::StatusOr<std::map<std::string, std::string>> found = shared_->FindLedgers(unknown);
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
  RETURN_IF_ERROR(store_->Begin());
  ASSIGN_OR_RETURN(const std::vector<std::string> lost,
                   shared_->Hold(held_, [this](const std::string& root_id, const Entry& entry) {
                     return ApplyForeign(root_id, entry);
                   }));
  for (const std::string& root_id : lost) replica_.Lost(root_id);
  replica_.Kept(held_);
  for (const std::string& root_id : held_) unsettled_.erase(root_id);
  return absl::OkStatus();
}

void GroupCommitLedger::TopUp(Batch* batch) {
  const auto is_held = [this](const Item& item) {
    const auto* write = std::get_if<Write>(&item);
    if (write == nullptr) return true;
    if (!replica_.UnknownBudgets(write->tenant, write->command).empty()) return false;
    for (const std::string& id : replica_.LedgersOf(write->tenant, write->command, {})) {
      if (!std::binary_search(held_.begin(), held_.end(), id)) return false;
    }
    return true;
  };
  while (batch->size() < options_.max_batch) {
    std::optional<Item> item;
    {
      absl::MutexLock lock(&mutex_);
      if (queue_.empty()) return;
      item = queue_.Pop();
    }
    if (!is_held(*item)) {
      // Nobody else takes from the queue, and newer items of the tenant are behind this one.
      const std::string tenant = TenantOf(*item);
      absl::MutexLock lock(&mutex_);
      queue_.PushFront(tenant, *std::move(item));
      return;
    }
    batch->Add(*std::move(item));
  }
}

absl::Status GroupCommitLedger::PrefetchKeysOf(const std::vector<Write>& writes) {
  Replica::HighestIds highest;
  std::vector<StoredKey> keys;
  for (const Write& write : writes) {
    replica_.AddKeysOf(write.tenant, write.command, &highest, &keys);
  }
  return shared_->Prefetch(keys);
}

absl::Status GroupCommitLedger::TransactShared(Batch* batch,
                                               std::vector<absl::StatusOr<Outcome>>* outcomes) {
  SetAside(batch);
  if (batch->writes.empty()) return absl::OkStatus();
  for (int attempt = 1;; ++attempt) {
    absl::Status status = Transact(batch, outcomes);
    if (status.ok() && in_transaction_) {
      replica_.Kept(held_);
      return status;
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> unknown, store_->Rollback());
    for (const std::string& root_id : unknown) {
      replica_.Forget(root_id);
      unsettled_.insert(root_id);
    }
    if (absl::IsDeadlineExceeded(status)) return TransactApart(batch, outcomes);
    if (status.code() != absl::StatusCode::kAborted || attempt == kMaxAttempts) return status;
  }
}

absl::Status GroupCommitLedger::TransactApart(Batch* batch,
                                              std::vector<absl::StatusOr<Outcome>>* outcomes) {
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
    if (status.ok()) status = TransactShared(&part, &decided);
    for (Write& write : part.writes) batch->writes.push_back(std::move(write));
    for (absl::StatusOr<Outcome>& outcome : decided) outcomes->push_back(std::move(outcome));
  }
  return status;
}

void GroupCommitLedger::SetAside(Batch* batch) {
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

void GroupCommitLedger::TryAgain() {
  next_try_ = Clock::time_point::max();
  held_elsewhere_.clear();
  Batch batch;
  batch.writes = std::exchange(aside_, {});
  RunBatch(std::move(batch));
  // Refuse the writes that have waited too long.
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
  if (!answers.empty()) replies_.Give(std::move(answers));
}

absl::Status GroupCommitLedger::CatchUp() {
  const absl::StatusOr<std::vector<std::string>> lost =
      shared_->CatchUp([this](const std::string& root_id, const Entry& entry) {
        return ApplyForeign(root_id, entry);
      });
  LookAgainIn(options_.catch_up_interval);
  if (!lost.ok()) {
    Fail(lost.status());
    return Health();
  }
  for (const std::string& root_id : *lost) replica_.Lost(root_id);
  replica_.Kept({unsettled_.begin(), unsettled_.end()});
  unsettled_.clear();
  {
    absl::MutexLock lock(&mutex_);
    caught_up_at_ = Clock::now();
  }
  Serve("the database answers");
  return absl::OkStatus();
}

}  // namespace epsledger::storage
