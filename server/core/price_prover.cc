#include "server/core/price_prover.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/history.h"
#include "accounting/event/validation.h"
#include "server/core/cap.h"
#include "server/core/codec.h"
#include "server/core/plan.h"
#include "server/core/pricing.h"
#include "server/core/units.h"

namespace epsledger::core {
namespace {

// Only a few references are in use at a time.
constexpr size_t kMostPricers = 8;

bool IsOneUnitAUse(const std::vector<accounting::CountedEvent>& plan,
                   const UnitReference& reference) {
  return std::all_of(plan.begin(), plan.end(), [&](const accounting::CountedEvent& planned) {
    return accounting::CostsOneUnit(*planned.event, reference.event, reference.relation);
  });
}

// Proves every point of the curve that a cap in units promises, for the event and number in the
// cap.
bool IsGuaranteed(const UnitsCap& cap, const UnitReference& reference) {
  return *cap.reference == reference.event && cap.count == reference.reference.units &&
         !cap.guarantee.empty() &&
         std::all_of(cap.guarantee.begin(), cap.guarantee.end(), [&](const auto& point) {
           return accounting::FitsCap(reference.reference, point.epsilon, point.delta);
         });
}

int64_t UsesOf(const std::vector<accounting::CountedEvent>& plan) {
  int64_t uses = 0;
  for (const accounting::CountedEvent& planned : plan) {
    uses = std::min(uses, accounting::kMaxEventCount) + planned.count;
  }
  return uses;
}

// A successor counts the units of what it takes over, if it takes anything over.
std::optional<std::string> CheckTakenOver(const Ledger& ledger, const ReferenceFixed& body) {
  const BudgetState* budget = ledger.FindBudget(body.budget_id);
  if (budget == nullptr || budget->supersedes.empty()) return std::nullopt;
  const BudgetState& before = *ledger.FindBudget(budget->supersedes);
  const std::optional<size_t> cell = UnitsCellOf(budget->balance.filter());
  const Cost carried = cell.has_value() ? budget->balance.spent()[*cell] : Cost();
  if (before.balance.reference() == nullptr || carried.is_zero() || carried.is_infinite()) {
    return std::nullopt;
  }
  const accounting::Reference& old = before.balance.reference()->reference;
  if (body.units < old.units && !ledger.PricesHoldAtEveryLevel(before)) {
    return absl::StrCat("budgets/", body.budget_id, " has ", body.units,
                        " units, and what it takes over was priced where there were more");
  }
  // Rounding can only give a unit more slack.
  const bool is_same_chain = body.interval == old.pair.interval && body.first == old.pair.first &&
                             body.masses == old.pair.masses &&
                             body.slack * static_cast<double>(old.units) >=
                                 old.slack * static_cast<double>(body.units) * (1 - 1e-12);
  if (is_same_chain) return std::nullopt;
  return absl::StrCat("budgets/", body.budget_id,
                      " counts other units than those that it takes over");
}

}  // namespace

std::optional<std::string> PriceProver::Check(const Ledger& ledger, const Entry& entry) {
  if (const auto* body = std::get_if<ReferenceFixed>(&entry.body)) return Check(ledger, *body);
  if (const auto* body = std::get_if<UnitsPriced>(&entry.body)) return Check(ledger, *body);
  if (const auto* body = std::get_if<SessionCreated>(&entry.body)) return Check(ledger, *body);
  if (const auto* body = std::get_if<BudgetSuperseded>(&entry.body)) return Check(ledger, *body);
  if (const auto* body = std::get_if<EventPriced>(&entry.body)) return Check(ledger, *body);
  if (const auto* body = std::get_if<BudgetCreated>(&entry.body)) {
    return CheckCells(body->spec, body->filter);
  }
  return std::nullopt;
}

std::optional<std::string> PriceProver::CheckCells(const BudgetSpec& spec,
                                                   const CellFilter& filter) {
  const auto* approximate = std::get_if<ApproximateDpCap>(&spec.cap);
  const bool counts_units = std::holds_alternative<UnitsCap>(spec.cap) ||
                            (approximate != nullptr &&
                             (approximate->filter == accounting::ApproximateDpFilter::kResidue ||
                              approximate->filter == accounting::ApproximateDpFilter::kPortfolio));
  if (counts_units == UnitsCellOf(filter).has_value()) return std::nullopt;
  return absl::StrCat("budgets/", spec.id, " is held to another filter than its cap says");
}

std::optional<std::string> PriceProver::Check(const Ledger& ledger, const EventPriced& body) {
  const SessionState* session = ledger.FindSession(body.session_number);
  if (session == nullptr) return std::nullopt;  // Apply reports it
  const std::vector<Gate> gates = ledger.GatesOf(*session);
  for (size_t i = 0; i < gates.size() && i < body.unit_costs.size(); ++i) {
    const std::optional<size_t> cell = UnitsCellOf(gates[i].balance.filter());
    if (!cell.has_value()) continue;
    // The unit cost must not be below its bound: only a price may lower it.
    const std::vector<Cost>& costs = body.unit_costs[i];
    const Cost least = Cost::RoundUp(
        accounting::CostUpperBound(*body.event, session->spec.relation,
                                   {.quantity = gates[i].balance.filter().cells[*cell].quantity}));
    if (*cell >= costs.size() || costs[*cell] < least) {
      return absl::StrCat(accounting::Describe(*body.event),
                          " is charged to a cap in units without a price");
    }
  }
  return std::nullopt;
}

std::optional<std::string> PriceProver::Check(const Ledger& ledger, const BudgetSuperseded& body) {
  if (auto problem = CheckCells(body.successor, body.filter)) return problem;
  const BudgetState* before = ledger.FindBudget(body.budget_id);
  if (before != nullptr && (before->spec.relation != body.successor.relation ||
                            before->spec.privacy_unit != body.successor.privacy_unit)) {
    return absl::StrCat("budgets/", body.successor.id,
                        " counts other neighbors or units than the budget before it");
  }
  const std::optional<size_t> cell = UnitsCellOf(body.filter);
  if (before == nullptr || !cell.has_value() || *cell + 1 >= body.carried.size() ||
      body.carried[*cell].is_infinite()) {
    return std::nullopt;
  }
  const std::string name = absl::StrCat("budgets/", body.successor.id);
  if (before->balance.reference() == nullptr) {
    if (!ledger.WasCharged(*before)) return std::nullopt;
    return name + " counts units, and what it takes over was charged without a price in units";
  }
  const std::optional<size_t> old_cell = UnitsCellOf(before->balance.filter());
  for (size_t i = 0; i < 2; ++i) {
    if (body.carried[*cell + i] < before->balance.spent()[*old_cell + i]) {
      return name + " takes over less than was spent";
    }
  }
  return std::nullopt;
}

std::optional<std::string> PriceProver::Check(const Ledger& ledger, const ReferenceFixed& body) {
  const Cap* cap = nullptr;
  accounting::NeighboringRelation relation{};
  if (const BudgetState* budget = ledger.FindBudget(body.budget_id)) {
    cap = &budget->spec.cap;
    relation = budget->spec.relation;
  } else if (const SessionState* session = ledger.FindSession(body.session_number);
             session != nullptr && session->spec.own_cap.has_value()) {
    cap = &*session->spec.own_cap;
    relation = session->spec.relation;
  }
  if (std::optional<std::string> problem = CheckTakenOver(ledger, body)) return problem;
  const auto* approximate = cap == nullptr ? nullptr : std::get_if<ApproximateDpCap>(cap);
  const auto* units = cap == nullptr ? nullptr : std::get_if<UnitsCap>(cap);
  if (approximate == nullptr && units == nullptr) {
    return "a reference is of a cap that counts no units";
  }
  const std::shared_ptr<const UnitReference> reference = ReferenceOf(body, relation);
  const double delta = units != nullptr
                           ? units->delta
                           : accounting::DeltaOfUnits(approximate->filter, approximate->delta);
  const bool fits = units != nullptr
                        ? IsGuaranteed(*units, *reference)
                        : accounting::FitsCap(reference->reference, approximate->epsilon, delta);
  if (!fits) {
    return absl::StrCat(body.units, " units of ", accounting::Describe(reference->event),
                        " are not proved to fit the cap");
  }
  ++proved_;
  // One use of the event is one unit because the pair is above the event. A successor has the pair
  // of its predecessor.
  const std::string pair = EncodeContent(static_cast<int64_t>(relation), 0,
                                         ReferenceFixed{.event = body.event,
                                                        .interval = body.interval,
                                                        .first = body.first,
                                                        .masses = body.masses});
  if (pairs_.count(pair) > 0 ||
      accounting::IsPairOf(reference->reference, reference->event, relation, delta)) {
    ++proved_;
  } else if (std::optional<std::string> problem =
                 Prove(reference, reference->event, 1, 1, {.units = 1, .reserve = 0})) {
    return problem;
  }
  pairs_.insert(pair);
  return std::nullopt;
}

std::optional<std::string> PriceProver::Check(const Ledger& ledger, const UnitsPriced& body) {
  const SessionState* session = ledger.FindSession(body.session_number);
  if (session == nullptr || body.event_index < 0 ||
      body.event_index >= static_cast<int64_t>(session->events.size())) {
    return "a price names a session or event that does not exist";
  }
  const std::vector<Gate> gates = ledger.GatesOf(*session);
  if (body.gate < 0 || body.gate >= static_cast<int64_t>(gates.size()) ||
      gates[body.gate].balance.reference() == nullptr) {
    return "a price in units is of a cap that counts none";
  }
  return CheckPrice(gates[body.gate].balance.reference(), *session->events[body.event_index].event,
                    body.count, body.level, {.units = body.units, .reserve = body.reserve});
}

std::optional<std::string> PriceProver::Check(const Ledger& ledger, const SessionCreated& body) {
  if (!body.plan_charge.has_value()) return std::nullopt;
  const BudgetState* budget = ledger.FindBudget(body.spec.budget_id);
  if (budget == nullptr) return std::nullopt;  // Apply reports it
  const std::vector<Gate> gates = ledger.GatesOf(*budget);
  for (size_t i = 0; i < gates.size() && i < body.plan_charge->costs.size(); ++i) {
    const Gate& gate = gates[i];
    const std::shared_ptr<const UnitReference>& reference = gate.balance.reference();
    const std::vector<Cost>& costs = body.plan_charge->costs[i];
    const std::optional<size_t> place = UnitsCellOf(gate.balance.filter());
    if (reference == nullptr || !place.has_value() || *place + 1 >= costs.size() ||
        costs[*place].is_infinite()) {
      continue;
    }
    if (accounting::ReleasesNothing(body.spec.plan)) continue;  // costs 0
    const int64_t left = gate.UnitsLeft();
    if (left < 1) return "a plan is paid in units of which none is left";
    const accounting::UnitPrice paid{.units = WholeUnits(costs[*place]),
                                     .reserve = costs[*place + 1].ToDoubleDown()};
    std::optional<std::string> problem;
    if (IsOneUnitAUse(body.spec.plan, *reference) && paid.units == UsesOf(body.spec.plan)) {
      for (const accounting::CountedEvent& planned : body.spec.plan) {
        problem = CheckPrice(reference, *planned.event, 1, 1, {.units = 1, .reserve = 0});
        if (problem.has_value()) return problem;
      }
      continue;
    }
    const PlanBlock block = BlockOf(body.spec.plan);
    problem = CheckPrice(reference, block.event, block.count,
                         accounting::LevelAtMost(reference->reference.units, left), paid);
    if (problem.has_value()) return problem;
  }
  return std::nullopt;
}

std::optional<std::string> PriceProver::CheckPrice(
    const std::shared_ptr<const UnitReference>& reference, const accounting::MechanismEvent& event,
    int64_t count, int64_t level, const accounting::UnitPrice& price) {
  // Covers the reference itself, because its pair was proved to be above it, and events that cost
  // no more (CostsOneUnit).
  if (price.reserve >= 0 && price.units >= count &&
      accounting::CostsOneUnit(event, reference->event, reference->relation)) {
    ++proved_;
    return std::nullopt;
  }
  return Prove(reference, event, count, level, price);
}

std::optional<std::string> PriceProver::Prove(const std::shared_ptr<const UnitReference>& reference,
                                              const accounting::MechanismEvent& event,
                                              int64_t count, int64_t level,
                                              const accounting::UnitPrice& price) {
  auto proof = proofs_.find(reference.get());
  if (proof == proofs_.end()) {
    if (proofs_.size() >= kMostPricers) proofs_.clear();
    proof = proofs_
                .emplace(reference.get(),
                         Proof{reference, accounting::ResiduePricer(reference->reference)})
                .first;
  }
  Proof& by = proof->second;
  absl::Status status;
  if (std::string encoding = EncodeEvent(event);
      by.prepared == nullptr || by.encoding != encoding) {
    auto prepared = by.pricer.Prepare(event, reference->relation);
    status = prepared.status();
    by.prepared = prepared.ok() ? *std::move(prepared) : nullptr;
    by.encoding = std::move(encoding);
  }
  if (status.ok() && by.pricer.IsProved(*by.prepared, count, level, price)) {
    ++proved_;
    return std::nullopt;
  }
  return absl::StrCat("the price of ", count, " x ", accounting::Describe(event), ", ", price.units,
                      " units while ", level, " are left, is not proved", status.ok() ? "" : ": ",
                      status.message());
}

}  // namespace epsledger::core
