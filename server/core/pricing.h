#ifndef EPSLEDGER_SERVER_CORE_PRICING_H_
#define EPSLEDGER_SERVER_CORE_PRICING_H_

// Costs, references and prices in units are computed outside the ledger, before it decides. A
// ledger that misses one answers PricesWanted in place of an outcome; whoever asked has them
// computed and submits the command again with a Pricing. Nothing was decided in between, and what
// is still missing then is asked for again, never guessed.

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

// What one use of an event costs in each cell of a filter, rounded up. It depends on what the cells
// count alone, so that filters with other caps share it. Where the filter `is_crossed`
// (Gate::IsCrossed) a replaced record may be one that is removed from a part, or one that is added
// to it: the cost is the largest of the three, and infinite for an event that is known under
// replacing alone.
struct CostKey {
  Hash event{};  // SHA-256 of its canonical encoding
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  bool is_crossed = false;
  std::vector<std::pair<accounting::CellQuantity, double>> cells;  // with the Renyi order

  friend bool operator<(const CostKey& a, const CostKey& b) {
    return std::tie(a.event, a.relation, a.is_crossed, a.cells) <
           std::tie(b.event, b.relation, b.is_crossed, b.cells);
  }
};

// A reference for one filter.
struct ReferenceWanted {
  // Whose cap: a budget's, or, with session_id, a session's own.
  std::string budget_id;
  std::string session_id;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  // The cap: in (epsilon, delta), with what units may take of its delta, or in a number of
  // units.
  double epsilon = 0;
  double delta = 0;
  int64_t units = 0;
  // The event to count in. Where it is only `suggested`, by what is charged first, another may be
  // taken that serves more workloads.
  accounting::MechanismEvent event;
  bool suggested = false;
  // For a successor: the reference whose pair and slack per unit it keeps.
  std::shared_ptr<const UnitReference> carried = nullptr;
};

// A price under a reference.
struct UnitPriceWanted {
  std::shared_ptr<const UnitReference> reference;
  accounting::MechanismEvent event;
  int64_t count = 0;
  int64_t level = 0;
};

// In place of an outcome: nothing was decided.
struct PricesWanted {
  std::map<CostKey, accounting::MechanismEvent> costs;
  std::vector<ReferenceWanted> references;
  std::vector<UnitPriceWanted> prices;
  // The command, to be submitted again.
  std::shared_ptr<const Command> command;

  bool empty() const { return costs.empty() && references.empty() && prices.empty(); }
};

// What was computed. An error stands for "there is none": the filter cannot take the event.
struct Pricing {
  // Budget id, session id, and the reference whose pair it keeps: what was computed for one chain
  // of units says nothing of another one.
  using FilterKey = std::tuple<std::string, std::string, const UnitReference*>;
  // Reference, canonical encoding of the event, count, level.
  using PriceKey = std::tuple<const UnitReference*, std::string, int64_t, int64_t>;

  std::map<CostKey, std::vector<Cost>> costs;
  std::map<FilterKey, absl::StatusOr<std::shared_ptr<const UnitReference>>> references;
  std::map<PriceKey, absl::StatusOr<UnitPrice>> prices;
  // Keeps the keys' references alive.
  std::vector<std::shared_ptr<const UnitReference>> kept;
};

// What one use of `event`, with that canonical encoding, costs: found in `pricing`, which may be
// nullptr, or nothing after adding it to `wanted`.
const std::vector<Cost>* FindCosts(const accounting::MechanismEvent& event,
                                   std::string_view encoding,
                                   accounting::NeighboringRelation relation,
                                   const CellFilter& filter, bool is_crossed,
                                   const Pricing* pricing, PricesWanted* wanted);

// The reference of a filter without one, for a charge of `event`: found in `pricing`, or nullptr,
// after adding to `wanted` what is to be computed. nullptr without wanting anything where it was
// computed that there is none. `carried`: as in ReferenceWanted.
// REQUIRES: gate.balance.CanFixReference().
std::shared_ptr<const UnitReference> FindReference(
    const Gate& gate, accounting::NeighboringRelation relation,
    const accounting::MechanismEvent& event, bool suggested,
    const std::shared_ptr<const UnitReference>& carried, const Pricing* pricing,
    PricesWanted* wanted);

// The entry that fixes it. One of `budget_id` and `session_number` is empty or 0.
ReferenceFixed EntryOf(const UnitReference& reference, const std::string& budget_id,
                       int64_t session_number);
// The reference that an entry fixes.
std::shared_ptr<const UnitReference> ReferenceOf(const ReferenceFixed& entry,
                                                 accounting::NeighboringRelation relation);

// Computes what is asked for. `key.event` is that of `event`. CANCELLED soon after `abandoned` says
// that nobody wants it any more.
absl::StatusOr<std::vector<Cost>> ComputeCosts(const CostKey& key,
                                               const accounting::MechanismEvent& event,
                                               absl::FunctionRef<bool()> abandoned);

// The reference for a filter, in a few words of its error if there is none. CANCELLED soon after
// `abandoned` says that nobody wants it any more.
absl::StatusOr<std::shared_ptr<const UnitReference>> ComputeReference(
    const ReferenceWanted& wanted, absl::FunctionRef<bool()> abandoned);

// A computed price as the ledger keeps it.
absl::StatusOr<UnitPrice> AnswerTo(const UnitPriceWanted& wanted,
                                   const absl::StatusOr<accounting::UnitPrice>& computed);

// The event that is counted in where a first charge of `event` decides: the event itself if it is
// sampled, which is what most runs repeat; otherwise one of DP-SGD.
accounting::MechanismEvent ReferenceSuggestedBy(const accounting::MechanismEvent& event);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PRICING_H_
