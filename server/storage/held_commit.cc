#include "server/storage/held_commit.h"

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/core/unavailable.h"
#include "server/storage/failpoint.h"
#include "spdlog/spdlog.h"

namespace epsledger::storage {

using core::Entry;
using core::Outcome;

HeldCommit::HeldCommit(LedgerStore& store, Replica& replica, RequestQueue& queue,
                       PublishedTokens& tokens, absl::Duration resume_interval)
    : store_(store),
      replica_(replica),
      queue_(queue),
      tokens_(tokens),
      resume_interval_(resume_interval) {}

absl::Status HeldCommit::Start() {
  for (const auto& [root_id, ledger] : replica_.ledgers()) replica_.Kept({root_id});
  replica_.Kept({core::kAccessRootId});
  const absl::Status writable = store_.Writable();
  if (!writable.ok()) BecomeReadOnly(writable);
  return absl::OkStatus();
}

absl::Status HeldCommit::Commit(Batch* batch, Outcomes* outcomes) {
  const absl::Status status = Transact(batch->writes, outcomes);
  if (status.ok()) {
    replica_.Kept(appended_);
    return status;
  }
  BecomeReadOnly(status);
  const absl::Status read = ReadAgain();
  if (read.ok()) {
    tokens_.Publish(replica_);  // the commit may have succeeded nevertheless
  } else {
    queue_.StopServing(read);
    next_trial_ = Clock::time_point::max();  // the contents of the store are no longer known
  }
  return absl::UnavailableError(absl::StrCat(
      "the ledger could not be written; what was in flight counts as charged until a repetition "
      "says what became of it: ",
      status.ToString()));
}

absl::Status HeldCommit::Transact(const std::vector<Write>& writes, Outcomes* outcomes) {
  outcomes->clear();
  outcomes->reserve(writes.size());
  in_transaction_ = false;
  appended_.clear();
  absl::Status status;
  for (const Write& write : writes) {
    Failpoint("command.before");
    outcomes->push_back(status.ok() ? Decide(write, &status) : status);
    Failpoint("command.after");
  }
  return status.ok() && in_transaction_ ? store_.Commit() : status;
}

absl::StatusOr<Outcome> HeldCommit::Decide(const Write& write, absl::Status* store_status) {
  return replica_.Decide(
      write.tenant, write.command,
      [this](const std::string& root_id, const core::ChargeKey& key) {
        return FindCharge(root_id, key);
      },
      [this](const std::string& root_id, int64_t sequence) {
        return store_.HashOf(root_id, sequence);
      },
      [this](const std::string& root_id, const Entry& entry) { return Append(root_id, entry); },
      store_status);
}

absl::StatusOr<std::optional<Entry>> HeldCommit::FindCharge(const std::string& root_id,
                                                            const core::ChargeKey& key) {
  absl::StatusOr<std::optional<Entry>> found = store_.FindCharge(root_id, key);
  if (absl::IsDataLoss(found.status())) {
    replica_.QuarantineForKeys(root_id, "a key whose entry is damaged or gone");
  }
  if (found.ok()) {
    RETURN_IF_ERROR(replica_.CheckFound(root_id, key, *found));
  }
  return found;
}

absl::Status HeldCommit::Append(const std::string& root_id, const Entry& entry) {
  if (!in_transaction_) {
    RETURN_IF_ERROR(store_.Begin());
  }
  in_transaction_ = true;
  if (appended_.empty() || appended_.back() != root_id) appended_.push_back(root_id);
  return store_.Append(root_id, entry);
}

absl::Status HeldCommit::ReadAgain() {
  ASSIGN_OR_RETURN(const std::vector<std::string> unknown, store_.Rollback());
  for (const std::string& root_id : unknown) {
    replica_.Forget(root_id);
    int64_t last = 0;
    absl::StatusOr<std::vector<Entry>> entries;
    do {
      entries = store_.ReadEntries(root_id, last, /*limit=*/1000, kAnyBytes);
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

void HeldCommit::BecomeReadOnly(const absl::Status& why) {
  queue_.ServeReadsOnly(core::ReadOnly(
      absl::StrCat("the ledger can only be read, and takes no charges: ", why.ToString(),
                   "; the server tries again by itself")));
  next_trial_ = Clock::now() + absl::ToChronoMilliseconds(resume_interval_);
  spdlog::error("read only: {}", why.ToString());
}

bool HeldCommit::LookAgain() {
  if (Clock::now() < next_trial_) return false;
  next_trial_ = Clock::time_point::max();
  const absl::Status status = store_.Resume();
  if (status.ok()) {
    queue_.ServeAll("the ledger can be written");
  } else if (absl::IsFailedPrecondition(status)) {
    queue_.ServeReadsOnly(core::ReadOnly(
        absl::StrCat("the ledger can only be read, and takes no charges until the server is "
                     "started anew: ",
                     status.ToString())));
    spdlog::error("read only until the server is started anew: {}", status.ToString());
  } else {
    next_trial_ = Clock::now() + absl::ToChronoMilliseconds(resume_interval_);
  }
  return false;
}

}  // namespace epsledger::storage
