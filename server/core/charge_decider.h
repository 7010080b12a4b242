#ifndef EPSLEDGER_SERVER_CORE_CHARGE_DECIDER_H_
#define EPSLEDGER_SERVER_CORE_CHARGE_DECIDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/command.h"
#include "server/core/entry.h"
#include "server/core/gate.h"
#include "server/core/ledger.h"
#include "server/core/policy.h"

namespace epsledger::core {

// Returns the refusal of a charge of `costs` that does not fit through `gate`. steps_that_fit is 0.
Refusal RefusalBy(const Gate& gate, const std::vector<Cost>& costs);

// The conditions for a charge on its way up.
struct Conditions {
  std::vector<Gate> gates;         // as Ledger::GatesOf(session)
  std::optional<Refusal> blocked;  // set if the session or a budget takes no charges
  std::vector<const Policy*> policies;
  // True if a new session expects to charge the event most, rather than only first.
  bool expects_event = false;
  // What the attempt that charges declares; nullptr: what the session's current one does.
  const Provenance* provenance = nullptr;
};

// Decides the items of one command on copies of the balances. Each item sees what the items before
// it took; the ledger itself is unchanged. For one use only.
class ChargeDecider {
 public:
  // New entries are numbered from head_sequence + 1. `session` and everything that `conditions`
  // points at must outlive this object. `pricing` may be nullptr.
  ChargeDecider(const SessionState& session, Conditions conditions, const Pricing* pricing,
                int64_t head_sequence, int64_t time_micros);

  // Adds an item whose key was decided before: its outcome does not change. ALREADY_EXISTS, naming
  // the difference, if the content differs.
  absl::Status AddReplay(const ChargeItem& item, ChargeRecord stored);

  // Decides every item that is not a replay and returns the records of all items, in the order of
  // the command. If a cost, reference or price is missing, it decides nothing and wanted() names
  // it. FAILED_PRECONDITION if the session holds too many distinct events to add a new one, or
  // would use an event more often than can be counted.
  absl::StatusOr<std::vector<ChargeRecord>> DecideRest(const Charge& command);

  // Returns what one charge would do; makes no entries. The result is meaningless if wanted() is
  // not empty.
  absl::StatusOr<Preview> PreviewOne(const accounting::MechanismEvent& event, int64_t count);

  std::vector<EntryBody> TakeEntries() { return std::move(entries_); }

  // Missing costs, references and prices. If there are any, nothing was decided.
  const PricesWanted& wanted() const { return wanted_; }

 private:
  // An event with its costs at every gate and its remaining tickets in the plan.
  struct PricedEvent {
    // Its index among the session's events; new events follow in the order of the command.
    int64_t index = 0;
    // One vector per gate; empty for a DECLARED session.
    const std::vector<std::vector<Cost>>* unit_costs = nullptr;
    // One per gate; includes prices of this command.
    std::vector<UnitPrices>* unit_prices = nullptr;
    // With DECLARED: remaining tickets; 0 for an event outside the plan.
    int64_t tickets_left = 0;
    // As IsNonPrivate.
    bool is_non_private = false;
    std::vector<Sampler> samplers = {};
  };

  // An event that the session does not hold.
  struct NewEvent {
    int64_t index = 0;
    accounting::MechanismEvent event;
    std::vector<std::vector<Cost>> unit_costs;
  };

  // Finds the event in the session, or its costs in the command's pricing. Adds missing costs to
  // wanted_.
  absl::StatusOr<PricedEvent> Price(const accounting::MechanismEvent& event);
  // Returns the present cost of the charge at gates_[gate].
  std::vector<Cost> CostAt(size_t gate, const PricedEvent& event, int64_t count) const;
  // Fixes the references that this charge needs first.
  void FixReferences(const accounting::MechanismEvent& event);
  // Looks in the command's pricing for the prices in units that the charge needs and the ledger
  // does not hold. Adds those that are missing to wanted_.
  void FindUnitPrices(const PricedEvent& event, const accounting::MechanismEvent& what,
                      int64_t count);
  // Adds the price of a block of `count` while `left` units are left, if it is known or was
  // computed; otherwise adds it to wanted_.
  void FindUnitPrice(const PricedEvent& event, const accounting::MechanismEvent& what, size_t gate,
                     int64_t count, int64_t left);
  // Looks for prices of single uses below the present level, until they pay for `count` uses: a few
  // prices at distant levels.
  void FindPricesBelow(const PricedEvent& event, const accounting::MechanismEvent& what,
                       int64_t count);
  // True if the event has a price in the gate's units, whether or not enough units are left.
  bool HasPriceInUnits(size_t gate, const PricedEvent& event,
                       const accounting::MechanismEvent& what) const;
  // Counts a charge that fits in the working copies.
  void Take(const PricedEvent& event, int64_t count);
  // True if the session is not proven and the event makes every epsilon infinite. Always false for
  // other sessions, where nobody needs to know.
  bool IsNonPrivate(const accounting::MechanismEvent& event) const;
  // Returns the refusal of the charge, or nothing if it fits.
  std::optional<Refusal> WhyNot(const PricedEvent& event, const accounting::MechanismEvent& what,
                                int64_t count);
  int64_t HowManyFit(const PricedEvent& event) const;
  // Returns the uses accepted so far, including those of this command's items.
  int64_t UsesOf(const PricedEvent& event) const;
  // FAILED_PRECONDITION if `more` additional uses exceed what a history can hold.
  absl::Status CheckUses(const PricedEvent& event, int64_t more) const;
  // FAILED_PRECONDITION if the session has no room for one more event of `bytes` bytes.
  absl::Status CheckRoomFor(size_t bytes) const;
  // `index` of the PricedEvent, or kNotHeld if the event was not priced.
  ChargeRecord MakeRecord(const Charge& command, const ChargeItem& item, int64_t index,
                          std::optional<Refusal> refusal);
  // Returns the index at which the session holds the event, or will hold it after the entries so
  // far; kNotHeld if it does not.
  int64_t PlaceOf(const accounting::MechanismEvent& event, int64_t index) const;
  // If a charge lacks units, puts the numbers of units into `refusal`.
  void TellUnits(const PricedEvent& event, const accounting::MechanismEvent& what, size_t place,
                 int64_t count, Refusal* refusal) const;
  // Inserts the entries of events and prices that the charges need before the charges' own entries.
  // Events without an accepted charge get none.
  void EnterPrices();

  const SessionState& session_;
  Conditions conditions_;
  std::vector<Gate> gates_;
  int64_t next_sequence_;
  int64_t time_micros_;
  // True if a nonPrivate event was charged before, or by the items so far.
  bool non_private_taken_;
  std::map<std::string, ChargeRecord> replays_;  // by charge id
  // Events first used in this command, by encoding.
  std::map<std::string, NewEvent> new_events_;
  int64_t new_event_bytes_ = 0;
  // Events of accepted charges: their index here -> their index in the session.
  std::map<int64_t, int64_t> entered_;
  // Uses taken by the items so far, by event index.
  std::map<int64_t, int64_t> uses_taken_;
  const Pricing* const pricing_;
  // True if a filter on the way up counts units.
  const bool counts_units_;
  // Prices in units by event index, those of this command included.
  std::map<int64_t, std::vector<UnitPrices>> unit_prices_;
  PricesWanted wanted_;
  // The command uses events more than once.
  bool looks_ahead_ = false;
  // Pairs for which the computation found that an event of this command has no price.
  std::set<std::pair<int64_t, size_t>> without_price_;  // event index, gate
  std::vector<EntryBody> reference_entries_;
  std::vector<UnitsPriced> unit_entries_;
  std::vector<EntryBody> entries_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_CHARGE_DECIDER_H_
