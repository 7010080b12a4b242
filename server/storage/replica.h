#ifndef EPSLEDGER_SERVER_STORAGE_REPLICA_H_
#define EPSLEDGER_SERVER_STORAGE_REPLICA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

// Every ledger of a store in memory, as the replay of its entries, and the decisions on it. Root
// ids are those of the store: core::StoredId.
//
// Guarantee: a ledger that lacks an entry which was known to be durable (Kept, or an authentic
// SeenHead of a client), or holds another entry in its place, is quarantined: it takes no commands,
// because its acknowledgments would contradict earlier ones. It may be read, and still applies
// entries of other servers as long as they follow. The log reports the quarantine once. A
// quarantine for a lost entry is recorded in the ledger of access (TakeUnrecorded), so it outlives
// the process and is in force at every server until it is lifted there. A quarantine for damage
// lasts as long as the process.
//
// Not thread-safe.
class Replica {
 public:
  // The budgets of a tenant, each with its ledger.
  using LedgerOfBudget = std::map<std::string, core::Ledger*, std::less<>>;
  using Ledgers = std::map<std::string, std::unique_ptr<core::Ledger>, std::less<>>;
  // Stores an entry of a ledger.
  using Append = absl::FunctionRef<absl::Status(const std::string& root_id, const core::Entry&)>;
  using Lookup = absl::FunctionRef<absl::StatusOr<std::optional<core::Entry>>(
      const std::string& root_id, const core::ChargeKey& key)>;
  // Returns the stored hash of an entry; nothing if no such entry exists.
  using HashLookup = absl::FunctionRef<absl::StatusOr<std::optional<core::Hash>>(
      const std::string& root_id, int64_t sequence)>;

  // Applies the next stored entry of a ledger. DATA_LOSS if it does not follow from the entries
  // before.
  absl::Status Apply(const std::string& root_id, const core::Entry& entry);
  // Applies an entry that another server appended. An entry that does not follow puts only its own
  // ledger in quarantine.
  void ApplyForeign(const std::string& root_id, const core::Entry& entry);

  // Records that the ledgers are durable in their present state. If entries are missing after
  // Forget, the ledger is treated as in Lost.
  void Kept(const std::vector<std::string>& root_ids);
  // Empties a ledger, which is then replayed from its first entry. If the replay does not restore
  // it, its old state is shown.
  void Forget(const std::string& root_id);
  // Records that the store has lost entries of the ledger.
  void Lost(const std::string& root_id);
  // Records that the store's data on the ledger contradicts its entries. The ledger takes no more
  // commands.
  void Quarantine(const std::string& root_id, const absl::Status& why);

  // Records that the table of charge keys of a ledger has what it must not have.
  void QuarantineForKeys(const std::string& root_id, const std::string& what);
  // Checks the entry that the store found for a key. DATA_LOSS if it holds another key; the ledger
  // is then in quarantine.
  absl::Status CheckFound(const std::string& root_id, const core::ChargeKey& key,
                          const std::optional<core::Entry>& found);

  // Records damage of the store that concerns every ledger. No ledger takes commands any more.
  void QuarantineAll(const absl::Status& why);

  // Sets the incarnations of the store. REQUIRES: called before the methods below.
  void SetIncarnations(const std::vector<core::Incarnation>& incarnations);
  // Checks that the ledgers hold the published entries that one of the store's own incarnations
  // published. A ledger that lacks such an entry is put in quarantine, unless the entry is known to
  // be lost. If the ledger is gone, all ledgers of its tenant are. A loss in the ledger of access
  // is only logged.
  void CheckPublished(const std::vector<core::NamedEntry>& entries, HashLookup hash_of);

  // Returns the budgets that the command names and that no ledger here has, as core::StoredId.
  std::vector<std::string> UnknownBudgets(const core::Tenant& tenant,
                                          const core::Command& command) const;
  // Returns the ledgers that the command may append to, create, or need for its decision.
  // `elsewhere` maps budgets that are not here to their ledgers.
  std::vector<std::string> LedgersOf(const core::Tenant& tenant, const core::Command& command,
                                     const std::map<std::string, std::string>& elsewhere) const;

  // The highest charge id of the newest attempt of each session, after some commands.
  using HighestIds = std::map<const core::SessionState*, std::string>;
  // Adds the keys that Decide will usually look up for a command, given the commands before it.
  void AddKeysOf(const core::Tenant& tenant, const core::Command& command, HighestIds* highest,
                 std::vector<StoredKey>* keys) const;

  // Decides a command and applies each of its entries after passing it to `append`. Sets
  // `*store_status` if `append` failed: memory and store may then differ.
  absl::StatusOr<core::Outcome> Decide(const core::Tenant& tenant, const core::Command& command,
                                       Lookup lookup, HashLookup hash_of, Append append,
                                       absl::Status* store_status);

  // Checks the head that a client claims to have seen. DATA_LOSS for an authentic head that the
  // ledger does not hold: the ledger is then in quarantine (all ledgers of the tenant if the budget
  // does not exist), unless the entry is known to be lost. INVALID_ARGUMENT for any other head that
  // the ledger does not hold: only the client says that such an entry existed. FAILED_PRECONDITION
  // for a head that another incarnation gave out and that the ledger holds, or for a head of an
  // unknown incarnation, for example of a copy: this ledger has lost nothing then.
  absl::Status CheckSeen(const core::Tenant& tenant, const core::Command& command,
                         HashLookup hash_of);

  // The budgets of the tenant; empty if it has none.
  const LedgerOfBudget& BudgetsOf(const core::Tenant& tenant) const;
  const Ledgers& ledgers() const { return ledgers_; }
  const core::AccessLedger& access() const { return access_; }
  bool IsQuarantined(const std::string& root_id) const { return !WhyNot(root_id).ok(); }
  int64_t quarantined_count() const;
  // The quarantined ledgers of this tenant.
  std::vector<core::QuarantinedLedger> QuarantinedOf(const core::Tenant& tenant) const;

  // Returns the lost entries that were found since the last call. The caller records them in the
  // ledger of access.
  std::vector<core::NamedEntry> TakeUnrecorded() { return std::exchange(unrecorded_, {}); }
  int64_t budget_count() const;
  // The number of heads so far that clients sent and nobody can prove.
  int64_t unproved_head_count() const { return unproved_head_count_; }

 private:
  core::LedgerHead HeadOf(const std::string& root_id) const;
  // DATA_LOSS, with the reason, if the ledger takes no commands.
  absl::Status WhyNot(const std::string& root_id) const;
  // Returns the error for a ledger that lacks an entry, or for all ledgers of the tenant if
  // `root_id` is empty. It is `lost`, and they are put in quarantine, unless the entry is known to
  // be lost.
  absl::Status NoteLostUnlessKnown(std::string_view tenant_name, const std::string& root_id,
                                   const core::NamedEntry& entry, const absl::Status& lost);
  // Logs a head that proves nothing.
  void NoteUnproved(const core::SeenHead& seen, const std::string& here);
  // Records that the ledger lacks the entry.
  void NoteLost(const core::NamedEntry& entry, const absl::Status& why);
  // Called after an entry of the ledger of access.
  void FollowAccess(const core::Entry& entry);
  void Restore(const std::string& root_id);
  absl::StatusOr<core::Outcome> DecideAccess(core::AccessCommand access,
                                             const core::Command& command, Append append,
                                             absl::Status* store_status);
  // Returns the ledger that a command concerns; for a new root budget a fresh one. Sets `*root_id`
  // to its name in the store.
  core::Ledger* Route(const core::Tenant& tenant, const core::Command& command,
                      std::unique_ptr<core::Ledger>* fresh, std::string* root_id);
  // Refuses a command outside the caller's grants before anything is looked up. A seen head of
  // another ledger than the command's is also outside.
  absl::Status CheckScope(const core::Tenant& tenant, const core::Command& command) const;
  // Budget ids are unique over all ledgers of a tenant.
  absl::Status CheckSuccessor(const core::Tenant& tenant, const core::Command& command) const;

  Ledgers ledgers_;                                                      // by root id
  std::map<std::string, LedgerOfBudget, std::less<>> ledger_of_budget_;  // by tenant
  std::map<std::string, core::LedgerHead, std::less<>> kept_;            // by root id
  std::map<std::string, absl::Status, std::less<>> quarantined_;         // damage, by root id
  // Reason, by root id: lost entries, as far as this process found them.
  std::map<std::string, absl::Status, std::less<>> lost_;
  std::vector<core::NamedEntry> unrecorded_;
  std::set<std::string> lives_ = {""};  // ShortIds; "": not given
  std::string present_;
  absl::Status damage_;                                         // of the store
  std::map<std::string, core::Ledger, std::less<>> forgotten_;  // as they were
  core::AccessLedger access_;
  int64_t unproved_head_count_ = 0;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_REPLICA_H_
