// Applies entries: the state of a ledger is the replay of its entries.

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "server/core/charge_decider.h"
#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"

namespace epsledger::core {
namespace {

absl::Status Contradiction(const char* what) {
  return absl::DataLossError(absl::StrFormat("ledger entry contradicts the ones before: %s", what));
}

void Remember(const Entry& refusal, BudgetState* budget) {
  budget->recent_refusals.push_back({refusal.sequence, refusal.time_micros});
  if (budget->recent_refusals.size() > kMaxRecentRefusals) budget->recent_refusals.pop_front();
}

// Remembers what was spent up to the end of the newest day, if `entry`, which spends, begins
// another one. If a clock went back, the newest day goes on. Call before the balance changes.
void BeginDay(const Entry& entry, BudgetState* budget) {
  const int64_t day = DayOf(entry.time_micros);
  if (day <= budget->newest_spend_day) return;
  if (budget->newest_spend_day > 0) {
    budget->spend_days.push_back({budget->newest_spend_day, budget->balance.SpentFraction()});
    if (budget->spend_days.size() > kMaxSpendDays) budget->spend_days.pop_front();
  }
  budget->newest_spend_day = day;
}

// True if there is one cost for every cell of every gate.
bool SameShape(const std::vector<std::vector<Cost>>& costs, const std::vector<Gate>& gates) {
  if (costs.size() != gates.size()) return false;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (costs[i].size() != gates[i].balance.spent().size()) return false;
  }
  return true;
}

// Every cap is checked where it is charged (I1, I14): when a charge is made and when it is
// replayed.
bool AllFit(const std::vector<std::vector<Cost>>& costs, const std::vector<Gate>& gates) {
  for (size_t i = 0; i < costs.size(); ++i) {
    if (!gates[i].Fits(costs[i])) return false;
  }
  return true;
}

bool IsPartition(const BudgetState& budget) { return budget.spec.partition_function.has_value(); }

}  // namespace

int64_t DayOf(int64_t time_micros) {
  constexpr int64_t kMicrosPerDay = 24LL * 60 * 60 * 1'000'000;
  return time_micros / kMicrosPerDay;
}

absl::Status Ledger::Apply(const Entry& entry) {
  if (entry.sequence != head_.sequence + 1) {
    return absl::DataLossError(absl::StrFormat("ledger of budgets/%s: entry %d follows entry %d",
                                               root_id_, entry.sequence, head_.sequence));
  }
  if (entry.hash != ChainHash(head_.hash, entry.content)) {
    return absl::DataLossError(absl::StrFormat(
        "ledger of budgets/%s: the hash of entry %d does not follow from the entry before it",
        root_id_, entry.sequence));
  }
  return ApplySealed(entry);
}

absl::Status Ledger::ApplySealed(const Entry& entry) {
  RETURN_IF_ERROR(std::visit([&](const auto& body) { return ApplyBody(body, entry); }, entry.body));
  head_ = {.sequence = entry.sequence, .hash = entry.hash};
  merkle_.Append(MerkleLeaf(entry.content));
  const size_t place = entry.sequence % kRecentHashes;
  if (recent_hashes_.size() <= place) recent_hashes_.resize(place + 1);
  recent_hashes_[place] = entry.hash;
  return absl::OkStatus();
}

std::vector<BudgetState*> Ledger::MutablePathToRoot(std::string_view budget_id) {
  std::vector<BudgetState*> path;
  auto it = budgets_.find(budget_id);
  while (it != budgets_.end()) {
    path.push_back(&it->second);
    it = budgets_.find(it->second.spec.parent_id);
  }
  return path;
}

BudgetState& Ledger::AddBudget(const BudgetSpec& spec, const CellFilter& filter,
                               int64_t time_micros) {
  if (spec.parent_id.empty() && root_id_.empty()) root_id_ = spec.id;
  BudgetState& budget = budgets_
                            .emplace(spec.id, BudgetState{.spec = spec,
                                                          .balance = Balance(filter),
                                                          .create_time_micros = time_micros,
                                                          .description = spec.description})
                            .first->second;
  const std::vector<BudgetState*> path = MutablePathToRoot(spec.id);
  bool below_partition = false;
  for (size_t i = 1; i < path.size(); ++i) below_partition |= IsPartition(*path[i]);
  for (size_t i = 0; i < path.size(); ++i) {
    const size_t cells = path[i]->balance.spent().size();
    if (below_partition && i > 0) budget.contributions.emplace_back(cells);
    if (IsPartition(budget)) budget.totals.emplace_back(cells);
  }
  if (path.size() > 1) path[1]->child_ids.push_back(spec.id);
  return budget;
}

void Ledger::Post(const std::vector<BudgetState*>& path, size_t level,
                  const std::vector<Cost>& costs) {
  std::vector<Cost> added = costs;
  for (size_t i = 0; i < level; ++i) {
    BudgetState& child = *path[i];
    BudgetState& parent = *path[i + 1];
    if (!child.contributions.empty()) AddInPlace(added, &child.contributions[level - i - 1]);
    if (!IsPartition(parent)) continue;
    PartitionStep step{.child_id = child.spec.id,
                       .two_largest = TwoPartsChange(parent.spec.relation),
                       .child_spent = child.contributions[level - i - 1],
                       .totals = std::move(parent.totals[level - i - 1])};
    added = step.UpdateTotals();
    parent.totals[level - i - 1] = std::move(step.totals);
  }
  path[level]->balance.Add(added);
}

absl::Status Ledger::ApplyBody(const BudgetCreated& body, const Entry& entry) {
  const BudgetSpec& spec = body.spec;
  if (spec.id.empty() || spec.parent_id.empty() != root_id_.empty() ||
      FindBudget(spec.id) != nullptr ||
      (!spec.parent_id.empty() && FindBudget(spec.parent_id) == nullptr) ||
      body.filter.cells.empty()) {
    return Contradiction("a budget is created twice, without its parent, or without a cap");
  }
  AddBudget(spec, body.filter, entry.time_micros);
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const BudgetUpdated& body, const Entry&) {
  const auto it = budgets_.find(body.budget_id);
  if (it == budgets_.end()) return Contradiction("a budget is updated that does not exist");
  it->second.description = body.description;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const BudgetPhaseChanged& body, const Entry&) {
  const auto it = budgets_.find(body.budget_id);
  if (it == budgets_.end() || body.phase == BudgetPhase::kSuperseded ||
      it->second.phase == BudgetPhase::kClosed || it->second.phase == BudgetPhase::kSuperseded) {
    return Contradiction("a budget that does not exist or has ended is frozen, thawed or closed");
  }
  it->second.phase = body.phase;
  it->second.phase_reason = body.reason;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const BudgetSuperseded& body, const Entry& entry) {
  const auto it = budgets_.find(body.budget_id);
  const BudgetSpec& spec = body.successor;
  if (it == budgets_.end() || spec.id.empty() || FindBudget(spec.id) != nullptr ||
      spec.parent_id != it->second.spec.parent_id || it->second.phase == BudgetPhase::kClosed ||
      it->second.phase == BudgetPhase::kSuperseded || body.filter.cells.empty() ||
      body.carried.size() != body.filter.cells.size()) {
    return Contradiction("a budget is superseded twice, or by a budget that exists already");
  }
  if (!Balance(body.filter).Fits(body.carried)) {
    return Contradiction("a successor starts beyond its cap");
  }
  BudgetState& old = it->second;
  BudgetState& successor = AddBudget(spec, body.filter, entry.time_micros);
  successor.supersedes = body.budget_id;
  successor.carried = body.carried;
  successor.guarded = old.guarded;
  successor.normalizers = old.normalizers;
  successor.balance.Add(body.carried);
  // What it takes over was spent before the day on which it may be charged first.
  successor.newest_spend_day = DayOf(entry.time_micros) - 1;
  // Both hold the same population: above a partition the successor takes the place of the old one.
  successor.contributions = old.contributions;
  if (const auto parent = budgets_.find(spec.parent_id); parent != budgets_.end()) {
    for (std::vector<PartitionTotal>& totals : parent->second.totals) {
      for (PartitionTotal& total : totals) total.Rename(old.spec.id, spec.id);
    }
  }
  old.phase = BudgetPhase::kSuperseded;
  old.phase_reason = body.reason;
  old.superseded_by = spec.id;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const SessionCreated& body, const Entry& entry) {
  const SessionSpec& spec = body.spec;
  const std::vector<BudgetState*> path = MutablePathToRoot(spec.budget_id);
  const std::vector<Gate> gates = GatesOf({path.begin(), path.end()});
  const bool declared = spec.mode == SessionMode::kDeclared;
  if (path.empty() || body.session_number != static_cast<int64_t>(sessions_.size()) + 1 ||
      session_numbers_.count({spec.budget_id, spec.id}) > 0 ||
      declared != body.plan_charge.has_value() || (!declared && !spec.plan.empty()) ||
      (declared && body.own_filter.has_value()) ||
      (body.own_filter.has_value() && body.own_filter->cells.empty()) ||
      (declared && !SameShape(body.plan_charge->costs, gates))) {
    return Contradiction("a session is created twice, without its budget, or without its plan");
  }
  if (declared && !AllFit(body.plan_charge->costs, gates)) {
    return Contradiction("a plan is charged beyond a cap");
  }
  auto session = std::make_unique<SessionState>();
  session->spec = spec;
  session->number = body.session_number;
  session->plan_charge = body.plan_charge;
  session->create_time_micros = entry.time_micros;
  if (body.own_filter.has_value()) session->own_balance.emplace(*body.own_filter);
  for (const accounting::CountedEvent& planned : spec.plan) {
    std::string encoding = EncodeEvent(*planned.event);
    session->event_bytes += static_cast<int64_t>(encoding.size());
    session->event_index.emplace(std::move(encoding), session->events.size());
    session->events.push_back({.event = planned.event,
                               .unit_costs = {},
                               .accepted_count = 0,
                               .samplers = SamplersOf(*planned.event)});
  }
  if (declared) {
    for (BudgetState* budget : path) BeginDay(entry, budget);
    for (size_t i = 0; i < path.size(); ++i) Post(path, i, body.plan_charge->costs[i]);
  }
  session_numbers_[{spec.budget_id, spec.id}] = body.session_number;
  sessions_.push_back(std::move(session));
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const SessionClosed& body, const Entry&) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || session->closed) {
    return Contradiction("a session is closed that does not exist or is closed already");
  }
  session->closed = true;
  session->close_reason = body.reason;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const AuditRecorded& body, const Entry& entry) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr)
    return Contradiction("an audit is recorded of a session that is not there");
  if (static_cast<int64_t>(session->audits.size()) == kMaxShownAudits) {
    session->audits.erase(session->audits.begin());
  }
  session->audits.push_back(
      {.audit = body.audit, .sequence = entry.sequence, .time_micros = entry.time_micros});
  ++session->audit_count;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const SessionRefused& body, const Entry& entry) {
  if (FindBudget(body.spec.budget_id) == nullptr) {
    return Contradiction("a session is refused by a budget that does not exist");
  }
  for (BudgetState* budget : MutablePathToRoot(body.spec.budget_id)) Remember(entry, budget);
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const AttemptOpened& body, const Entry&) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || session->closed || body.attempt != session->current_attempt + 1) {
    return Contradiction("an attempt is opened out of order");
  }
  session->current_attempt = body.attempt;
  session->last_charge_id.clear();
  session->provenance = body.provenance;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const EventPriced& body, const Entry&) {
  SessionState* session = MutableSession(body.session_number);
  std::string encoding = EncodeEvent(*body.event);
  const auto bytes = static_cast<int64_t>(encoding.size());
  if (session == nullptr || body.event_index != static_cast<int64_t>(session->events.size()) ||
      !SameShape(body.unit_costs, GatesOf(*session)) ||
      !session->event_index.emplace(std::move(encoding), body.event_index).second) {
    return Contradiction("an event is priced out of order or for other budgets");
  }
  session->event_bytes += bytes;
  session->events.push_back({.event = *body.event,
                             .unit_costs = body.unit_costs,
                             .unit_prices = std::vector<UnitPrices>(body.unit_costs.size()),
                             .accepted_count = 0,
                             .samplers = SamplersOf(*body.event)});
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const ReferenceFixed& body, const Entry&) {
  Balance* balance = nullptr;
  accounting::NeighboringRelation relation{};
  if (const auto budget = budgets_.find(body.budget_id); budget != budgets_.end()) {
    balance = &budget->second.balance;
    relation = budget->second.spec.relation;
  } else if (SessionState* session = MutableSession(body.session_number);
             session != nullptr && session->own_balance.has_value()) {
    balance = &*session->own_balance;
    relation = session->spec.relation;
  }
  if (balance == nullptr || body.units < 1 || !balance->CanTakeReference(body.units)) {
    return Contradiction("a reference is fixed twice, too late, or for a cap that counts no units");
  }
  std::shared_ptr<const UnitReference> reference = ReferenceOf(body, relation);
  if (!accounting::IsLossPair(reference->reference.pair) || !(body.slack > 0 && body.slack < 1) ||
      !(body.reserve >= 0 && body.reserve < 1)) {
    return Contradiction("a reference holds no pair of laws");
  }
  balance->FixReference(std::move(reference));
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const UnitsPriced& body, const Entry&) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || body.event_index < 0 ||
      body.event_index >= static_cast<int64_t>(session->events.size()) || body.count < 1 ||
      body.level < 1 || body.units < 1 || !(body.reserve >= 0)) {
    return Contradiction("a price names a session or event that does not exist, or is none");
  }
  SessionEvent& event = session->events[body.event_index];
  const std::vector<Gate> gates = GatesOf(*session);
  if (body.gate < 0 || body.gate >= static_cast<int64_t>(gates.size()) ||
      gates[body.gate].balance.reference() == nullptr ||
      body.gate >= static_cast<int64_t>(event.unit_prices.size())) {
    return Contradiction("a price in units is of a cap that counts none");
  }
  event.unit_prices[body.gate].Add(
      {.count = body.count, .level = body.level, .units = body.units, .reserve = body.reserve});
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const ChargeDecided& body, const Entry& entry) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || body.attempt < 1 || body.attempt > session->current_attempt ||
      body.event_index < 0 || body.event_index >= static_cast<int64_t>(session->events.size()) ||
      body.count < 1) {
    return Contradiction("a charge names a session, attempt or event that does not exist");
  }
  const bool accepted = body.decision == ChargeDecision::kAccepted;
  const std::vector<BudgetState*> path = MutablePathToRoot(session->spec.budget_id);
  if (accepted) {
    if (body.attempt != session->current_attempt || BlockedBy(*session)) {
      return Contradiction(
          "a charge is accepted from a fenced attempt or by what takes no charges");
    }
    SessionEvent& event = session->events[body.event_index];
    const bool in_plan = body.event_index < static_cast<int64_t>(session->spec.plan.size());
    if (session->spec.mode == SessionMode::kDeclared &&
        (!in_plan || body.count > session->TicketsLeft(body.event_index))) {
      return Contradiction("a DECLARED session draws a ticket that its plan does not have");
    }
    std::vector<std::vector<Cost>> costs = CostsOf(*session, path, event, body.count);
    if (!Fits(*session, path, costs)) {
      return Contradiction("a charge is accepted beyond a cap");
    }
    if (event.accepted_count > accounting::kMaxEventCount - body.count) {
      return Contradiction("an event is used more often than can be counted");
    }
    const size_t own = session->own_balance.has_value() ? 1 : 0;
    if (own == 1) session->own_balance->Add(costs[0]);
    if (costs.size() > own) {
      for (BudgetState* budget : path) BeginDay(entry, budget);
    }
    for (size_t i = own; i < costs.size(); ++i) Post(path, i - own, costs[i]);
    event.accepted_count += body.count;
    // Only sessions that are not proven need this.
    if (IsUnproven(session->spec.claim) && !session->non_private_charged) {
      session->non_private_charged = accounting::ContainsNonPrivate(*event.event);
    }
    session->last_charge = OpenLease{.attempt = body.attempt,
                                     .id = body.charge_id,
                                     .event_index = body.event_index,
                                     .count = body.count,
                                     .expire_time_micros = 0,
                                     .sequence = entry.sequence,
                                     .hash = entry.hash,
                                     .costs = std::move(costs)};
  }
  Count({body.session_number, body.attempt, body.charge_id}, accepted, entry);
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const ChargeRefused& body, const Entry& entry) {
  const SessionState* session = FindSession(body.session_number);
  if (session == nullptr || body.attempt < 1 || body.attempt > session->current_attempt ||
      body.count < 1 || body.event.digest.size() != Hash().size()) {
    return Contradiction("a refused charge names a session, attempt or event that cannot be");
  }
  Count({body.session_number, body.attempt, body.charge_id}, /*accepted=*/false, entry);
  return absl::OkStatus();
}

void Ledger::Count(const ChargeKey& key, bool accepted, const Entry& entry) {
  SessionState& session = *MutableSession(key.session_number);
  if (key.attempt == session.current_attempt && session.IsBeyondLastChargeId(key.charge_id)) {
    session.last_charge_id = key.charge_id;
  }
  ++(accepted ? session.accepted_charge_count : session.refused_charge_count);
  if (accepted) session.normalizers.insert(session.provenance.normalizer);
  for (BudgetState* budget : MutablePathToRoot(session.spec.budget_id)) {
    if (accepted) {
      ++budget->accepted_charge_count;
      budget->normalizers.insert(session.provenance.normalizer);
      budget->last_accepted_time_micros = entry.time_micros;
    } else {
      ++budget->refused_charge_count;
      Remember(entry, budget);
    }
  }
}

absl::Status Ledger::ApplyBody(const LeaseGranted& body, const Entry& entry) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || session->last_charge.attempt != body.attempt ||
      session->last_charge.id != body.lease_id ||
      session->last_charge.sequence + 1 != entry.sequence) {
    return Contradiction("a lease is granted without its charge");
  }
  session->open_leases.push_back(session->last_charge);
  session->open_leases.back().expire_time_micros = body.expire_time_micros;
  if (session->spec.mode == SessionMode::kAdaptive) {
    for (BudgetState* budget : MutablePathToRoot(session->spec.budget_id)) {
      budget->leasing_sessions.insert(body.session_number);
    }
  }
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const LeaseSettled& body, const Entry&) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr) return Contradiction("a lease of no session is settled");
  std::vector<OpenLease>& open = session->open_leases;
  const auto lease = std::find_if(open.begin(), open.end(), [&](const OpenLease& candidate) {
    return candidate.attempt == body.attempt && candidate.id == body.lease_id;
  });
  if (lease == open.end() || body.used_count < 0 || body.used_count > lease->count) {
    return Contradiction("a lease is settled that is not open, or for more than was granted");
  }
  open.erase(lease);
  if (open.empty()) {
    for (BudgetState* budget : MutablePathToRoot(session->spec.budget_id)) {
      budget->leasing_sessions.erase(body.session_number);
    }
  }
  return absl::OkStatus();
}

std::vector<std::vector<Cost>> Ledger::CostsOf(const SessionState& session,
                                               const std::vector<BudgetState*>& path,
                                               const SessionEvent& event, int64_t count) const {
  std::vector<std::vector<Cost>> costs;
  costs.reserve(event.unit_costs.size());
  const auto counts_units = [](const Balance& balance) {
    return UnitsCellOf(balance.filter()).has_value();
  };
  const bool any_units = (session.own_balance.has_value() && counts_units(*session.own_balance)) ||
                         std::any_of(path.begin(), path.end(), [&](const BudgetState* budget) {
                           return counts_units(budget->balance);
                         });
  if (!any_units || event.unit_costs.empty()) {
    for (const std::vector<Cost>& unit_costs : event.unit_costs) {
      costs.push_back(Times(unit_costs, count));
    }
    return costs;
  }
  const std::vector<Gate> gates = GatesOf(session);
  for (size_t i = 0; i < gates.size(); ++i) {
    costs.push_back(gates[i].CostOf(event.unit_costs[i], event.unit_prices[i], count));
  }
  return costs;
}

bool Ledger::Fits(const SessionState& session, const std::vector<BudgetState*>& path,
                  const std::vector<std::vector<Cost>>& costs) const {
  // Below a partition a charge may add less than it costs.
  if (std::any_of(path.begin(), path.end(), [](const BudgetState* b) { return IsPartition(*b); })) {
    return AllFit(costs, GatesOf(session));
  }
  if (costs.empty()) return true;  // the plan was charged
  const size_t own = session.own_balance.has_value() ? 1 : 0;
  if (own == 1 && !session.own_balance->Fits(costs[0])) return false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (!path[i]->balance.Fits(costs[own + i])) return false;
  }
  return true;
}

SessionState* Ledger::MutableSession(int64_t session_number) {
  return const_cast<SessionState*>(FindSession(session_number));
}

absl::Status Ledger::ApplyBody(const TokenCreated&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}
absl::Status Ledger::ApplyBody(const LimitedTokenCreated&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}
absl::Status Ledger::ApplyBody(const LoginCreated&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}
absl::Status Ledger::ApplyBody(const TokenRevoked&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}
absl::Status Ledger::ApplyBody(const CallsDenied&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}
absl::Status Ledger::ApplyBody(const QuarantineBegun&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}
absl::Status Ledger::ApplyBody(const QuarantineLifted&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}
absl::Status Ledger::ApplyBody(const QuarantineLiftProposed&, const Entry&) {
  return Contradiction("it is one of the ledger of access");
}

}  // namespace epsledger::core
