#ifndef EPSLEDGER_SERVER_STORAGE_REPLICA_H_
#define EPSLEDGER_SERVER_STORAGE_REPLICA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/access_ledger.h"
#include "server/core/command.h"
#include "server/core/durable_ledger.h"
#include "server/core/ledger.h"
#include "server/core/tenant.h"
#include "server/storage/ledger_store.h"

namespace epsledger::storage {

// Every ledger of a store in memory: what replaying its entries gives, and the decisions on it.
// Root ids here are those of the store: core::StoredId.
//
// Guarantee: a ledger that lacks something which was known to be durable (Kept, or an authentic
// SeenHead of a client), or holds something else in its place, is quarantined: it takes no
// commands, because what it would acknowledge contradicts what was acknowledged. It may be read,
// and follows what other servers append to it as far as that follows. The log says so once. A
// quarantine for a lost entry is recorded in the ledger of access (TakeUnrecorded), so that it
// outlives the process and holds at every server, until it is lifted there. One for damage lasts as
// long as the process.
//
// Not thread-safe.
class Replica {
 public:
  // A tenant's budgets, each with its ledger.
  using LedgerOfBudget = std::map<std::string, core::Ledger*, std::less<>>;
  using Ledgers = std::map<std::string, std::unique_ptr<core::Ledger>, std::less<>>;
  // Stores an entry of a ledger.
  using Append = absl::FunctionRef<absl::Status(const std::string& root_id, const core::Entry&)>;
  using Lookup = absl::FunctionRef<absl::StatusOr<std::optional<core::Entry>>(
      const std::string& root_id, const core::ChargeKey& key)>;
  // The stored hash of an entry; nothing if there is no such entry.
  using HashLookup = absl::FunctionRef<absl::StatusOr<std::optional<core::Hash>>(
      const std::string& root_id, int64_t sequence)>;

  // The next entry of a ledger, as stored. DATA_LOSS if it does not follow from the ones before.
  absl::Status Apply(const std::string& root_id, const core::Entry& entry);
  // The same of an entry that another server appended: one that does not follow puts its ledger in
  // quarantine, and no other.
  void ApplyForeign(const std::string& root_id, const core::Entry& entry);

  // The ledgers are durable as they are here. One of which something is missing after Forget is
  // lost.
  void Kept(const std::vector<std::string>& root_ids);
  // Empties a ledger, to be replayed from its first entry. If it does not come back it is shown as
  // it was.
  void Forget(const std::string& root_id);
  // The store has lost entries of the ledger.
  void Lost(const std::string& root_id);
  // What the store says of the ledger contradicts its entries. It takes no commands any more.
  void Quarantine(const std::string& root_id, const absl::Status& why);

  // The store is damaged in a way that concerns every ledger: no commands at all any more.
  void QuarantineAll(const absl::Status& why);

  // The lives of the store. To be said before anything is asked below.
  void SetIncarnations(const std::vector<core::Incarnation>& incarnations);
  // Entries that were published, and that the ledgers must hold, if one of the store's own
  // incarnations published them. A ledger that lacks one is put in
  // quarantine, unless the entry is known to be lost; where the ledger is gone all of its tenant's
  // are. The log tells of the ledger of access.
  void CheckPublished(const std::vector<core::NamedEntry>& entries, HashLookup hash_of);

  // Budgets that the command names and that no ledger here has, as core::StoredId.
  std::vector<std::string> UnknownBudgets(const core::Tenant& tenant,
                                          const core::Command& command) const;
  // The ledgers that the command may append to or is decided by, also one that it may create, given
  // where the budgets are that are not here.
  std::vector<std::string> LedgersOf(const core::Tenant& tenant, const core::Command& command,
                                     const std::map<std::string, std::string>& elsewhere) const;

  // The highest charge id of the newest attempt of sessions, as it is after some commands.
  using HighestIds = std::map<const core::SessionState*, std::string>;
  // Adds the keys that Decide will mostly look up for a command that comes after others.
  void AddKeysOf(const core::Tenant& tenant, const core::Command& command, HighestIds* highest,
                 std::vector<StoredKey>* keys) const;

  // Decides a command and applies its entries, each after `append` took it. Sets `*store_status` if
  // `append` failed after that: memory and store differ.
  absl::StatusOr<core::Outcome> Decide(const core::Tenant& tenant, const core::Command& command,
                                       Lookup lookup, HashLookup hash_of, Append append,
                                       absl::Status* store_status);

  // A head that a client says it saw. DATA_LOSS for an authentic one that the ledger does not hold:
  // the ledger is then in quarantine, and all of the tenant's where the budget is not there at all,
  // unless the entry is known to be lost. INVALID_ARGUMENT for any other that it does not hold:
  // nobody but a client says that there was such an entry. FAILED_PRECONDITION for one that another
  // incarnation gave out and that it holds, or that is of an incarnation that it does not know, as
  // of a copy: that is no loss of this ledger's.
  absl::Status CheckSeen(const core::Tenant& tenant, const core::Command& command,
                         HashLookup hash_of);

  // The tenant's; empty if it has none.
  const LedgerOfBudget& BudgetsOf(const core::Tenant& tenant) const;
  const Ledgers& ledgers() const { return ledgers_; }
  const core::AccessLedger& access() const { return access_; }
  bool IsQuarantined(const std::string& root_id) const { return !WhyNot(root_id).ok(); }
  int64_t quarantined_count() const;
  // Those of this tenant.
  std::vector<core::QuarantinedLedger> QuarantinedOf(const core::Tenant& tenant) const;

  // Lost entries that were found since the last call, to be recorded in the ledger of access.
  std::vector<core::NamedEntry> TakeUnrecorded() { return std::exchange(unrecorded_, {}); }
  int64_t budget_count() const;
  // Heads that clients brought and nobody can prove, so far.
  int64_t unproved_head_count() const { return unproved_head_count_; }

 private:
  core::LedgerHead HeadOf(const std::string& root_id) const;
  // DATA_LOSS, with the reason, if the ledger takes no commands.
  absl::Status WhyNot(const std::string& root_id) const;
  // Why a ledger that lacks an entry is refused; without a root, all ledgers of the tenant: `lost`,
  // and they are in quarantine, or the entry is known to be lost.
  absl::Status NoteLostUnlessKnown(std::string_view tenant_name, const std::string& root_id,
                                   const core::NamedEntry& entry, const absl::Status& lost);
  // A head that proves nothing, for the log.
  void NoteUnproved(const core::SeenHead& seen, const std::string& here);
  // The ledger lacks that entry.
  void NoteLost(const core::NamedEntry& entry, const absl::Status& why);
  // After an entry of the ledger of access.
  void FollowAccess(const core::Entry& entry);
  void Restore(const std::string& root_id);
  absl::StatusOr<core::Outcome> DecideAccess(core::AccessCommand access,
                                             const core::Command& command, Append append,
                                             absl::Status* store_status);
  // The ledger that a command is about; for a new root budget a fresh one. `*root_id` is its name
  // in the store.
  core::Ledger* Route(const core::Tenant& tenant, const core::Command& command,
                      std::unique_ptr<core::Ledger>* fresh, std::string* root_id);
  // What the caller's grants do not hold is outside, before anything is looked up: also the ledger
  // of another head than that of the ledger which the command is about.
  absl::Status CheckScope(const core::Tenant& tenant, const core::Command& command) const;
  // Budget ids are unique over all ledgers of a tenant.
  absl::Status CheckSuccessor(const core::Tenant& tenant, const core::Command& command) const;

  Ledgers ledgers_;                                                      // by root id
  std::map<std::string, LedgerOfBudget, std::less<>> ledger_of_budget_;  // by tenant
  std::map<std::string, core::LedgerHead, std::less<>> kept_;            // by root id
  std::map<std::string, absl::Status, std::less<>> quarantined_;         // why, by root id: damage
  // Why, by root id: of entries that were lost, as far as this process found it out.
  std::map<std::string, absl::Status, std::less<>> lost_;
  std::vector<core::NamedEntry> unrecorded_;
  std::set<std::string> lives_ = {""};  // ShortIds, and of who does not say
  std::string present_;
  absl::Status damage_;                                         // of the store
  std::map<std::string, core::Ledger, std::less<>> forgotten_;  // as they were
  core::AccessLedger access_;
  int64_t unproved_head_count_ = 0;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_REPLICA_H_
