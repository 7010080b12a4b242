#include "server/core/pricing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_format.h"
#include "accounting/event/added_noise.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "server/core/codec.h"
#include "server/core/limits.h"
#include "server/core/sha256.h"

namespace epsledger::core {
namespace {

using accounting::Gaussian;
using accounting::MechanismEvent;
using accounting::PoissonSampled;

absl::StatusOr<std::vector<Cost>> CostsIn(const std::vector<accounting::FilterCell>& cells,
                                          const MechanismEvent& event,
                                          accounting::NeighboringRelation relation,
                                          absl::FunctionRef<bool()> abandoned) {
  ASSIGN_OR_RETURN(const std::vector<double> bounds,
                   accounting::CostUpperBounds(event, relation, cells, abandoned));
  std::vector<Cost> costs;
  costs.reserve(bounds.size());
  for (const double bound : bounds) costs.push_back(Cost::RoundUp(bound));
  return costs;
}

// The reference event if the first charge says little about later charges: a common setting of
// DP-SGD.
MechanismEvent CatalogueEvent() { return PoissonSampled{0.01, MechanismEvent(Gaussian{1.0})}; }

absl::StatusOr<accounting::Reference> Compute(const ReferenceWanted& wanted,
                                              const MechanismEvent& event,
                                              absl::FunctionRef<bool()> abandoned) {
  if (wanted.units > 0) {
    return wanted.carried != nullptr
               ? accounting::WithUnits(wanted.carried->reference, wanted.units, wanted.delta)
               : accounting::MakeReferenceOfUnits(event, wanted.relation, wanted.units,
                                                  wanted.delta, abandoned);
  }
  if (wanted.carried != nullptr) {
    return accounting::WithCap(wanted.carried->reference, wanted.epsilon, wanted.delta, abandoned);
  }
  return accounting::MakeReference(event, wanted.relation, wanted.epsilon, wanted.delta, abandoned);
}

// Returns the number of points of the curve: fewer if each takes seconds.
int64_t GuaranteePointsOf(const accounting::Reference& reference, double delta) {
  const size_t transform = accounting::TransformOfUnits(reference, delta);
  if (transform >= size_t{1} << 18) return kMaxGuaranteePoints / 3;
  return transform >= size_t{1} << 17 ? kMaxGuaranteePoints / 2 : kMaxGuaranteePoints;
}

// Returns the curve at delta and at larger deltas, each a fixed power of ten times the one before;
// at most kMaxGuaranteePoints points.
absl::StatusOr<std::vector<TradeOffCurveCap::Point>> CurveOf(const accounting::Reference& reference,
                                                             double delta,
                                                             absl::FunctionRef<bool()> abandoned) {
  const double step = std::pow(
      10, std::ceil(-std::log10(delta) / static_cast<double>(GuaranteePointsOf(reference, delta))));
  // Round to fifteen digits, so that ten times 1e-6 is 1e-5.
  const auto next = [step](double at) {
    return std::strtod(absl::StrFormat("%.15g", step * at).c_str(), nullptr);
  };
  std::vector<TradeOffCurveCap::Point> points;  // by ascending delta
  for (double at = delta; at < 1; at = next(at)) {
    if (abandoned()) return absl::CancelledError("nobody waits for the guarantee any more");
    constexpr double kSmallestShown = 1e-9;
    const TradeOffCurveCap::Point point{
        std::max(kSmallestShown, accounting::EpsilonOfUnits(reference, at)), at};
    if (std::isinf(point.epsilon)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%d of it have no proved epsilon up to %g at delta %g", reference.units,
                          accounting::kLargestEpsilonOfUnits, at));
    }
    // Skip a point that is not better than the point at a smaller delta.
    if (points.empty() || point.epsilon < points.back().epsilon) points.push_back(point);
  }
  std::reverse(points.begin(), points.end());
  return points;
}

}  // namespace

const std::vector<Cost>* FindCosts(const MechanismEvent& event, std::string_view encoding,
                                   accounting::NeighboringRelation relation,
                                   const CellFilter& filter, bool is_crossed,
                                   const Pricing* pricing, PricesWanted* wanted) {
  CostKey key{.event = Sha256({encoding}), .relation = relation, .is_crossed = is_crossed};
  key.cells.reserve(filter.cells.size());
  for (const Cell& cell : filter.cells) key.cells.emplace_back(cell.quantity, cell.order);
  if (pricing != nullptr) {
    if (const auto found = pricing->costs.find(key); found != pricing->costs.end()) {
      return &found->second;
    }
  }
  wanted->costs.try_emplace(std::move(key), event);
  return nullptr;
}

std::shared_ptr<const UnitReference> FindReference(
    const Gate& gate, accounting::NeighboringRelation relation, const MechanismEvent& event,
    bool suggested, const std::shared_ptr<const UnitReference>& carried, const Pricing* pricing,
    PricesWanted* wanted) {
  const Pricing::FilterKey key{gate.budget_id, gate.session_id, carried.get()};
  if (pricing != nullptr) {
    if (const auto found = pricing->references.find(key); found != pricing->references.end()) {
      return found->second.ok() ? *found->second : nullptr;
    }
  }
  ReferenceWanted reference{.budget_id = gate.budget_id,
                            .session_id = gate.session_id,
                            .relation = relation,
                            .event = event,
                            .suggested = suggested,
                            .carried = carried};
  if (const auto* units = std::get_if<UnitsCap>(gate.cap)) {
    reference.delta = units->delta;
    reference.units = units->count;
  } else {
    const auto& cap = std::get<ApproximateDpCap>(*gate.cap);
    reference.epsilon = cap.epsilon;
    reference.delta = accounting::DeltaOfUnits(cap.filter, cap.delta);
  }
  wanted->references.push_back(std::move(reference));
  return nullptr;
}

ReferenceFixed EntryOf(const UnitReference& reference, const std::string& budget_id,
                       int64_t session_number) {
  const accounting::Reference& r = reference.reference;
  return ReferenceFixed{.budget_id = budget_id,
                        .session_number = session_number,
                        .event = reference.event,
                        .interval = r.pair.interval,
                        .first = r.pair.first,
                        .masses = r.pair.masses,
                        .units = r.units,
                        .slack = r.slack,
                        .reserve = r.reserve};
}

std::shared_ptr<const UnitReference> ReferenceOf(const ReferenceFixed& entry,
                                                 accounting::NeighboringRelation relation) {
  return std::make_shared<const UnitReference>(UnitReference{
      .event = *entry.event,
      .relation = relation,
      .reference = {
          .pair = {.interval = entry.interval, .first = entry.first, .masses = entry.masses},
          .units = entry.units,
          .slack = entry.slack,
          .reserve = entry.reserve}});
}

MechanismEvent ReferenceSuggestedBy(const MechanismEvent& event) {
  const MechanismEvent* inner = &event;
  std::vector<accounting::Use> uses;
  if (event.As<accounting::Composed>() != nullptr ||
      event.As<accounting::SelfComposed>() != nullptr) {
    uses = accounting::Flatten(event);
    if (uses.size() == 1) inner = uses[0].event;
  }
  return inner->As<PoissonSampled>() != nullptr ? *inner : CatalogueEvent();
}

absl::StatusOr<std::vector<Cost>> ComputeCosts(const CostKey& key, const MechanismEvent& event,
                                               absl::FunctionRef<bool()> abandoned) {
  std::vector<accounting::FilterCell> cells;
  cells.reserve(key.cells.size());
  for (const auto& [quantity, order] : key.cells) {
    cells.push_back({.quantity = quantity, .order = order});
  }
  absl::StatusOr<std::vector<Cost>> costs = CostsIn(cells, event, key.relation, abandoned);
  if (!costs.ok() || !key.is_crossed) return costs;
  const bool is_known = accounting::IsMadeOfAddedNoise(event);
  ASSIGN_OR_RETURN(
      const std::vector<Cost> crossing,
      CostsIn(cells, event, accounting::NeighboringRelation::kAddOrRemoveOne, abandoned));
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].quantity == accounting::CellQuantity::kNoGuarantee) continue;
    (*costs)[i] = is_known ? std::max((*costs)[i], crossing[i]) : Cost::Infinite();
  }
  return costs;
}

absl::StatusOr<std::shared_ptr<const UnitReference>> ComputeReference(
    const ReferenceWanted& wanted, absl::FunctionRef<bool()> abandoned) {
  std::vector<MechanismEvent> candidates = {wanted.event};
  if (wanted.suggested) candidates = {ReferenceSuggestedBy(wanted.event), CatalogueEvent()};
  absl::Status first_error;
  for (const MechanismEvent& event : candidates) {
    absl::StatusOr<accounting::Reference> reference = Compute(wanted, event, abandoned);
    absl::StatusOr<std::vector<TradeOffCurveCap::Point>> guarantee =
        std::vector<TradeOffCurveCap::Point>();
    if (reference.ok() && wanted.units > 0) {
      guarantee = CurveOf(*reference, wanted.delta, abandoned);
    }
    if (reference.ok() && guarantee.ok()) {
      return std::make_shared<const UnitReference>(
          UnitReference{.event = wanted.carried != nullptr ? wanted.carried->event : event,
                        .relation = wanted.relation,
                        .reference = *std::move(reference),
                        .guarantee = *std::move(guarantee)});
    }
    const absl::Status& error = reference.ok() ? guarantee.status() : reference.status();
    if (absl::IsCancelled(error)) return error;
    if (first_error.ok()) first_error = error;
  }
  return first_error;
}

absl::StatusOr<ProvedUnitPrice> AnswerTo(const UnitPriceWanted& wanted,
                                         const absl::StatusOr<accounting::UnitPrice>& computed) {
  if (!computed.ok()) return computed.status();
  return ProvedUnitPrice{.count = wanted.count,
                         .level = wanted.level,
                         .units = computed->units,
                         .reserve = computed->reserve};
}

}  // namespace epsledger::core
