#ifndef EPSLEDGER_SERVER_CORE_PRICING_H_
#define EPSLEDGER_SERVER_CORE_PRICING_H_

// Costs, references and prices in units are computed outside the ledger, before it decides. A
// ledger that lacks one answers PricesWanted in place of an outcome. The caller has them computed
// and submits the command again with a Pricing. Nothing is decided in between. If something is
// still missing then, the ledger asks again; it never guesses.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/filter/filter.h"
#include "server/core/balance.h"
#include "server/core/command.h"
#include "server/core/cost.h"
#include "server/core/entry.h"
#include "server/core/gate.h"
#include "server/core/units.h"

namespace epsledger::core {

// Identifies the cost of one use of an event in each cell of a filter, rounded up. The cost depends
// only on what the cells count, so filters with other caps share it. Where the filter `is_crossed`
// (Gate::IsCrossed), replacing a record may remove it from a part, or add it to a part: the cost is
// the largest of the three, and infinite for an event that is known under replacing alone.
struct CostKey {
  Hash event{};  // SHA-256 of its canonical encoding
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  bool is_crossed = false;
  std::vector<std::pair<accounting::CellQuantity, double>> cells;  // quantity and Renyi order

  friend bool operator<(const CostKey& a, const CostKey& b) {
    return std::tie(a.event, a.relation, a.is_crossed, a.cells) <
           std::tie(b.event, b.relation, b.is_crossed, b.cells);
  }
};

// A reference that is needed for one filter.
struct ReferenceWanted {
  // The owner of the cap: a budget, or, with session_id, a session.
  std::string budget_id;
  std::string session_id;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  // The cap: (epsilon, delta), with the delta that units may use, or a number of units.
  double epsilon = 0;
  double delta = 0;
  int64_t units = 0;
  // The reference event. If the first charge only `suggested` it, another event may be taken that
  // serves more workloads.
  accounting::MechanismEvent event;
  bool suggested = false;
  // For a successor: the reference whose pair and slack per unit the successor keeps.
  std::shared_ptr<const UnitReference> carried = nullptr;
};

// A price that is needed under a reference.
struct UnitPriceWanted {
  std::shared_ptr<const UnitReference> reference;
  accounting::MechanismEvent event;
  int64_t count = 0;
  int64_t level = 0;
};

// Returned in place of an outcome: nothing was decided.
struct PricesWanted {
  std::map<CostKey, accounting::MechanismEvent> costs;
  std::vector<ReferenceWanted> references;
  std::vector<UnitPriceWanted> prices;
  // The command, to be submitted again.
  std::shared_ptr<const Command> command;

  bool empty() const { return costs.empty() && references.empty() && prices.empty(); }
};

// The computed values. An error means that no value exists: the filter cannot take the event.
struct Pricing {
  // Budget id, session id, and the reference whose pair is kept: a value that was computed for one
  // chain of units says nothing about another chain.
  using FilterKey = std::tuple<std::string, std::string, const UnitReference*>;
  // Reference, canonical encoding of the event, count, level.
  using PriceKey = std::tuple<const UnitReference*, std::string, int64_t, int64_t>;

  std::map<CostKey, std::vector<Cost>> costs;
  std::map<FilterKey, absl::StatusOr<std::shared_ptr<const UnitReference>>> references;
  std::map<PriceKey, absl::StatusOr<ProvedUnitPrice>> prices;
  // Keeps the references in the keys alive.
  std::vector<std::shared_ptr<const UnitReference>> kept;
};

// Returns the costs of one use of `event`, whose canonical encoding is `encoding`, from `pricing`,
// which may be nullptr. If they are missing, adds them to `wanted` and returns nullptr.
const std::vector<Cost>* FindCosts(const accounting::MechanismEvent& event,
                                   std::string_view encoding,
                                   accounting::NeighboringRelation relation,
                                   const CellFilter& filter, bool is_crossed,
                                   const Pricing* pricing, PricesWanted* wanted);

// Returns the reference for a filter that has none yet, for a charge of `event`, from `pricing`. If
// it is missing, adds it to `wanted` and returns nullptr. Returns nullptr and adds nothing if the
// computation found that no reference exists. `carried`: as in ReferenceWanted. REQUIRES:
// gate.balance.CanFixReference().
std::shared_ptr<const UnitReference> FindReference(
    const Gate& gate, accounting::NeighboringRelation relation,
    const accounting::MechanismEvent& event, bool suggested,
    const std::shared_ptr<const UnitReference>& carried, const Pricing* pricing,
    PricesWanted* wanted);

// Returns the entry that fixes `reference`. One of `budget_id` and `session_number` is empty or 0.
ReferenceFixed EntryOf(const UnitReference& reference, const std::string& budget_id,
                       int64_t session_number);
// Returns the reference that an entry fixes.
std::shared_ptr<const UnitReference> ReferenceOf(const ReferenceFixed& entry,
                                                 accounting::NeighboringRelation relation);

// Computes the costs for `key`. REQUIRES: `key.event` belongs to `event`. CANCELLED soon after
// `abandoned` returns true.
absl::StatusOr<std::vector<Cost>> ComputeCosts(const CostKey& key,
                                               const accounting::MechanismEvent& event,
                                               absl::FunctionRef<bool()> abandoned);

// Computes the reference for a filter. If none exists, returns an error with a short message.
// CANCELLED soon after `abandoned` returns true.
absl::StatusOr<std::shared_ptr<const UnitReference>> ComputeReference(
    const ReferenceWanted& wanted, absl::FunctionRef<bool()> abandoned);

// Converts a computed price to the form that the ledger keeps.
absl::StatusOr<ProvedUnitPrice> AnswerTo(const UnitPriceWanted& wanted,
                                         const absl::StatusOr<accounting::UnitPrice>& computed);

// Returns the reference event if a first charge of `event` fixes the reference: the event itself if
// it is sampled, because most runs repeat such an event; otherwise a step of DP-SGD.
accounting::MechanismEvent ReferenceSuggestedBy(const accounting::MechanismEvent& event);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PRICING_H_
