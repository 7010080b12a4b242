// Decisions on budgets: creating, describing, freezing, closing and superseding them.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "server/core/charge_decider.h"
#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/core/plan.h"
#include "server/core/pricing.h"
#include "server/core/units.h"

namespace epsledger::core {
namespace {

absl::Status NoSuchBudget(std::string_view id) {
  return absl::NotFoundError(absl::StrFormat("budgets/%s: there is no such budget", id));
}

absl::Status Ended(const BudgetState& budget) {
  const char* how = budget.phase == BudgetPhase::kClosed ? "is closed" : "was superseded";
  return absl::FailedPreconditionError(
      absl::StrFormat("budgets/%s %s for good (%s)", budget.spec.id, how, budget.phase_reason));
}

bool HasEnded(const BudgetState& budget) {
  return budget.phase == BudgetPhase::kClosed || budget.phase == BudgetPhase::kSuperseded;
}

// Returns the decision for a command that needs this reference first: PricesWanted.
Ledger::Decision WantReference(const Gate& gate, accounting::NeighboringRelation relation,
                               const accounting::MechanismEvent& event,
                               const std::shared_ptr<const UnitReference>& carried) {
  PricesWanted wanted;
  FindReference(gate, relation, event, /*suggested=*/false, carried, nullptr, &wanted);
  return Ledger::Decision{std::move(wanted), {}};
}

// Returns the reference of a new budget if `pricing` has it; nullptr if it must be computed first.
// If the event cannot be a reference, returns an error that names `path`.
absl::StatusOr<std::shared_ptr<const UnitReference>> ReferenceFor(
    const Gate& gate, accounting::NeighboringRelation relation,
    const accounting::MechanismEvent& event, const std::string& path,
    const std::shared_ptr<const UnitReference>& carried, const Pricing* pricing) {
  PricesWanted wanted;
  std::shared_ptr<const UnitReference> reference =
      FindReference(gate, relation, event, /*suggested=*/false, carried, pricing, &wanted);
  if (reference != nullptr || !wanted.empty()) return reference;
  const absl::Status why =
      pricing->references.at({gate.budget_id, gate.session_id, carried.get()}).status();
  // Other codes become FAILED_PRECONDITION, because a repeated call would fail in the same way.
  return absl::Status(
      why.code() == absl::StatusCode::kInvalidArgument ? why.code()
                                                       : absl::StatusCode::kFailedPrecondition,
      absl::StrFormat(
          "%s: got %s, want an event that can be counted in under this cap, such as the "
          "step that most sessions repeat: %s",
          path, accounting::Describe(event), std::string(why.message())));
}

// Returns the path of the field of a cap in units that holds the reference.
std::string PathOfUnits(const Cap& cap, const std::string& path) {
  return path + (std::holds_alternative<UnitsCap>(cap) ? ".units" : ".approximateDp");
}

// Sets the promise of a cap in units once its reference is known.
void SetGuarantee(const UnitReference& reference, Cap* cap) {
  if (auto* units = std::get_if<UnitsCap>(cap)) units->guarantee = reference.guarantee;
}

// Returns the settings of the budget that is to replace `budget`. INVALID_ARGUMENT if its cap
// counts units of an event that nobody names.
absl::StatusOr<BudgetSpec> SuccessorOf(const SupersedeBudget& command, const BudgetState& budget) {
  BudgetSpec successor = budget.spec;
  successor.id = command.successor_id;
  successor.cap = command.cap;
  if (command.any_filter && !TakeFilterOf(budget.spec.cap, &successor.cap)) {
    // Charges in another currency cannot be priced in units afterwards.
    if (auto* cap = std::get_if<ApproximateDpCap>(&successor.cap)) {
      cap->filter = std::holds_alternative<UnitsCap>(budget.spec.cap)
                        ? accounting::ApproximateDpFilter::kResidue
                        : accounting::ApproximateDpFilter::kRenyiOrders;
    }
  }
  successor.description = budget.description;
  const std::shared_ptr<const UnitReference>& reference = budget.balance.reference();
  if (auto* units = std::get_if<UnitsCap>(&successor.cap);
      units != nullptr && !units->reference.has_value()) {
    if (reference == nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "cap.units.reference: unset, want an event: budgets/%s counts units of none",
          command.budget_id));
    }
    units->reference = reference->event;
  }
  return successor;
}

absl::Status NoPriceAfterwards(const char* field, const BudgetState& budget) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: got one that counts units, want the filter of budgets/%s or "
      "another that adds up: what was charged without a price in units cannot be given one "
      "afterwards",
      field, budget.spec.id));
}

absl::Status FewerUnits(const UnitReference& next, const UnitReference& chain,
                        const std::string& budget_id) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "cap: got one of %d units, want at least the %d of budgets/%s: the prices of what "
      "was charged hold where so many units are left, and not where fewer are. To let "
      "less be charged, freeze or close it",
      next.reference.units, chain.reference.units, budget_id));
}

// Returns OK if what was spent can be counted under a cap of this kind.
absl::Status CheckCapOfSuccessor(const Cap& cap) {
  if (std::holds_alternative<TradeOffCurveCap>(cap)) {
    return absl::InvalidArgumentError(
        "cap: got a trade-off curve, want a currency in which what was spent can be counted");
  }
  if (std::holds_alternative<NoGuaranteeCap>(cap)) {
    return absl::InvalidArgumentError(
        "cap: got noGuarantee, want a promise: what promised something is not replaced by nothing; "
        "close it, and create another budget");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Ledger::CheckParent(const BudgetSpec& spec) const {
  const BudgetState* parent = FindBudget(spec.parent_id);
  if (parent == nullptr) return NoSuchBudget(spec.parent_id);
  if (HasEnded(*parent)) return Ended(*parent);
  if (parent->spec.relation != spec.relation) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "budget.neighboringRelation: got %s, want %s as in budgets/%s",
        accounting::Name(spec.relation), accounting::Name(parent->spec.relation), spec.parent_id));
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
  if (std::holds_alternative<TradeOffCurveCap>(parent->spec.cap)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "budget.parent: the cap of budgets/%s is a trade-off curve, which holds one DECLARED "
        "session and no other budget",
        spec.parent_id));
  }
  return absl::OkStatus();
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const CreateBudget& command,
                                                  const Pricing* pricing) const {
  const BudgetSpec& spec = command.spec;
  if (const BudgetState* existing = FindBudget(spec.id)) {
    BudgetSpec asked = spec;
    if (command.any_filter) TakeFilterOf(existing->spec.cap, &asked.cap);
    TakeGuaranteeOf(existing->spec.cap, &asked.cap);
    // The budget as it was created, for a retry, or as it is now.
    BudgetSpec updated = existing->spec;
    updated.description = existing->description;
    std::string difference = FirstDifference(existing->spec, asked);
    if (FirstDifference(updated, asked).empty()) difference.clear();
    const std::shared_ptr<const UnitReference>& reference = existing->balance.reference();
    if (difference.empty() && command.reference.has_value() &&
        (reference == nullptr || reference->event != *command.reference)) {
      difference = "cap.approximateDp.reference";
    }
    if (difference.empty()) {
      return Decision{BudgetOutcome{.budget_id = spec.id, .created = false}, {}};
    }
    return absl::AlreadyExistsError(absl::StrFormat(
        "budgets/%s exists with another %s; cap, parent, relation and unit never change", spec.id,
        difference));
  }
  if (spec.parent_id.empty()) {
    if (!root_id_.empty()) return absl::InternalError("a ledger has one root budget");
  } else
    RETURN_IF_ERROR(CheckParent(spec));
  if (std::holds_alternative<TradeOffCurveCap>(spec.cap) && spec.partition_function.has_value()) {
    return absl::InvalidArgumentError(
        "budget.partition: got one, want none beside a trade-off curve, which holds one session");
  }
  ASSIGN_OR_RETURN(accounting::Filter filter, FilterFor(spec.cap, "budget.cap"));
  Decision decision{BudgetOutcome{.budget_id = spec.id, .created = true, .spec = spec},
                    {BudgetCreated{.spec = spec, .filter = CellFilter::From(filter)}}};
  const auto* units = std::get_if<UnitsCap>(&spec.cap);
  if (units == nullptr && !command.reference.has_value()) return decision;
  const accounting::MechanismEvent& event =
      units != nullptr ? *units->reference : *command.reference;
  const Gate gate{.budget_id = spec.id,
                  .session_id = "",
                  .balance = Balance(CellFilter::From(filter)),
                  .cap = &spec.cap};
  if (!gate.balance.CanFixReference()) {
    return absl::InvalidArgumentError(
        "budget.cap.approximateDp.reference: got an event, want none: only the filters RESIDUE and "
        "PORTFOLIO count units of one");
  }
  ASSIGN_OR_RETURN(
      const std::shared_ptr<const UnitReference> reference,
      ReferenceFor(gate, spec.relation, event, PathOfUnits(spec.cap, "budget.cap") + ".reference",
                   nullptr, pricing));
  if (reference == nullptr) return WantReference(gate, spec.relation, event, nullptr);
  BudgetSpec& created = std::get<BudgetCreated>(decision.entries.front()).spec;
  SetGuarantee(*reference, &created.cap);
  std::get<BudgetOutcome>(decision.outcome).spec = created;
  decision.entries.push_back(EntryOf(*reference, spec.id, 0));
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const UpdateBudget& command) const {
  const BudgetState* budget = FindBudget(command.budget_id);
  if (budget == nullptr) return NoSuchBudget(command.budget_id);
  BudgetDescription description = budget->description;
  if (command.display_name) description.display_name = *command.display_name;
  if (command.labels) description.labels = *command.labels;
  if (command.alert_thresholds) description.alert_thresholds = *command.alert_thresholds;
  return Decision{BudgetOutcome{.budget_id = command.budget_id, .created = false},
                  {BudgetUpdated{.budget_id = command.budget_id, .description = description}}};
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const ChangeBudgetPhase& command) const {
  const BudgetState* budget = FindBudget(command.budget_id);
  if (budget == nullptr) return NoSuchBudget(command.budget_id);
  Decision decision{BudgetOutcome{.budget_id = command.budget_id, .created = false}, {}};
  if (budget->phase == command.phase) return decision;
  if (HasEnded(*budget)) return Ended(*budget);
  decision.entries.push_back(BudgetPhaseChanged{
      .budget_id = command.budget_id, .phase = command.phase, .reason = command.reason});
  return decision;
}

absl::StatusOr<std::shared_ptr<const UnitReference>> Ledger::CarryUnits(
    const BudgetState& budget, const Pricing* pricing, BudgetSpec* successor, CellFilter* cells,
    std::vector<Cost>* carried, PricesWanted* wanted) const {
  const size_t units = *UnitsCellOf(*cells);
  const auto carry = [&](Cost of_units, Cost of_reserve) {
    (*carried)[units] = of_units;
    (*carried)[units + 1] = of_reserve;
  };
  const std::optional<size_t> old_units = UnitsCellOf(budget.balance.filter());
  const std::shared_ptr<const UnitReference>& reference = budget.balance.reference();
  const bool was_charged = WasCharged(budget);
  const auto* stated = std::get_if<UnitsCap>(&successor->cap);
  // If nothing was charged on this chain, another chain may begin.
  const std::shared_ptr<const UnitReference> chain = was_charged ? reference : nullptr;
  if (stated != nullptr && chain != nullptr && *stated->reference != chain->event) {
    return absl::FailedPreconditionError(
        absl::StrFormat("cap.units.reference: got %s, want %s, of which budgets/%s counts units",
                        accounting::Describe(*stated->reference),
                        accounting::Describe(reference->event), budget.spec.id));
  }
  if (reference == nullptr && (stated == nullptr || was_charged)) {
    if (was_charged && (stated != nullptr || !old_units.has_value())) {
      return NoPriceAfterwards(stated != nullptr ? "cap" : "cap.approximateDp.filter", budget);
    }
    const Cost cost = was_charged ? Cost::Infinite() : Cost();  // infinite: stays unusable
    carry(cost, cost);
    return nullptr;
  }
  const Gate gate{.budget_id = successor->id,
                  .session_id = "",
                  .balance = Balance(*cells),
                  .cap = &successor->cap};
  const accounting::MechanismEvent& event =
      stated != nullptr ? *stated->reference : reference->event;
  ASSIGN_OR_RETURN(const std::shared_ptr<const UnitReference> next,
                   ReferenceFor(gate, successor->relation, event,
                                PathOfUnits(successor->cap, "cap"), chain, pricing));
  if (next == nullptr) {
    FindReference(gate, successor->relation, event, /*suggested=*/false, chain, nullptr, wanted);
    return next;
  }
  SetGuarantee(*next, &successor->cap);
  cells->cells[units].cap = CostOfUnits(next->reference.units);
  cells->cells[units + 1].cap = Cost::RoundDown(next->reference.reserve);
  carry(Cost(), Cost());
  if (chain == nullptr) return next;
  const std::vector<Cost>& spent = budget.balance.spent();
  carry(spent[*old_units], spent[*old_units + 1]);
  // With fewer units, every charge is at a lower level than the one at which its price was proved.
  if (next->reference.units < chain->reference.units && !(*carried)[units].is_infinite() &&
      !PricesHoldAtEveryLevel(budget)) {
    if (cells->rule != accounting::FilterRule::kAnyCell) {
      return FewerUnits(*next, *chain, budget.spec.id);
    }
    carry(Cost::Infinite(), Cost::Infinite());  // other cells stay usable
  }
  return next;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const SupersedeBudget& command,
                                                  const Pricing* pricing) const {
  const BudgetState* budget = FindBudget(command.budget_id);
  if (budget == nullptr) return NoSuchBudget(command.budget_id);
  ASSIGN_OR_RETURN(BudgetSpec successor, SuccessorOf(command, *budget));
  if (const BudgetState* existing = FindBudget(command.successor_id)) {
    successor.description = existing->spec.description;
    TakeGuaranteeOf(existing->spec.cap, &successor.cap);
    if (existing->supersedes == command.budget_id &&
        FirstDifference(existing->spec, successor).empty()) {
      return Decision{BudgetOutcome{.budget_id = command.successor_id, .created = false}, {}};
    }
    return absl::AlreadyExistsError(
        absl::StrFormat("budgets/%s exists already and is another budget", command.successor_id));
  }
  if (HasEnded(*budget)) return Ended(*budget);
  if (!successor.parent_id.empty()) {
    RETURN_IF_ERROR(CheckParent(successor));
  }
  RETURN_IF_ERROR(CheckCapOfSuccessor(command.cap));
  ASSIGN_OR_RETURN(accounting::Filter filter, FilterFor(successor.cap, "cap"));
  CellFilter cells = CellFilter::From(filter);
  PricesWanted wanted;
  std::vector<Cost> carried =
      SpentIn(*budget, successor.cap, cells, /*is_crossed=*/false, pricing, &wanted);
  if (!wanted.empty()) return Decision{std::move(wanted), {}};
  std::shared_ptr<const UnitReference> reference;
  if (UnitsCellOf(cells).has_value()) {
    ASSIGN_OR_RETURN(reference,
                     CarryUnits(*budget, pricing, &successor, &cells, &carried, &wanted));
    if (!wanted.empty()) return Decision{std::move(wanted), {}};
  }
  if (!Balance(cells).Fits(carried)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "cap: what budgets/%s has spent already does not fit under %s, or has no finite cost in "
        "its currency",
        command.budget_id, Describe(successor.cap)));
  }
  Decision decision{
      BudgetOutcome{.budget_id = command.successor_id, .created = true, .spec = successor},
      {BudgetSuperseded{.budget_id = command.budget_id,
                        .reason = command.reason,
                        .successor = std::move(successor),
                        .filter = std::move(cells),
                        .carried = std::move(carried)}}};
  if (reference != nullptr) {
    decision.entries.push_back(EntryOf(*reference, command.successor_id, 0));
  }
  return decision;
}

// Looks at charges, not at the spent amount: a cap without a guarantee counts nothing.
bool Ledger::WasCharged(const BudgetState& budget) const {
  if (!budget.supersedes.empty() && WasCharged(*FindBudget(budget.supersedes))) return true;
  for (const SessionState* session : SessionsOf(budget.spec.id, "", INT64_MAX)) {
    if (session->plan_charge.has_value()) return true;
    for (const SessionEvent& event : session->events) {
      const accounting::MechanismEvent& what = *event.event;
      const bool is_free =
          accounting::ReleasesNothing(what) && !accounting::ContainsNonPrivate(what);
      if (event.accepted_count > 0 && !is_free) return true;
    }
  }
  return std::any_of(budget.child_ids.begin(), budget.child_ids.end(),
                     [this](const std::string& id) { return WasCharged(*FindBudget(id)); });
}

bool Ledger::PricesHoldAtEveryLevel(const BudgetState& budget) const {
  return ArePaidAtEveryLevel(budget, budget.spec.id);
}

bool Ledger::ArePaidAtEveryLevel(const BudgetState& below, const std::string& gate_id) const {
  if (!below.supersedes.empty()) {
    // If `below` is the gate itself, its predecessor gates the predecessor's own sessions.
    const std::string& its_gate = below.spec.id == gate_id ? below.supersedes : gate_id;
    if (!ArePaidAtEveryLevel(*FindBudget(below.supersedes), its_gate)) return false;
  }
  for (const SessionState* session : SessionsOf(below.spec.id, "", INT64_MAX)) {
    const std::vector<Gate> gates = GatesOf(*session);
    const auto gate = std::find_if(gates.begin(), gates.end(), [&](const Gate& at) {
      return at.session_id.empty() && at.budget_id == gate_id;
    });
    if (gate == gates.end()) return false;
    // A plan is a block, with one proof for all of it.
    if (session->plan_charge.has_value()) return false;
    const auto place = static_cast<size_t>(gate - gates.begin());
    for (const SessionEvent& event : session->events) {
      if (event.accepted_count == 0) continue;
      const std::vector<ProvedUnitPrice>& prices = event.unit_prices[place].all();
      if (prices.empty() ||
          std::any_of(prices.begin(), prices.end(),
                      [](const ProvedUnitPrice& price) { return price.level > 1; })) {
        return false;
      }
    }
  }
  return std::all_of(below.child_ids.begin(), below.child_ids.end(), [&](const std::string& id) {
    const BudgetState& child = *FindBudget(id);
    // The successor of a superseded child includes it.
    return !child.superseded_by.empty() || ArePaidAtEveryLevel(child, gate_id);
  });
}

std::vector<Cost> Ledger::SpentIn(const BudgetState& budget, const Cap& cap,
                                  const CellFilter& filter, bool is_crossed, const Pricing* pricing,
                                  PricesWanted* wanted) const {
  std::vector<Cost> spent(filter.cells.size());
  if (!budget.supersedes.empty()) {
    AddInPlace(SpentIn(*FindBudget(budget.supersedes), cap, filter, is_crossed, pricing, wanted),
               &spent);
  }
  for (const SessionState* session : SessionsOf(budget.spec.id, "", INT64_MAX)) {
    if (session->plan_charge.has_value()) {
      PlanComposition plan(session->spec);
      AddInPlace(PlanCosts(session->spec, plan, session->plan_charge->epsilon, cap, filter,
                           is_crossed, pricing, wanted),
                 &spent);
      continue;
    }
    for (const SessionEvent& event : session->events) {
      if (event.accepted_count == 0) continue;
      const std::vector<Cost>* one =
          FindCosts(*event.event, EncodeEvent(*event.event), session->spec.relation, filter,
                    is_crossed, pricing, wanted);
      if (one != nullptr) AddInPlace(Times(*one, event.accepted_count), &spent);
    }
  }
  // The children of a partition count in full: this may overstate the spend, but never understates
  // it.
  for (const std::string& child_id : budget.child_ids) {
    const BudgetState& child = *FindBudget(child_id);
    // The successor of a superseded child includes it.
    if (child.superseded_by.empty()) {
      const bool child_is_crossed = is_crossed || (budget.spec.partition_function.has_value() &&
                                                   TwoPartsChange(budget.spec.relation));
      AddInPlace(SpentIn(child, cap, filter, child_is_crossed, pricing, wanted), &spent);
    }
  }
  return spent;
}

}  // namespace epsledger::core
