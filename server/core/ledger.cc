#include "server/core/ledger.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/accountant.h"
#include "server/core/charge_decider.h"
#include "server/core/codec.h"
#include "server/core/limits.h"

namespace epsledger::core {
namespace {

absl::Status NoSuchBudget(std::string_view id) {
  return absl::NotFoundError(absl::StrFormat("budgets/%s: there is no such budget", id));
}

absl::Status NoSuchSession(const SessionName& name) {
  return absl::NotFoundError(absl::StrFormat("budgets/%s/sessions/%s: there is no such session",
                                             name.budget_id, name.session_id));
}

// The composition of a plan: an epsilon at `log_delta` by the tightest accountant that knows all
// its events. The events were fixed in advance, so any accountant is valid (not only filters).
absl::StatusOr<accounting::Guarantee> ComposePlan(const SessionSpec& spec, double delta) {
  accounting::Question question;
  question.accountant = accounting::Accountant::kBest;
  question.relation = spec.relation;
  question.events = spec.plan;
  question.query = accounting::EpsilonAtDelta::FromDelta(delta);
  absl::StatusOr<accounting::Guarantee> guarantee = accounting::Answer(question);
  if (guarantee.ok() && !guarantee->upper.has_value()) {
    return absl::InternalError("session.plan: no upper bound on its epsilon");
  }
  return guarantee;
}

// What a plan costs in each cell of a filter. Where the filter has room for delta, the plan enters
// as one interactive (epsilon, plan_delta)-DP mechanism (Vadhan and Wang 2021; Lyu 2022); in every
// other quantity as the sum over its events.
std::vector<Cost> PlanCosts(const SessionSpec& spec, double epsilon, const CellFilter& filter) {
  const bool counts_delta =
      std::any_of(filter.cells.begin(), filter.cells.end(),
                  // A cell without any room for delta is that of pure epsilon-DP.
                  [](const Cell& cell) {
                    return cell.quantity == accounting::CellQuantity::kDelta && !cell.cap.is_zero();
                  });
  std::vector<Cost> costs;
  for (const Cell& cell : filter.cells) {
    const accounting::FilterCell priced{.quantity = cell.quantity, .order = cell.order};
    Cost cost;
    if (counts_delta) {
      cost = Cost::RoundUp(accounting::CostUpperBound(
          accounting::ApproximateDp{.epsilon = epsilon, .delta = spec.plan_delta}, spec.relation,
          priced));
    } else {
      for (const accounting::CountedEvent& item : spec.plan) {
        cost = cost + Cost::RoundUp(accounting::CostUpperBound(*item.event, spec.relation, priced))
                          .Times(item.count);
      }
    }
    costs.push_back(cost);
  }
  return costs;
}

}  // namespace

int64_t SessionState::TicketsLeft(int64_t index) const {
  return spec.plan[index].count - events[index].accepted_count;
}

const BudgetState* Ledger::FindBudget(std::string_view budget_id) const {
  const auto it = budgets_.find(budget_id);
  return it == budgets_.end() ? nullptr : &it->second;
}

const SessionState* Ledger::FindSession(const SessionName& name) const {
  const auto it = session_numbers_.find({name.budget_id, name.session_id});
  return it == session_numbers_.end() ? nullptr : FindSession(it->second);
}

const SessionState* Ledger::FindSession(int64_t session_number) const {
  if (session_number < 1 || session_number > static_cast<int64_t>(sessions_.size())) {
    return nullptr;
  }
  return sessions_[session_number - 1].get();
}

std::vector<const SessionState*> Ledger::SessionsOf(std::string_view budget_id,
                                                    std::string_view after_id,
                                                    int64_t limit) const {
  std::vector<const SessionState*> result;
  auto it = session_numbers_.upper_bound({std::string(budget_id), std::string(after_id)});
  for (; it != session_numbers_.end() && it->first.first == budget_id &&
         static_cast<int64_t>(result.size()) < limit;
       ++it) {
    result.push_back(FindSession(it->second));
  }
  return result;
}

std::vector<const BudgetState*> Ledger::PathToRoot(const BudgetState& budget) const {
  std::vector<const BudgetState*> path;
  for (const BudgetState* b = &budget; b != nullptr; b = FindBudget(b->spec.parent_id)) {
    path.push_back(b);
  }
  return path;
}

std::vector<Gate> Ledger::GatesOf(const SessionState& session) const {
  std::vector<Gate> gates;
  if (session.spec.mode == SessionMode::kDeclared) return gates;
  if (session.own_balance.has_value()) {
    gates.push_back({.budget_id = session.spec.budget_id,
                     .session_id = session.spec.id,
                     .balance = *session.own_balance});
  }
  for (const BudgetState* budget : PathToRoot(*FindBudget(session.spec.budget_id))) {
    gates.push_back({.budget_id = budget->spec.id, .session_id = "", .balance = budget->balance});
  }
  return gates;
}

absl::StatusOr<Ledger::Decision> Ledger::Decide(const Command& command, ChargeLookup lookup) const {
  if (const auto* c = std::get_if<CreateBudget>(&command.body)) return Decide(*c);
  if (const auto* c = std::get_if<CreateSession>(&command.body)) return Decide(*c);
  if (const auto* c = std::get_if<OpenAttempt>(&command.body)) return Decide(*c);
  return Decide(std::get<Charge>(command.body), command.time_micros, lookup);
}

absl::StatusOr<Ledger::Decision> Ledger::Decide(const CreateBudget& command) const {
  const BudgetSpec& spec = command.spec;
  if (const BudgetState* existing = FindBudget(spec.id)) {
    const std::string difference = FirstDifference(existing->spec, spec);
    if (difference.empty()) {
      return Decision{BudgetOutcome{.budget_id = spec.id, .created = false}, {}};
    }
    return absl::AlreadyExistsError(absl::StrFormat(
        "budgets/%s exists with another %s; cap, parent, relation and unit never change", spec.id,
        difference));
  }
  if (spec.parent_id.empty()) {
    if (!root_id_.empty()) {
      return absl::InternalError("a ledger has one root budget");
    }
  } else {
    const BudgetState* parent = FindBudget(spec.parent_id);
    if (parent == nullptr) return NoSuchBudget(spec.parent_id);
    if (parent->spec.relation != spec.relation) {
      return absl::FailedPreconditionError(
          absl::StrFormat("budget.neighboringRelation: got %s, want %s as in budgets/%s",
                          accounting::Name(spec.relation), accounting::Name(parent->spec.relation),
                          spec.parent_id));
    }
    if (parent->spec.privacy_unit != spec.privacy_unit) {
      return absl::FailedPreconditionError(
          absl::StrFormat("budget.privacyUnit: got \"%s\", want \"%s\" as in budgets/%s",
                          spec.privacy_unit, parent->spec.privacy_unit, spec.parent_id));
    }
    if (PathToRoot(*parent).size() >= kMaxBudgetDepth) {
      return absl::FailedPreconditionError(
          absl::StrFormat("budget.parent: budgets/%s is %d levels deep already, the most there is",
                          spec.parent_id, kMaxBudgetDepth));
    }
  }
  absl::StatusOr<accounting::Filter> filter = FilterFor(spec.cap, "budget.cap");
  if (!filter.ok()) return filter.status();
  return Decision{BudgetOutcome{.budget_id = spec.id, .created = true},
                  {BudgetCreated{.spec = spec, .filter = CellFilter::From(*filter)}}};
}

absl::StatusOr<Ledger::Decision> Ledger::Decide(const CreateSession& command) const {
  const SessionSpec& spec = command.spec;
  const BudgetState* budget = FindBudget(spec.budget_id);
  if (budget == nullptr) return NoSuchBudget(spec.budget_id);
  const SessionName name{.budget_id = spec.budget_id, .session_id = spec.id};
  if (const SessionState* existing = FindSession(name)) {
    const std::string difference = FirstDifference(existing->spec, spec);
    if (difference.empty()) {
      return Decision{SessionOutcome{.session = name, .created = false, .refusal = {}}, {}};
    }
    return absl::AlreadyExistsError(absl::StrFormat("budgets/%s/sessions/%s exists with another %s",
                                                    spec.budget_id, spec.id, difference));
  }
  if (budget->spec.relation != spec.relation) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "session.neighboringRelation: got %s, want %s as in budgets/%s",
        accounting::Name(spec.relation), accounting::Name(budget->spec.relation), spec.budget_id));
  }
  SessionCreated created{.spec = spec,
                         .session_number = static_cast<int64_t>(sessions_.size()) + 1,
                         .own_filter = {},
                         .plan_charge = {}};
  if (spec.mode == SessionMode::kAdaptive) {
    if (spec.own_cap.has_value()) {
      absl::StatusOr<accounting::Filter> filter = FilterFor(*spec.own_cap, "session.ownCap");
      if (!filter.ok()) return filter.status();
      created.own_filter = CellFilter::From(*filter);
    }
    return Decision{SessionOutcome{.session = name, .created = true, .refusal = {}},
                    {std::move(created)}};
  }

  std::map<std::string, size_t> planned;
  for (size_t i = 0; i < spec.plan.size(); ++i) {
    const auto [it, is_new] = planned.emplace(EncodeEvent(*spec.plan[i].event), i);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "session.plan.events[%d].event: got the event of events[%d] again, want distinct ones", i,
          it->second));
    }
  }
  absl::StatusOr<accounting::Guarantee> composed = ComposePlan(spec, spec.plan_delta);
  if (!composed.ok()) return composed.status();
  if (spec.own_cap.has_value()) {
    const auto* cap = std::get_if<ApproximateDpCap>(&*spec.own_cap);
    if (cap == nullptr) {
      return absl::InvalidArgumentError(
          "session.ownCap: want approximateDp, the only currency that a plan is composed in");
    }
    absl::StatusOr<accounting::Guarantee> at_cap = ComposePlan(spec, cap->delta);
    if (!at_cap.ok()) return at_cap.status();
    if (!(*at_cap->upper <= cap->epsilon)) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "session.plan: spends epsilon %.6g at delta %g, the session's own cap is %g",
          *at_cap->upper, cap->delta, cap->epsilon));
    }
  }
  PlanCharge charge{.epsilon = *composed->upper, .theorem = composed->theorem, .costs = {}};
  for (const BudgetState* ancestor : PathToRoot(*budget)) {
    std::vector<Cost> costs = PlanCosts(spec, charge.epsilon, ancestor->balance.filter());
    if (!ancestor->balance.Fits(costs)) {
      Refusal refusal = RefusalBy(
          Gate{.budget_id = ancestor->spec.id, .session_id = "", .balance = ancestor->balance},
          costs);
      return Decision{SessionOutcome{.session = name, .created = false, .refusal = refusal},
                      {SessionRefused{.spec = spec, .refusal = refusal}}};
    }
    charge.costs.push_back(std::move(costs));
  }
  created.plan_charge = std::move(charge);
  return Decision{SessionOutcome{.session = name, .created = true, .refusal = {}},
                  {std::move(created)}};
}

absl::StatusOr<Ledger::Decision> Ledger::Decide(const OpenAttempt& command) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  const int64_t attempt = session->current_attempt + 1;
  return Decision{AttemptOutcome{.attempt = attempt},
                  {AttemptOpened{.session_number = session->number,
                                 .attempt = attempt,
                                 .client_description = command.client_description}}};
}

absl::StatusOr<Ledger::Decision> Ledger::Decide(const Charge& command, int64_t time_micros,
                                                ChargeLookup lookup) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  if (command.attempt < 1 || command.attempt > session->current_attempt) {
    return absl::NotFoundError(absl::StrFormat(
        "budgets/%s/sessions/%s/attempts/%d: there is no such attempt; the newest is %d",
        command.session.budget_id, command.session.session_id, command.attempt,
        session->current_attempt));
  }
  ChargeDecider decider(*session, GatesOf(*session), head_.sequence, time_micros);
  for (const ChargeItem& item : command.items) {
    // The key first: its outcome is for ever, whatever has changed since (I5, I6).
    absl::StatusOr<std::optional<Entry>> prior =
        lookup(ChargeKey{session->number, command.attempt, item.charge_id});
    if (!prior.ok()) return prior.status();
    if (!prior->has_value()) continue;
    absl::StatusOr<ChargeRecord> record = ToRecord(**prior);
    if (!record.ok()) return record.status();
    if (absl::Status status = decider.AddReplay(item, *std::move(record)); !status.ok()) {
      return status;
    }
  }
  absl::StatusOr<std::vector<ChargeRecord>> records = decider.DecideRest(command);
  if (!records.ok()) return records.status();
  return Decision{ChargeOutcome{.records = *std::move(records)}, decider.TakeEntries()};
}

absl::StatusOr<Preview> Ledger::PreviewCharge(const SessionName& name,
                                              const accounting::MechanismEvent& event,
                                              int64_t count) const {
  const SessionState* session = FindSession(name);
  if (session == nullptr) return NoSuchSession(name);
  ChargeDecider decider(*session, GatesOf(*session), head_.sequence, 0);
  return decider.PreviewOne(event, count);
}

absl::StatusOr<ChargeRecord> Ledger::ToRecord(const Entry& entry) const {
  const auto* row = std::get_if<ChargeDecided>(&entry.body);
  const SessionState* session = row == nullptr ? nullptr : FindSession(row->session_number);
  if (session == nullptr || row->event_index < 0 ||
      row->event_index >= static_cast<int64_t>(session->events.size())) {
    return absl::DataLossError(absl::StrFormat(
        "ledger of budgets/%s: stored charge %d does not belong to it", root_id_, entry.sequence));
  }
  return ChargeRecord{.row = *row,
                      .event = session->events[row->event_index].event,
                      .sequence = entry.sequence,
                      .time_micros = entry.time_micros};
}

Entry Ledger::Seal(EntryBody body, int64_t time_micros) const {
  Entry entry{.sequence = head_.sequence + 1, .time_micros = time_micros, .body = std::move(body)};
  entry.content = EncodeContent(entry.sequence, entry.time_micros, entry.body);
  entry.hash = ChainHash(head_.hash, entry.content);
  return entry;
}

absl::StatusOr<Outcome> Ledger::Execute(const Command& command, ChargeLookup lookup,
                                        absl::FunctionRef<absl::Status(const Entry&)> store) {
  absl::StatusOr<Decision> decision = Decide(command, lookup);
  if (!decision.ok()) return decision.status();
  if (command.validate_only) return std::move(decision->outcome);
  for (EntryBody& body : decision->entries) {
    const Entry entry = Seal(std::move(body), command.time_micros);
    if (absl::Status status = store(entry); !status.ok()) return status;
    if (absl::Status status = Apply(entry); !status.ok()) return status;
  }
  return std::move(decision->outcome);
}

}  // namespace epsledger::core
