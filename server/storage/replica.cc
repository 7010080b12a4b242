#include "server/storage/replica.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/core/sha256.h"
#include "spdlog/spdlog.h"

namespace epsledger::storage {

using core::Command;
using core::Entry;
using core::Ledger;
using core::Outcome;

namespace {

constexpr char kHowToLift[] =
    "Charges are refused until what was lost is charged by hand and an admin lifts the quarantine "
    "(`epsctl ledger lift-quarantine`)";

absl::Status LostEntries(const std::string& root_id, const core::LostEntries& lost) {
  int64_t newest = 0;
  for (const auto& [incarnation, through] : lost.lost_through) newest = std::max(newest, through);
  return absl::DataLossError(absl::StrFormat(
      "ledger of budgets/%s: entries that were acknowledged are not in it, up to entry %d: charges "
      "were lost, as from a ledger restored from an old backup. %s",
      std::string(core::BudgetIdOf(root_id)), newest, kHowToLift));
}

absl::Status DamagedKeys(const std::string& root_id, const std::string& what) {
  return absl::DataLossError(absl::StrFormat(
      "ledger %s: its table of charge keys has %s: it is damaged, or was changed. Charges are "
      "refused until that is mended and the server is started anew; `epsledgerd ledger verify` "
      "names what is wrong",
      root_id, what));
}

}  // namespace

absl::Status Replica::Apply(const std::string& root_id, const Entry& entry) {
  // An acknowledged entry never changes.
  const auto kept = kept_.find(root_id);
  if (kept != kept_.end() && kept->second.sequence == entry.sequence &&
      kept->second.hash != entry.hash) {
    return absl::DataLossError(
        absl::StrFormat("entry %d is another than the one that was acknowledged", entry.sequence));
  }
  if (root_id == core::kAccessRootId) {
    absl::Status applied = access_.Apply(entry);
    if (applied.ok()) FollowAccess(entry);
    return applied;
  }
  std::unique_ptr<Ledger>& ledger = ledgers_[root_id];
  if (ledger == nullptr) ledger = std::make_unique<Ledger>();
  RETURN_IF_ERROR(ledger->Apply(entry));
  if (const core::BudgetSpec* budget = core::NewBudgetOf(entry.body)) {
    const std::string tenant(core::TenantNameOf(root_id));
    // The stored name must be that of the ledger; a renamed ledger is refused.
    if (core::StoredId(tenant, ledger->root_id()) != root_id) {
      return absl::DataLossError(
          absl::StrFormat("the ledger %s is stored as that of %s", ledger->root_id(), root_id));
    }
    ledger_of_budget_[tenant][budget->id] = ledger.get();
  }
  return absl::OkStatus();
}

void Replica::ApplyForeign(const std::string& root_id, const Entry& entry) {
  // Applies also to a quarantined ledger: it may be read, and other servers may continue with it.
  const absl::Status status = Apply(root_id, entry);
  if (!status.ok()) Quarantine(root_id, status);
}

void Replica::QuarantineAll(const absl::Status& why) {
  if (!damage_.ok()) return;
  damage_ = why;
  spdlog::error("nothing is written any more, reading goes on: {}", why.ToString());
}

void Replica::SetIncarnations(const std::vector<core::Incarnation>& incarnations) {
  lives_ = {""};
  for (const core::Incarnation& life : incarnations) lives_.insert(core::ShortId(life.id));
  if (!incarnations.empty()) present_ = core::ShortId(incarnations.back().id);
}

int64_t Replica::quarantined_count() const {
  if (!damage_.ok()) return static_cast<int64_t>(ledgers_.size() + 1);
  int64_t count = IsQuarantined(core::kAccessRootId) ? 1 : 0;
  for (const auto& [root_id, ledger] : ledgers_) count += IsQuarantined(root_id) ? 1 : 0;
  return count;
}

std::vector<core::QuarantinedLedger> Replica::QuarantinedOf(const core::Tenant& tenant) const {
  std::vector<core::QuarantinedLedger> all;
  for (const auto& [root_id, ledger] : ledgers_) {
    if (core::TenantNameOf(root_id) != tenant.name) continue;
    const absl::Status why = WhyNot(root_id);
    if (why.ok()) continue;
    all.push_back({.root_id = std::string(core::BudgetIdOf(root_id)),
                   .reason = std::string(why.message()),
                   .can_be_lifted = damage_.ok() && quarantined_.count(root_id) == 0});
  }
  return all;
}

absl::Status Replica::WhyNot(const std::string& root_id) const {
  if (!damage_.ok()) return damage_;
  for (const auto* reasons : {&quarantined_, &lost_}) {
    const auto why = reasons->find(root_id);
    if (why != reasons->end()) return why->second;
  }
  if (!access_.IsInQuarantine(root_id)) return absl::OkStatus();
  // The quarantine existed when this process began, or another server began it.
  return LostEntries(root_id, access_.lost_entries().find(root_id)->second);
}

void Replica::NoteLost(const core::NamedEntry& entry, const absl::Status& why) {
  const bool is_new = lost_.emplace(entry.root_id, why).second;
  unrecorded_.push_back(entry);
  if (is_new) {
    spdlog::error("the ledger {} is in quarantine and takes no charges: {}", entry.root_id,
                  why.ToString());
  }
}

void Replica::FollowAccess(const Entry& entry) {
  const auto* lifted = std::get_if<core::QuarantineLifted>(&entry.body);
  if (lifted == nullptr) return;
  lost_.erase(lifted->root_id);
  spdlog::warn("the quarantine of the ledger {} was lifted by {}: {}", lifted->root_id,
               lifted->principal, lifted->reason);
}

void Replica::Quarantine(const std::string& root_id, const absl::Status& why) {
  if (!quarantined_.emplace(root_id, why).second) return;
  spdlog::error("the ledger {} is in quarantine and takes no charges: {}", root_id, why.ToString());
}

void Replica::QuarantineForKeys(const std::string& root_id, const std::string& what) {
  Quarantine(root_id, DamagedKeys(root_id, what));
}

absl::Status Replica::CheckFound(const std::string& root_id, const core::ChargeKey& key,
                                 const std::optional<Entry>& found) {
  if (!found.has_value() || core::KeyOf(found->body) == key) return absl::OkStatus();
  const absl::Status damaged = DamagedKeys(
      root_id, absl::StrFormat("entry %d for the key of another charge", found->sequence));
  Quarantine(root_id, damaged);
  return damaged;
}

core::LedgerHead Replica::HeadOf(const std::string& root_id) const {
  if (root_id == core::kAccessRootId) return access_.head();
  const auto it = ledgers_.find(root_id);
  return it == ledgers_.end() ? core::LedgerHead() : it->second->head();
}

void Replica::Kept(const std::vector<std::string>& root_ids) {
  for (const std::string& root_id : root_ids) {
    const core::LedgerHead head = HeadOf(root_id);
    core::LedgerHead& kept = kept_[root_id];
    if (head.sequence >= kept.sequence) {
      kept = head;
      forgotten_.erase(root_id);
    } else {
      Lost(root_id);  // after Forget, entries are missing
      Restore(root_id);
    }
  }
}

// The restored state may include entries that are not durable: it may overstate the spend, but
// never understates it.
void Replica::Restore(const std::string& root_id) {
  const auto as_it_was = forgotten_.find(root_id);
  const auto it = ledgers_.find(root_id);
  if (as_it_was == forgotten_.end() || it == ledgers_.end()) return;
  Ledger& ledger = *it->second;  // at its address, by which listeners know it
  ledger = std::move(as_it_was->second);
  forgotten_.erase(as_it_was);
  LedgerOfBudget& budgets = ledger_of_budget_[std::string(core::TenantNameOf(root_id))];
  for (const auto& [id, budget] : ledger.budgets()) budgets[id] = &ledger;
}

// This process holds another history than the store, so it takes no more commands for the ledger,
// even after the quarantine is lifted.
void Replica::Lost(const std::string& root_id) {
  const core::LedgerHead& kept = kept_[root_id];
  const bool is_new = quarantined_.count(root_id) == 0;
  Quarantine(root_id,
             absl::DataLossError(absl::StrFormat(
                 "ledger %s: the database has lost entries that were acknowledged, up to entry %d, "
                 "or damaged them: it was restored from an older copy, failed over to one, or "
                 "changed. %s, and this server is started anew",
                 root_id, kept.sequence, kHowToLift)));
  if (is_new && kept.sequence > 0 && root_id != core::kAccessRootId) {
    unrecorded_.push_back(
        {root_id, kept.sequence, std::string(core::BytesOf(kept.hash)), present_});
  }
}

void Replica::Forget(const std::string& root_id) {
  if (root_id == core::kAccessRootId) {
    access_ = core::AccessLedger();
    return;
  }
  const auto ledger = ledgers_.find(root_id);
  if (ledger == ledgers_.end()) return;
  LedgerOfBudget& budgets = ledger_of_budget_[std::string(core::TenantNameOf(root_id))];
  for (auto it = budgets.begin(); it != budgets.end();) {
    it = it->second == ledger->second.get() ? budgets.erase(it) : std::next(it);
  }
  if (kept_[root_id].sequence == 0) {
    ledgers_.erase(ledger);
  } else {
    forgotten_.try_emplace(root_id, std::move(*ledger->second));
    *ledger->second = Ledger();  // at its address, by which listeners know it
  }
}

const Replica::LedgerOfBudget& Replica::BudgetsOf(const core::Tenant& tenant) const {
  static const LedgerOfBudget none;
  const auto it = ledger_of_budget_.find(tenant.name);
  return it == ledger_of_budget_.end() ? none : it->second;
}

int64_t Replica::budget_count() const {
  int64_t count = 0;
  for (const auto& [tenant, budgets] : ledger_of_budget_) {
    count += static_cast<int64_t>(budgets.size());
  }
  return count;
}

namespace {

// Returns the budgets whose ledgers decide where a command goes.
std::vector<std::string> BudgetsIn(const Command& command) {
  std::vector<std::string> ids;
  if (std::holds_alternative<core::AccessCommand>(command.body)) return ids;
  ids.push_back(core::BudgetOf(command));
  // BudgetOf is the parent; the new id may be taken in another ledger.
  if (const auto* create = std::get_if<core::CreateBudget>(&command.body)) {
    ids.push_back(create->spec.id);
  }
  if (const auto* supersede = std::get_if<core::SupersedeBudget>(&command.body)) {
    ids.push_back(supersede->successor_id);
  }
  if (command.last_seen.has_value()) ids.push_back(command.last_seen->root_budget_id);
  return ids;
}

}  // namespace

std::vector<std::string> Replica::UnknownBudgets(const core::Tenant& tenant,
                                                 const Command& command) const {
  std::vector<std::string> unknown;
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  for (const std::string& id : BudgetsIn(command)) {
    if (budgets.find(id) == budgets.end()) unknown.push_back(core::StoredId(tenant.name, id));
  }
  return unknown;
}

std::vector<std::string> Replica::LedgersOf(
    const core::Tenant& tenant, const Command& command,
    const std::map<std::string, std::string>& elsewhere) const {
  if (std::holds_alternative<core::AccessCommand>(command.body)) return {core::kAccessRootId};
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  std::vector<std::string> root_ids;
  for (const std::string& id : BudgetsIn(command)) {
    std::string stored_id = core::StoredId(tenant.name, id);
    if (const auto it = budgets.find(id); it != budgets.end()) {
      root_ids.push_back(core::StoredId(tenant.name, it->second->root_id()));
    } else if (const auto there = elsewhere.find(stored_id); there != elsewhere.end()) {
      root_ids.push_back(there->second);
    }
  }
  const auto* create = std::get_if<core::CreateBudget>(&command.body);
  if (create != nullptr && create->spec.parent_id.empty()) {
    std::string stored_id = core::StoredId(tenant.name, create->spec.id);
    if (budgets.find(create->spec.id) == budgets.end() && elsewhere.count(stored_id) == 0) {
      root_ids.push_back(std::move(stored_id));
    }
  }
  return root_ids;
}

void Replica::AddKeysOf(const core::Tenant& tenant, const Command& command, HighestIds* highest,
                        std::vector<StoredKey>* keys) const {
  const auto* charge = std::get_if<core::Charge>(&command.body);
  const auto* settle = std::get_if<core::SettleLease>(&command.body);
  if (charge == nullptr && settle == nullptr) return;
  const core::SessionName& name = charge != nullptr ? charge->session : settle->session;
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  const auto it = budgets.find(name.budget_id);
  const core::SessionState* session = it == budgets.end() ? nullptr : it->second->FindSession(name);
  if (session == nullptr) return;
  const std::string root_id = core::StoredId(tenant.name, it->second->root_id());
  if (IsQuarantined(root_id)) return;  // nothing is looked up
  const auto add = [&](int64_t attempt, std::string id) {
    keys->push_back({root_id, {session->number, attempt, std::move(id)}});
  };
  if (settle != nullptr) {
    add(settle->attempt, settle->lease_id);
    add(settle->attempt, core::SettlementId(settle->lease_id));
    return;
  }
  std::string& last = highest->try_emplace(session, session->last_charge_id).first->second;
  for (const core::ChargeItem& item : charge->items) {
    const std::string& id = item.charge_id;
    // The same rule as SessionState::IsBeyondLastChargeId, by which the ledger decides whether to
    // look up.
    if (charge->attempt == session->current_attempt &&
        std::pair(id.size(), std::string_view(id)) >
            std::pair(last.size(), std::string_view(last))) {
      last = id;
    } else {
      add(charge->attempt, id);
    }
  }
}

Ledger* Replica::Route(const core::Tenant& tenant, const Command& command,
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

absl::Status Replica::CheckSeen(const core::Tenant& tenant, const Command& command,
                                HashLookup hash_of) {
  if (!command.last_seen.has_value()) return absl::OkStatus();
  const core::SeenHead& seen = *command.last_seen;
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  const auto it = budgets.find(seen.root_budget_id);
  const Ledger empty;
  const bool known = it != budgets.end();
  const Ledger& ledger = known ? *it->second : empty;
  const std::string root_id = core::StoredId(tenant.name, ledger.root_id());
  std::optional<bool> holds = ledger.Holds(seen);
  if (!holds.has_value()) {
    ASSIGN_OR_RETURN(const std::optional<core::Hash> stored, hash_of(root_id, seen.sequence));
    holds = stored.has_value() && seen.hash == core::BytesOf(*stored);
  }
  if (*holds && seen.other_incarnation.empty()) return absl::OkStatus();
  if (*holds) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: got entry %d of budgets/%s from %s. Charges may have been lost in between, "
        "or "
        "be taken in two places. Whoever has made sure that they are not goes on with a new "
        "attempt of a client that is started anew",
        seen.field, seen.sequence, seen.root_budget_id, seen.other_incarnation));
  }
  const std::string here =
      seen.sequence > ledger.head().sequence
          ? absl::StrFormat("the newest here is entry %d", ledger.head().sequence)
          : "another entry is in its place";
  if (!seen.is_authentic) {
    NoteUnproved(seen, here);
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: got entry %d of budgets/%s, and %s; want a head that a server of this ledger gave "
        "out, with its tag. This one is of another server or ledger, or damaged",
        seen.field, seen.sequence, seen.root_budget_id, here));
  }
  if (!seen.is_known_incarnation) {
    NoteUnproved(seen, here);
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: got entry %d of budgets/%s from %s, and %s. It is of a copy of this ledger, "
        "or of a life of it that this server does not know. Nothing was charged. Whoever has made "
        "sure that no charges are taken in two places, and that none were lost, goes on with a "
        "client that is started anew",
        seen.field, seen.sequence, seen.root_budget_id, seen.other_incarnation, here));
  }
  const absl::Status lost = absl::DataLossError(absl::StrFormat(
      "ledger of budgets/%s: a client saw entry %d, and %s: charges were lost, as from a ledger "
      "restored from an old backup. %s",
      known ? ledger.root_id() : seen.root_budget_id, seen.sequence, here, kHowToLift));
  return NoteLostUnlessKnown(tenant.name, known ? root_id : "",
                             {root_id, seen.sequence, seen.hash, seen.incarnation}, lost);
}

void Replica::NoteUnproved(const core::SeenHead& seen, const std::string& here) {
  // Limits the log to one line per power of two.
  if (!std::has_single_bit(static_cast<uint64_t>(++unproved_head_count_))) return;
  spdlog::warn(
      "a client brought a head that no server of these ledgers gave out in a life of theirs: entry "
      "{} of budgets/{}, and {} ({} such heads so far)",
      seen.sequence, seen.root_budget_id, here, unproved_head_count_);
}

absl::Status Replica::NoteLostUnlessKnown(std::string_view tenant_name, const std::string& root_id,
                                          const core::NamedEntry& entry, const absl::Status& lost) {
  absl::Status answer;
  for (const auto& [id, ledger] : ledgers_) {
    if (root_id.empty() ? core::TenantNameOf(id) != tenant_name : id != root_id) continue;
    const auto before = access_.lost_entries().find(id);
    if (before != access_.lost_entries().end() && !before->second.in_quarantine &&
        before->second.Cover(entry.incarnation, entry.sequence, present_)) {
      answer.Update(absl::DataLossError(absl::StrFormat(
          "ledger of budgets/%s: a client saw entry %d, which is known to be lost: %s has seen to "
          "it. Start the client anew to go on",
          std::string(core::BudgetIdOf(id)), entry.sequence, before->second.lifted_by)));
      continue;
    }
    NoteLost({id, entry.sequence, entry.hash, entry.incarnation}, lost);
  }
  return answer.ok() ? lost : answer;
}

void Replica::CheckPublished(const std::vector<core::NamedEntry>& entries, HashLookup hash_of) {
  for (const core::NamedEntry& entry : entries) {
    const absl::StatusOr<std::optional<core::Hash>> stored = hash_of(entry.root_id, entry.sequence);
    if (stored.ok() && stored->has_value() && core::BytesOf(**stored) == entry.hash) continue;
    const std::string name = std::string(core::BudgetIdOf(entry.root_id));
    if (lives_.count(entry.incarnation) == 0) {
      spdlog::error(
          "entry {} of budgets/{} was published by the incarnation {}, which these ledgers do not "
          "know: a copy of them published it, or a later life of theirs was lost",
          entry.sequence, name, absl::BytesToHexString(entry.incarnation));
      continue;
    }
    if (entry.root_id == core::kAccessRootId) {
      spdlog::error(
          "the ledger of tokens and denials has not entry {}, which was published: tokens that "
          "were "
          "revoked may be good again; revoke them",
          entry.sequence);
      continue;
    }
    const bool is_there = ledgers_.count(entry.root_id) > 0;
    NoteLostUnlessKnown(core::TenantNameOf(entry.root_id), is_there ? entry.root_id : "", entry,
                        absl::DataLossError(absl::StrFormat(
                            "ledger of budgets/%s: its entry %d was published, and is not in it: "
                            "charges were lost, as from a ledger restored from an old backup. %s",
                            name, entry.sequence, kHowToLift)))
        .IgnoreError();
  }
}

absl::Status Replica::CheckScope(const core::Tenant& tenant, const Command& command) const {
  // Admission decides whether a caller with grants may send an AccessCommand.
  if (command.scope == nullptr || std::holds_alternative<core::AccessCommand>(command.body)) {
    return absl::OkStatus();
  }
  static const Ledger none;
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  const auto found = budgets.find(core::BudgetOf(command));
  const Ledger& ledger = found == budgets.end() ? none : *found->second;
  const bool looks_elsewhere =
      command.last_seen.has_value() && command.last_seen->root_budget_id != ledger.root_id();
  if (core::Covers(*command.scope, ledger, command) && !looks_elsewhere) return absl::OkStatus();
  return core::OutsideScope(*command.scope);
}

absl::Status Replica::CheckSuccessor(const core::Tenant& tenant, const Command& command) const {
  const auto* supersede = std::get_if<core::SupersedeBudget>(&command.body);
  if (supersede == nullptr) return absl::OkStatus();
  const LedgerOfBudget& budgets = BudgetsOf(tenant);
  const auto successor = budgets.find(supersede->successor_id);
  const auto budget = budgets.find(supersede->budget_id);
  if (successor == budgets.end() || budget == budgets.end() ||
      successor->second == budget->second) {
    return absl::OkStatus();
  }
  // Things outside the scope get the same answer as missing ones.
  if (command.scope != nullptr &&
      !core::Covers(*command.scope, *successor->second, supersede->successor_id, "")) {
    return core::OutsideScope(*command.scope);
  }
  return absl::AlreadyExistsError(
      absl::StrFormat("budgets/%s exists already and is another budget", supersede->successor_id));
}

absl::StatusOr<Outcome> Replica::DecideAccess(core::AccessCommand access, const Command& command,
                                              Append append, absl::Status* store_status) {
  RETURN_IF_ERROR(WhyNot(core::kAccessRootId));
  if (auto* lift = std::get_if<core::LiftQuarantine>(&access.body)) {
    const auto ledger = ledgers_.find(lift->root_id);
    if (ledger == ledgers_.end()) {
      return absl::NotFoundError(absl::StrFormat("budgets/%s: there is no such root budget",
                                                 std::string(core::BudgetIdOf(lift->root_id))));
    }
    const auto damage = quarantined_.find(lift->root_id);
    if (damage != quarantined_.end()) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "budgets/%s: its quarantine is not lifted at this server: %s",
          std::string(core::BudgetIdOf(lift->root_id)), std::string(damage->second.message())));
    }
    const Ledger& lost = *ledger->second;
    const core::BudgetState* root = lost.FindBudget(lost.root_id());
    while (root != nullptr && !root->superseded_by.empty()) {
      root = lost.FindBudget(root->superseded_by);
    }
    lift->is_guarded = root != nullptr && lost.GuardOf(*root, core::GuardedChange::kLiftQuarantine);
  }
  std::vector<Entry> entries;
  absl::StatusOr<core::AccessOutcome> outcome =
      access_.Execute(access, command.time_micros, command.actor, [&](const Entry& entry) {
        entries.push_back(entry);
        return append(core::kAccessRootId, entry);
      });
  if (!outcome.ok() && !entries.empty()) *store_status = outcome.status();
  if (!outcome.ok()) return outcome.status();
  for (const Entry& entry : entries) FollowAccess(entry);
  return *std::move(outcome);
}

absl::StatusOr<Outcome> Replica::Decide(const core::Tenant& tenant, const Command& command,
                                        Lookup lookup, HashLookup hash_of, Append append,
                                        absl::Status* store_status) {
  if (!damage_.ok()) return damage_;
  if (const auto* access = std::get_if<core::AccessCommand>(&command.body)) {
    return DecideAccess(*access, command, append, store_status);
  }
  RETURN_IF_ERROR(CheckScope(tenant, command));
  RETURN_IF_ERROR(CheckSeen(tenant, command, hash_of));
  RETURN_IF_ERROR(CheckSuccessor(tenant, command));
  std::unique_ptr<Ledger> fresh;
  std::string root_id;
  Ledger* ledger = Route(tenant, command, &fresh, &root_id);
  RETURN_IF_ERROR(WhyNot(root_id));
  if (ledger == nullptr) {
    // An empty ledger gives the usual error for a missing budget.
    ledger = (fresh = std::make_unique<Ledger>()).get();
  }
  bool stored = false;
  absl::StatusOr<Outcome> outcome = ledger->Execute(
      command, [&](const core::ChargeKey& key) { return lookup(root_id, key); },
      [&](const Entry& entry) {
        stored = true;
        return append(root_id, entry);
      });
  if (!outcome.ok() && stored) *store_status = outcome.status();
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
