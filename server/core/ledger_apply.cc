// The state of a ledger as the replay of its entries.

#include "absl/strings/str_format.h"
#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"

namespace epsledger::core {
namespace {

absl::Status Contradiction(const char* what) {
  return absl::DataLossError(absl::StrFormat("ledger entry contradicts the ones before: %s", what));
}

// True if there is one cost for every cell of every balance.
bool SameShape(const std::vector<std::vector<Cost>>& costs, const std::vector<Balance*>& balances) {
  if (costs.size() != balances.size()) return false;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (costs[i].size() != balances[i]->spent().size()) return false;
  }
  return true;
}

// Every cap is checked where it is charged (I1, I14): when a charge is made and when it is
// replayed.
bool AllFit(const std::vector<std::vector<Cost>>& costs, const std::vector<Balance*>& balances) {
  for (size_t i = 0; i < costs.size(); ++i) {
    if (!balances[i]->Fits(costs[i])) return false;
  }
  return true;
}

}  // namespace

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
  absl::Status status =
      std::visit([&](const auto& body) { return ApplyBody(body, entry.time_micros); }, entry.body);
  if (status.ok()) head_ = {.sequence = entry.sequence, .hash = entry.hash};
  return status;
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

absl::Status Ledger::ApplyBody(const BudgetCreated& body, int64_t time_micros) {
  const BudgetSpec& spec = body.spec;
  if (spec.parent_id.empty() != root_id_.empty() || FindBudget(spec.id) != nullptr ||
      (!spec.parent_id.empty() && FindBudget(spec.parent_id) == nullptr) ||
      body.filter.cells.empty()) {
    return Contradiction("a budget is created twice, without its parent, or without a cap");
  }
  if (spec.parent_id.empty()) root_id_ = spec.id;
  budgets_.emplace(spec.id, BudgetState{.spec = spec,
                                        .balance = Balance(body.filter),
                                        .create_time_micros = time_micros});
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const SessionCreated& body, int64_t time_micros) {
  const SessionSpec& spec = body.spec;
  const std::vector<BudgetState*> path = MutablePathToRoot(spec.budget_id);
  std::vector<Balance*> balances;
  for (BudgetState* budget : path) balances.push_back(&budget->balance);
  const bool declared = spec.mode == SessionMode::kDeclared;
  if (path.empty() || body.session_number != static_cast<int64_t>(sessions_.size()) + 1 ||
      session_numbers_.count({spec.budget_id, spec.id}) > 0 ||
      declared != body.plan_charge.has_value() ||
      (declared && !SameShape(body.plan_charge->costs, balances))) {
    return Contradiction("a session is created twice, without its budget, or without its plan");
  }
  if (declared && !AllFit(body.plan_charge->costs, balances)) {
    return Contradiction("a plan is charged beyond a cap");
  }
  auto session = std::make_unique<SessionState>();
  session->spec = spec;
  session->number = body.session_number;
  session->plan_charge = body.plan_charge;
  session->create_time_micros = time_micros;
  if (body.own_filter.has_value()) session->own_balance.emplace(*body.own_filter);
  for (const accounting::CountedEvent& planned : spec.plan) {
    session->event_index.emplace(EncodeEvent(*planned.event), session->events.size());
    session->events.push_back({.event = *planned.event, .unit_costs = {}, .accepted_count = 0});
  }
  if (declared) {
    for (size_t i = 0; i < path.size(); ++i) balances[i]->Add(body.plan_charge->costs[i]);
  }
  session_numbers_[{spec.budget_id, spec.id}] = body.session_number;
  sessions_.push_back(std::move(session));
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const SessionRefused& body, int64_t) {
  if (FindBudget(body.spec.budget_id) == nullptr) {
    return Contradiction("a session is refused by a budget that does not exist");
  }
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const AttemptOpened& body, int64_t) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || body.attempt != session->current_attempt + 1) {
    return Contradiction("an attempt is opened out of order");
  }
  session->current_attempt = body.attempt;
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const EventPriced& body, int64_t) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || body.event_index != static_cast<int64_t>(session->events.size()) ||
      !SameShape(body.unit_costs, MutableGatesOf(*session)) ||
      !session->event_index.emplace(EncodeEvent(*body.event), body.event_index).second) {
    return Contradiction("an event is priced out of order or for other budgets");
  }
  session->events.push_back(
      {.event = *body.event, .unit_costs = body.unit_costs, .accepted_count = 0});
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const ChargeDecided& body, int64_t) {
  SessionState* session = MutableSession(body.session_number);
  if (session == nullptr || body.attempt < 1 || body.attempt > session->current_attempt ||
      body.event_index < 0 || body.event_index >= static_cast<int64_t>(session->events.size()) ||
      body.count < 1) {
    return Contradiction("a charge names a session, attempt or event that does not exist");
  }
  const bool accepted = body.decision == ChargeDecision::kAccepted;
  if (accepted) {
    SessionEvent& event = session->events[body.event_index];
    const bool in_plan = body.event_index < static_cast<int64_t>(session->spec.plan.size());
    if (session->spec.mode == SessionMode::kDeclared &&
        (!in_plan || body.count > session->TicketsLeft(body.event_index))) {
      return Contradiction("a DECLARED session draws a ticket that its plan does not have");
    }
    const std::vector<Balance*> gates = MutableGatesOf(*session);
    std::vector<std::vector<Cost>> costs = event.unit_costs;
    for (std::vector<Cost>& of_gate : costs) {
      for (Cost& cost : of_gate) cost = cost.Times(body.count);
    }
    if (!AllFit(costs, gates)) return Contradiction("a charge is accepted beyond a cap");
    for (size_t i = 0; i < gates.size(); ++i) gates[i]->Add(costs[i]);
    event.accepted_count += body.count;
  }
  ++(accepted ? session->accepted_charge_count : session->refused_charge_count);
  for (BudgetState* budget : MutablePathToRoot(session->spec.budget_id)) {
    ++(accepted ? budget->accepted_charge_count : budget->refused_charge_count);
  }
  return absl::OkStatus();
}

SessionState* Ledger::MutableSession(int64_t session_number) {
  return const_cast<SessionState*>(FindSession(session_number));
}

std::vector<Balance*> Ledger::MutableGatesOf(SessionState& session) {
  std::vector<Balance*> gates;
  if (session.spec.mode == SessionMode::kDeclared) return gates;
  if (session.own_balance.has_value()) gates.push_back(&*session.own_balance);
  for (BudgetState* budget : MutablePathToRoot(session.spec.budget_id)) {
    gates.push_back(&budget->balance);
  }
  return gates;
}

}  // namespace epsledger::core
