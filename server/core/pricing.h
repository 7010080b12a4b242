#ifndef EPSLEDGER_SERVER_CORE_PRICING_H_
#define EPSLEDGER_SERVER_CORE_PRICING_H_

// References and prices in units are computed outside the ledger, before it decides. A ledger that
// misses one answers PricesWanted in place of an outcome; whoever asked has them computed and
// submits the command again with a Pricing. Nothing was decided in between, and a price that is
// still missing then is asked for again, never guessed.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "server/core/command.h"
#include "server/core/entry.h"
#include "server/core/gate.h"
#include "server/core/units.h"

namespace epsledger::core {

// A reference for one filter.
struct ReferenceWanted {
  // Of a budget's cap, or, with session_id, of a session's own.
  std::string budget_id;
  std::string session_id;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  // Of a cap in (epsilon, delta), with what units may take of its delta, or of one in so many
  // units.
  double epsilon = 0;
  double delta = 0;
  int64_t units = 0;
  // The event to count in. Where it is only `suggested`, by what is charged first, another may be
  // taken that serves more workloads.
  accounting::MechanismEvent event;
  bool suggested = false;
  // Of a successor: the reference whose pair and slack a unit it keeps.
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
  std::vector<ReferenceWanted> references;
  std::vector<UnitPriceWanted> prices;
  // The command, to be submitted again.
  std::shared_ptr<const Command> command;

  bool empty() const { return references.empty() && prices.empty(); }
};

// What was computed. An error stands for "there is none": the filter cannot take the event.
struct Pricing {
  // Budget id, session id, and the reference whose pair it keeps: what was computed for one chain
  // of units says nothing of another one.
  using FilterKey = std::tuple<std::string, std::string, const UnitReference*>;
  // Reference, canonical encoding of the event, count, level.
  using PriceKey = std::tuple<const UnitReference*, std::string, int64_t, int64_t>;

  std::map<FilterKey, absl::StatusOr<std::shared_ptr<const UnitReference>>> references;
  std::map<PriceKey, absl::StatusOr<UnitPrice>> prices;
  // Keeps the keys' references alive.
  std::vector<std::shared_ptr<const UnitReference>> kept;
};

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

// The reference for a filter, in a few words of its error if there is none.
absl::StatusOr<std::shared_ptr<const UnitReference>> ComputeReference(
    const ReferenceWanted& wanted);

// A computed price as the ledger keeps it.
absl::StatusOr<UnitPrice> AnswerTo(const UnitPriceWanted& wanted,
                                   const absl::StatusOr<accounting::UnitPrice>& computed);

// The event that is counted in where a first charge of `event` decides: the event itself if it is
// sampled, which is what most runs repeat; otherwise one of DP-SGD.
accounting::MechanismEvent ReferenceSuggestedBy(const accounting::MechanismEvent& event);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PRICING_H_
