// Copies what a ledger says about a resource.

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/describe.h"
#include "server/statement/statement.h"

namespace epsledger::statement {
namespace {

using accounting::CountedEvent;
using accounting::MechanismEvent;

std::string BudgetName(const std::string& id) { return "budgets/" + id; }

const char* Name(accounting::CellQuantity quantity) {
  switch (quantity) {
    case accounting::CellQuantity::kEpsilon:
      return "EPSILON";
    case accounting::CellQuantity::kDelta:
      return "DELTA";
    case accounting::CellQuantity::kEpsilonSquared:
      return "EPSILON_SQUARED";
    case accounting::CellQuantity::kRho:
      return "RHO";
    case accounting::CellQuantity::kMuSquared:
      return "MU_SQUARED";
    case accounting::CellQuantity::kRenyi:
      return "RENYI_DIVERGENCE";
    case accounting::CellQuantity::kPlanCount:
      return "PLAN_COUNT";
    case accounting::CellQuantity::kNoGuarantee:
      return "NO_GUARANTEE";
    case accounting::CellQuantity::kUnits:
      return "UNITS";
    case accounting::CellQuantity::kReserve:
      return "RESERVE";
  }
  return "UNKNOWN_QUANTITY";
}

CapAccount AccountOf(std::string name, const core::Cap& cap, const core::Balance& balance) {
  const core::CellFilter& filter = balance.filter();
  CapAccount account{.name = std::move(name),
                     .cap = core::Describe(cap),
                     .theorem = filter.theorem,
                     .all_cells_must_fit = filter.rule != accounting::FilterRule::kAnyCell};
  for (size_t i = 0; i < filter.cells.size(); ++i) {
    account.cells.push_back({.quantity = Name(filter.cells[i].quantity),
                             .order = filter.cells[i].order,
                             .cap = filter.cells[i].cap.ToDoubleDown(),
                             .spent = balance.spent()[i].ToDoubleUp()});
  }
  return account;
}

CapAccount AccountOf(const core::BudgetState& budget) {
  CapAccount account = AccountOf(BudgetName(budget.spec.id), budget.spec.cap, budget.balance);
  account.phase = core::Name(budget.phase);
  if (!budget.superseded_by.empty()) account.superseded_by = BudgetName(budget.superseded_by);
  return account;
}

// Everything that passes the filter of a cap, as the one mechanism that the filter's theorem names.
struct CapAsEvent {
  double delta;
  MechanismEvent operator()(const core::PureEpsilonCap& cap) const {
    return MechanismEvent(accounting::PureDp{.epsilon = cap.epsilon});
  }
  MechanismEvent operator()(const core::ApproximateDpCap& cap) const {
    return ApproximateDp(cap.epsilon, cap.delta);
  }
  MechanismEvent operator()(const core::ZcdpCap& cap) const {
    return MechanismEvent(accounting::Zcdp{.rho = cap.rho});
  }
  MechanismEvent operator()(const core::GaussianDpCap& cap) const {
    return MechanismEvent(accounting::GaussianDp{.mu = cap.mu});
  }
  MechanismEvent operator()(const core::RenyiCap& cap) const {
    return MechanismEvent(
        accounting::RenyiCurve{.orders = {cap.order}, .divergences = {cap.divergence}});
  }
  MechanismEvent operator()(const core::TradeOffCurveCap& cap) const { return OnCurve(cap); }
  MechanismEvent operator()(const core::UnitsCap& cap) const { return OnCurve(cap); }
  MechanismEvent operator()(const core::NoGuaranteeCap&) const {
    return MechanismEvent(accounting::NonPrivate{.reason = "the budget promises nothing"});
  }

 private:
  MechanismEvent OnCurve(const core::Cap& cap) const {
    const core::TradeOffCurveCap::Point at =
        core::PointOf(cap, delta).value_or(core::CurveOf(cap)->back());
    return ApproximateDp(at.epsilon, at.delta);
  }
  static MechanismEvent ApproximateDp(double epsilon, double at) {
    return MechanismEvent(accounting::ApproximateDp{.epsilon = epsilon, .delta = at});
  }
};

void AddBudgetsFrom(const core::Ledger& ledger, const core::BudgetState* budget, Facts* facts) {
  for (; budget != nullptr; budget = ledger.FindBudget(budget->spec.parent_id)) {
    facts->caps.push_back(AccountOf(*budget));
  }
}

Facts::Scope ScopeOf(const core::Ledger& ledger, const core::BudgetState& budget) {
  const core::BudgetState* child = &budget;
  bool all_parts = true;
  for (const core::BudgetState* parent; (parent = ledger.FindBudget(child->spec.parent_id));
       child = parent) {
    all_parts = all_parts && parent->spec.partition_function.has_value() &&
                parent->spec.relation != accounting::NeighboringRelation::kReplaceOne;
  }
  if (child == &budget) return Facts::Scope::kRoot;
  return all_parts ? Facts::Scope::kPart : Facts::Scope::kBelow;
}

void ReadBudget(const core::Ledger& ledger, const core::BudgetState& budget, double delta,
                Facts* facts) {
  facts->kind = Facts::Kind::kBudget;
  facts->name = BudgetName(budget.spec.id);
  facts->display_name = budget.description.display_name;
  facts->state = core::Name(budget.phase);
  facts->state_reason = budget.phase_reason;
  facts->accepted_charge_count = budget.accepted_charge_count;
  facts->refused_charge_count = budget.refused_charge_count;
  facts->normalizers = budget.normalizers;
  const core::Cap kept_cap = core::KeptCap(budget.spec.cap, budget.balance.filter().rule);
  const MechanismEvent cap = std::visit(CapAsEvent{delta}, kept_cap);
  facts->events = {CountedEvent{cap, 1}};
  if (const auto* kept = cap.As<accounting::ApproximateDp>()) facts->kept_by_filter = *kept;
  if (const auto* pure = cap.As<accounting::PureDp>()) {
    facts->kept_by_filter = accounting::ApproximateDp{.epsilon = pure->epsilon};
  }
  if (const auto* stated = std::get_if<core::ApproximateDpCap>(&budget.spec.cap)) {
    facts->delta_of_cap = stated->delta;
  }
  if (const auto* units = std::get_if<core::UnitsCap>(&budget.spec.cap)) {
    facts->delta_of_cap = units->delta;
  }
  AddBudgetsFrom(ledger, &budget, facts);
}

void ReadSession(const core::Ledger& ledger, const core::SessionState& session,
                 const core::BudgetState& budget, Facts* facts) {
  const core::SessionSpec& spec = session.spec;
  const bool declared = spec.mode == core::SessionMode::kDeclared;
  facts->kind = declared ? Facts::Kind::kDeclaredSession : Facts::Kind::kAdaptiveSession;
  facts->name = absl::StrCat(BudgetName(spec.budget_id), "/sessions/", spec.id);
  facts->display_name = spec.display_name;
  facts->group = spec.group;
  facts->state = session.closed ? "CLOSED" : "ACTIVE";
  facts->state_reason = session.close_reason;
  const std::vector<CountedEvent> history = core::HistoryOf(session);
  facts->events = declared ? spec.plan : history;
  // An unproven session has no epsilon, whatever it was charged and even before its first charge.
  if (core::IsUnproven(spec.claim) && !session.non_private_charged) {
    facts->events.push_back(
        {MechanismEvent(accounting::NonPrivate{.reason = "the claim is not proven"}), 1});
  }
  facts->history = history;
  if (spec.own_cap.has_value() && session.own_balance.has_value()) {
    facts->caps.push_back(AccountOf(facts->name, *spec.own_cap, *session.own_balance));
  }
  AddBudgetsFrom(ledger, &budget, facts);
  facts->accepted_charge_count = session.accepted_charge_count;
  facts->refused_charge_count = session.refused_charge_count;
  facts->attempt_count = session.current_attempt;
  facts->provenance = session.provenance;
  facts->normalizers = session.normalizers;
  facts->claim = spec.claim;
  for (const core::RecordedAudit& recorded : session.audits) {
    facts->audits.push_back(recorded.audit);
  }
}

// Adds what is said about a resource of topics of which nothing is said nearer by. Who recorded it
// is not told of what lies above: the caller may be limited to what lies below.
void AddAnnotations(const std::string& resource, const core::Annotations& said, bool is_above,
                    std::map<core::AnnotationTopic, AnnotationLine>* lines) {
  for (const auto& [topic, recorded] : said.texts) {
    core::Recorded by = recorded.by;
    if (is_above) by.principal.clear();
    lines->try_emplace(
        topic,
        AnnotationLine{.topic = topic, .text = recorded.text, .resource = resource, .by = by});
  }
}

void ReadAnnotations(const core::Ledger& ledger, const core::SessionName& name, Facts* facts) {
  std::map<core::AnnotationTopic, AnnotationLine> lines;
  if (const absl::StatusOr<const core::Annotations*> own = ledger.AnnotationsOf(name); own.ok()) {
    AddAnnotations(facts->name, **own, /*is_above=*/false, &lines);
    facts->sign_offs.assign((*own)->sign_offs.begin(), (*own)->sign_offs.end());
  }
  for (const core::BudgetState* budget = ledger.FindBudget(name.budget_id); budget != nullptr;
       budget = ledger.FindBudget(budget->spec.parent_id)) {
    AddAnnotations(BudgetName(budget->spec.id), budget->annotations, /*is_above=*/true, &lines);
  }
  for (auto& [topic, line] : lines) facts->annotations.push_back(std::move(line));
}

}  // namespace

absl::StatusOr<Facts> ReadFacts(const core::Ledger& ledger, const std::string& budget_id,
                                const std::string& session_id, double delta) {
  const core::BudgetState* budget = ledger.FindBudget(budget_id);
  if (budget == nullptr) {
    return absl::NotFoundError(BudgetName(budget_id) + ": there is no such budget");
  }
  Facts facts{.scope = ScopeOf(ledger, *budget),
              .privacy_unit = budget->spec.privacy_unit,
              .relation = budget->spec.relation};
  if (session_id.empty()) {
    ReadBudget(ledger, *budget, delta, &facts);
  } else {
    const core::SessionState* session = ledger.FindSession({budget_id, session_id});
    if (session == nullptr) {
      return absl::NotFoundError(absl::StrCat(BudgetName(budget_id), "/sessions/", session_id,
                                              ": there is no such session"));
    }
    ReadSession(ledger, *session, *budget, &facts);
  }
  ReadAnnotations(ledger, {budget_id, session_id}, &facts);
  facts.root_budget = BudgetName(ledger.root_id());
  facts.head = ledger.head();
  facts.merkle_root = ledger.merkle().Root();
  return facts;
}

}  // namespace epsledger::statement
