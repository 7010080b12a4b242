// Decisions on sessions and their attempts.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "server/core/charge_decider.h"
#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "server/core/plan.h"
#include "server/core/pricing.h"
#include "server/core/units.h"

namespace epsledger::core {
namespace {

absl::Status NoSuchSession(const SessionName& name) {
  return absl::NotFoundError(absl::StrFormat("budgets/%s/sessions/%s: there is no such session",
                                             name.budget_id, name.session_id));
}

absl::Status CheckDistinct(const std::vector<accounting::CountedEvent>& plan) {
  std::map<std::string, size_t> planned;
  for (size_t i = 0; i < plan.size(); ++i) {
    const auto [it, is_new] = planned.emplace(EncodeEvent(*plan[i].event), i);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "session.plan.events[%d].event: got the event of events[%d] again, want distinct ones", i,
          it->second));
    }
  }
  return absl::OkStatus();
}

// Returns the encoding that identifies an audit.
std::string Encoding(const AuditRecord& audit) {
  return EncodeContent(0, 0, AuditRecorded{.session_number = 0, .audit = audit});
}

// Returns the planned event with the most uses. REQUIRES: plan not empty.
const accounting::MechanismEvent& MostUsed(const std::vector<accounting::CountedEvent>& plan) {
  return *std::max_element(plan.begin(), plan.end(),
                           [](const accounting::CountedEvent& a,
                              const accounting::CountedEvent& b) { return a.count < b.count; })
              ->event;
}

// Returns the cost of a whole plan in units at the gate: as one block, which is one interactive
// mechanism ([VW21], [Lyu22]), or one unit per use if every event costs one unit. Returns nothing
// if the plan does not fit, or after adding a missing price to `wanted`.
std::optional<UnitPrices::Charge> PlanUnits(const SessionSpec& spec, const Gate& gate,
                                            const Pricing* pricing, PricesWanted* wanted) {
  const std::shared_ptr<const UnitReference>& reference = gate.balance.reference();
  if (reference == nullptr || accounting::ReleasesNothing(spec.plan)) return std::nullopt;
  const int64_t left = gate.UnitsLeft();
  if (left < 1) return std::nullopt;
  int64_t single_units = 0;
  bool one_unit_each = true;
  for (const accounting::CountedEvent& planned : spec.plan) {
    one_unit_each = one_unit_each &&
                    accounting::CostsOneUnit(*planned.event, reference->event, reference->relation);
    single_units = std::min(single_units, accounting::kMaxEventCount) + planned.count;
  }
  std::optional<UnitPrices::Charge> cheapest;
  if (one_unit_each && single_units <= left) cheapest = UnitPrices::Charge{single_units, 0};
  if (spec.plan.size() == 1 && *spec.plan[0].event == reference->event) return cheapest;
  const auto [block, count] = BlockOf(spec.plan);
  const int64_t level = accounting::LevelAtMost(reference->reference.units, left);
  const auto key = Pricing::PriceKey{reference.get(), EncodeEvent(block), count, level};
  if (pricing == nullptr || pricing->prices.count(key) == 0) {
    wanted->prices.push_back(
        {.reference = reference, .event = block, .count = count, .level = level});
    return std::nullopt;
  }
  const absl::StatusOr<ProvedUnitPrice>& price = pricing->prices.at(key);
  if (price.ok() && (!cheapest.has_value() || price->units < cheapest->units)) {
    cheapest = UnitPrices::Charge{price->units, price->reserve};
  }
  return cheapest;
}

// Returns OK if the command asks for the session that exists.
absl::Status CheckSame(const CreateSession& command, const SessionSpec& existing) {
  SessionSpec asked = command.spec;
  if (command.any_filter && asked.own_cap.has_value() && existing.own_cap.has_value()) {
    TakeFilterOf(*existing.own_cap, &*asked.own_cap);
  }
  const std::string difference = FirstDifference(existing, asked);
  if (difference.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrFormat("budgets/%s/sessions/%s exists with another %s",
                                                  asked.budget_id, asked.id, difference));
}

// Returns OK if a session with these settings may be created below the budget.
absl::Status CheckNewSession(const SessionSpec& spec, const BudgetSpec& budget) {
  if (budget.relation != spec.relation) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "session.neighboringRelation: got %s, want %s as in budgets/%s",
        accounting::Name(spec.relation), accounting::Name(budget.relation), spec.budget_id));
  }
  const bool declared = spec.mode == SessionMode::kDeclared;
  if (!declared && std::holds_alternative<TradeOffCurveCap>(budget.cap)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "session.mode: got ADAPTIVE, want DECLARED: the cap of budgets/%s is a trade-off curve, "
        "which no filter keeps",
        spec.budget_id));
  }
  if (declared && IsUnproven(spec.claim)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "session.mode: got DECLARED, want ADAPTIVE: the session is %s, and what is not proven "
        "composes to nothing",
        LabelAndFlag(spec.claim->status)));
  }
  if (spec.own_cap.has_value() && std::holds_alternative<NoGuaranteeCap>(*spec.own_cap)) {
    return absl::InvalidArgumentError(
        "session.ownCap: got noGuarantee, want noOwnCap: only a budget can say that it promises "
        "nothing");
  }
  return absl::OkStatus();
}

// Adds the entries of an ADAPTIVE session: its creation, and the reference of its own cap if it is
// expected to charge one event most. Adds missing prices to `wanted`.
absl::Status CreateAdaptive(SessionCreated created, const accounting::MechanismEvent* expected,
                            const Pricing* pricing, PricesWanted* wanted,
                            std::vector<EntryBody>* entries) {
  const SessionSpec spec = created.spec;
  const int64_t number = created.session_number;
  if (!spec.own_cap.has_value()) {
    entries->push_back(std::move(created));
    return absl::OkStatus();
  }
  if (std::holds_alternative<TradeOffCurveCap>(*spec.own_cap)) {
    return absl::InvalidArgumentError(
        "session.ownCap: got tradeOffCurve, want a currency with a filter: an ADAPTIVE session "
        "cannot be held to a trade-off curve");
  }
  ASSIGN_OR_RETURN(accounting::Filter filter, FilterFor(*spec.own_cap, "session.ownCap"));
  CellFilter own_filter = CellFilter::From(filter);
  created.own_filter = own_filter;
  entries->push_back(std::move(created));
  const Gate own{.budget_id = spec.budget_id,
                 .session_id = spec.id,
                 .balance = Balance(std::move(own_filter)),
                 .cap = &*spec.own_cap};
  if (expected == nullptr || !own.balance.CanFixReference()) return absl::OkStatus();
  const std::shared_ptr<const UnitReference> reference =
      FindReference(own, spec.relation, *expected, /*suggested=*/false, nullptr, pricing, wanted);
  if (reference != nullptr) entries->push_back(EntryOf(*reference, "", number));
  return absl::OkStatus();
}

// Composes the plan of a DECLARED session and sets its cost at every gate, the first of which is
// that of the session's budget. Returns the refusal of the first gate that has no room. Adds
// missing prices to `wanted`: the charge is not complete then.
absl::StatusOr<std::optional<Refusal>> ChargePlan(const CreateSession& command,
                                                  const std::vector<Gate>& gates,
                                                  const Pricing* pricing, PricesWanted* wanted,
                                                  std::optional<PlanCharge>* plan_charge) {
  const SessionSpec& spec = command.spec;
  RETURN_IF_ERROR(CheckDistinct(spec.plan));
  std::optional<PlanComposition> composed_now;
  PlanComposition& plan =
      command.composition != nullptr ? *command.composition : composed_now.emplace(spec);
  ASSIGN_OR_RETURN(accounting::Guarantee composed, plan.At(spec.plan_delta));
  RETURN_IF_ERROR(CheckOwnCap(spec, plan));
  PlanCharge charge{.epsilon = *composed.upper, .theorem = composed.theorem, .costs = {}};
  if (std::isinf(charge.epsilon) && std::holds_alternative<NoGuaranteeCap>(*gates.front().cap)) {
    return absl::FailedPreconditionError(
        "session.plan: no finite epsilon is proven of it: charge it in an ADAPTIVE session");
  }
  std::vector<std::optional<UnitPrices::Charge>> in_units;
  for (const Gate& gate : gates) in_units.push_back(PlanUnits(spec, gate, pricing, wanted));
  for (const Gate& gate : gates) {
    charge.costs.push_back(PlanCosts(spec, plan, charge.epsilon, *gate.cap, gate.balance.filter(),
                                     gate.IsCrossed(), pricing, wanted));
  }
  if (!wanted->empty()) return std::optional<Refusal>();
  for (size_t i = 0; i < gates.size(); ++i) {
    const Gate& gate = gates[i];
    std::vector<Cost>& costs = charge.costs[i];
    if (in_units[i].has_value()) {
      const size_t units = *UnitsCellOf(gate.balance.filter());
      costs[units] = CostOfUnits(in_units[i]->units);
      costs[units + 1] = Cost::RoundUp(in_units[i]->reserve);
    }
    if (!gate.Fits(costs)) return std::optional<Refusal>(RefusalBy(gate, costs));
  }
  *plan_charge = std::move(charge);
  return std::optional<Refusal>();
}

}  // namespace

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const CreateSession& command,
                                                  const Pricing* pricing) const {
  const SessionSpec& spec = command.spec;
  const SessionName name{.budget_id = spec.budget_id, .session_id = spec.id};
  const BudgetState* budget = FindBudget(spec.budget_id);
  if (budget == nullptr) {
    return absl::NotFoundError(
        absl::StrFormat("budgets/%s: there is no such budget", spec.budget_id));
  }
  if (const SessionState* existing = FindSession(name)) {
    RETURN_IF_ERROR(CheckSame(command, existing->spec));
    return Decision{SessionOutcome{.session = name, .created = false, .refusal = {}}, {}};
  }
  RETURN_IF_ERROR(CheckNewSession(spec, budget->spec));
  const auto refuse = [&](Refusal refusal) {
    return Decision{SessionOutcome{.session = name, .created = false, .refusal = refusal},
                    {SessionRefused{.spec = spec, .refusal = refusal}}};
  };
  if (std::optional<Refusal> blocked = BlockedBy(*budget)) return refuse(*std::move(blocked));

  SessionCreated created{.spec = spec,
                         .session_number = static_cast<int64_t>(sessions_.size()) + 1,
                         .own_filter = {},
                         .plan_charge = {}};
  Decision decision{SessionOutcome{.session = name, .created = true, .refusal = {}}, {}};
  PricesWanted wanted;
  std::vector<Gate> gates = GatesOf(PathToRoot(*budget));
  const bool declared = spec.mode == SessionMode::kDeclared;
  const accounting::MechanismEvent* expected = command.expects.has_value() ? &*command.expects
                                               : declared                  ? &MostUsed(spec.plan)
                                                                           : nullptr;
  // Fix the references of caps on the way up that have none yet, while nothing is charged.
  for (Gate& gate : gates) {
    if (expected == nullptr || !gate.balance.CanFixReference()) continue;
    const std::shared_ptr<const UnitReference> reference =
        FindReference(gate, spec.relation, *expected, /*suggested=*/!command.expects.has_value(),
                      nullptr, pricing, &wanted);
    if (reference == nullptr) continue;
    gate.balance.FixReference(reference);
    decision.entries.push_back(EntryOf(*reference, gate.budget_id, 0));
  }
  if (!declared) {
    RETURN_IF_ERROR(
        CreateAdaptive(std::move(created), expected, pricing, &wanted, &decision.entries));
    if (!wanted.empty()) return Decision{std::move(wanted), {}};
    return decision;
  }
  ASSIGN_OR_RETURN(std::optional<Refusal> no_room,
                   ChargePlan(command, gates, pricing, &wanted, &created.plan_charge));
  if (!wanted.empty()) return Decision{std::move(wanted), {}};
  if (no_room.has_value()) return refuse(*std::move(no_room));
  decision.entries.push_back(std::move(created));
  return decision;
}

std::vector<double> Ledger::PlanDeltas(const SessionSpec& spec) const {
  const BudgetState* budget = FindBudget(spec.budget_id);
  const SessionName name{.budget_id = spec.budget_id, .session_id = spec.id};
  if (spec.mode != SessionMode::kDeclared || budget == nullptr || FindSession(name) != nullptr) {
    return {};
  }
  std::vector<double> deltas = {spec.plan_delta};
  const auto add = [&deltas](const Cap& cap) {
    for (const double delta : DeltasOf(cap)) deltas.push_back(delta);
  };
  if (spec.own_cap.has_value()) add(*spec.own_cap);
  for (const BudgetState* b : PathToRoot(*budget)) {
    if (std::holds_alternative<TradeOffCurveCap>(b->spec.cap)) add(b->spec.cap);
  }
  return deltas;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const CloseSession& command) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  Decision decision{SessionOutcome{.session = command.session, .created = false, .refusal = {}},
                    {}};
  if (!session->closed) {
    decision.entries.push_back(
        SessionClosed{.session_number = session->number, .reason = command.reason});
  }
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const RecordAudit& command) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  Decision decision{SessionOutcome{.session = command.session, .created = false, .refusal = {}},
                    {}};
  AuditRecorded recorded{.session_number = session->number, .audit = command.audit};
  const bool is_repetition =
      !session->audits.empty() && Encoding(session->audits.back().audit) == Encoding(command.audit);
  if (!is_repetition) decision.entries.push_back(std::move(recorded));
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const OpenAttempt& command) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  if (session->closed) {
    return absl::FailedPreconditionError(
        absl::StrFormat("budgets/%s/sessions/%s is closed for good (%s)", command.session.budget_id,
                        command.session.session_id, session->close_reason));
  }
  for (const BudgetState* budget : PathToRoot(*FindBudget(session->spec.budget_id))) {
    if (!budget->spec.policy.has_value()) continue;
    if (const auto missing = MissingProvenance(*budget->spec.policy, command.provenance)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s (the policy of budgets/%s)", *missing, budget->spec.id));
    }
  }
  const int64_t attempt = session->current_attempt + 1;
  return Decision{AttemptOutcome{.attempt = attempt, .head = {}},
                  {AttemptOpened{.session_number = session->number,
                                 .attempt = attempt,
                                 .client_description = command.client_description,
                                 .provenance = command.provenance}}};
}

}  // namespace epsledger::core
