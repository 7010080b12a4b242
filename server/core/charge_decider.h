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

// Why a charge of `costs` does not fit through `gate`. steps_that_fit is left 0.
Refusal RefusalBy(const Gate& gate, const std::vector<Cost>& costs);

// What a charge meets on its way up.
struct Conditions {
  std::vector<Gate> gates;         // as Ledger::GatesOf(session)
  std::optional<Refusal> blocked;  // the session or a budget takes no charges
  std::vector<const Policy*> policies;
  // The event is what a new session expects, and not only what it charges first.
  bool expects_event = false;
};

// Decides the items of one command on copies of the balances: items see what the ones before them
// took, and the ledger itself is unchanged. Used once, then thrown away.
class ChargeDecider {
 public:
  // New entries are numbered from head_sequence + 1. Keeps a reference to `session` and to what
  // `conditions` points at.
  // `pricing` may be nullptr.
  ChargeDecider(const SessionState& session, Conditions conditions, const Pricing* pricing,
                int64_t head_sequence, int64_t time_micros);

  // The key of `item` was decided before: its outcome stands. ALREADY_EXISTS, naming the
  // difference, if the content is another.
  absl::Status AddReplay(const ChargeItem& item, ChargeRecord stored);

  // Decides every item that is not a replay; answers all, in the order of the command. Decides
  // nothing, and has wanted() to tell, if a cost, reference or price is missing.
  // FAILED_PRECONDITION if the session holds too many distinct events to name a new one, or would
  // use one more often than can be counted.
  absl::StatusOr<std::vector<ChargeRecord>> DecideRest(const Charge& command);

  // What one charge would do; makes no entries. Says nothing if it has wanted() to tell.
  absl::StatusOr<Preview> PreviewOne(const accounting::MechanismEvent& event, int64_t count);

  std::vector<EntryBody> TakeEntries() { return std::move(entries_); }

  // Costs, references and prices without which nothing was decided.
  const PricesWanted& wanted() const { return wanted_; }

 private:
  // An event with what it costs at every gate and what is left of it in the plan.
  struct PricedEvent {
    // Its index among the session's events; new events follow in the order of the command.
    int64_t index = 0;
    // One vector per gate; empty for a DECLARED session.
    const std::vector<std::vector<Cost>>* unit_costs = nullptr;
    // One a gate; prices of this command included.
    std::vector<UnitPrices>* unit_prices = nullptr;
    // With DECLARED: tickets left; 0 for an event outside the plan.
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

  // Finds the event in the session, or its costs in the command's pricing; adds to wanted_ what is
  // missing.
  absl::StatusOr<PricedEvent> Price(const accounting::MechanismEvent& event);
  // What the charge costs at gates_[gate] now.
  std::vector<Cost> CostAt(size_t gate, const PricedEvent& event, int64_t count) const;
  // Fixes the references that this charge is the first to need.
  void FixReferences(const accounting::MechanismEvent& event);
  // Looks for the prices in units that the charge needs and the ledger does not hold: in the
  // command's pricing, or adds to wanted_.
  void FindUnitPrices(const PricedEvent& event, const accounting::MechanismEvent& what,
                      int64_t count);
  // Adds the price of a block of `count` while `left` units are left, if it is known or was
  // computed; otherwise adds to wanted_.
  void FindUnitPrice(const PricedEvent& event, const accounting::MechanismEvent& what, size_t gate,
                     int64_t count, int64_t left);
  // Looks for prices of single uses below the level of now, until they pay for `count`: a few, far
  // apart.
  void FindPricesBelow(const PricedEvent& event, const accounting::MechanismEvent& what,
                       int64_t count);
  // True if the event has a price in the gate's units, whether or not enough of them are left.
  bool HasPriceInUnits(size_t gate, const PricedEvent& event,
                       const accounting::MechanismEvent& what) const;
  // Puts a charge that fits into the working copies.
  void Take(const PricedEvent& event, int64_t count);
  // True if the event makes every epsilon infinite, of a session that is not proven; elsewhere
  // nobody needs to know.
  bool IsNonPrivate(const accounting::MechanismEvent& event) const;
  // Nothing if the charge fits.
  std::optional<Refusal> WhyNot(const PricedEvent& event, const accounting::MechanismEvent& what,
                                int64_t count);
  int64_t HowManyFit(const PricedEvent& event) const;
  // Uses accepted so far, those of this command's items included.
  int64_t UsesOf(const PricedEvent& event) const;
  // FAILED_PRECONDITION if `more` uses would be more than a history can hold.
  absl::Status CheckUses(const PricedEvent& event, int64_t more) const;
  // FAILED_PRECONDITION if the session has no room for one more event of so many bytes.
  absl::Status CheckRoomFor(size_t bytes) const;
  // `index` of the PricedEvent, or kNotHeld if the event was not priced.
  ChargeRecord MakeRecord(const Charge& command, const ChargeItem& item, int64_t index,
                          std::optional<Refusal> refusal);
  // Where the session holds the event, or will with the entries so far; kNotHeld if it does not.
  int64_t PlaceOf(const accounting::MechanismEvent& event, int64_t index) const;
  // Where units are what a charge is short of: says so in their numbers.
  void TellUnits(const PricedEvent& event, const accounting::MechanismEvent& what, size_t place,
                 int64_t count, Refusal* refusal) const;
  // Puts the entries that charges stand on before theirs: events that no charge was accepted of are
  // not among them.
  void EnterPrices();

  const SessionState& session_;
  Conditions conditions_;
  std::vector<Gate> gates_;
  int64_t next_sequence_;
  int64_t time_micros_;
  // Charged before, or by the items so far.
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
  // Where it was computed that an event of this command has no price.
  std::set<std::pair<int64_t, size_t>> without_price_;  // event index, gate
  std::vector<EntryBody> reference_entries_;
  std::vector<UnitsPriced> unit_entries_;
  std::vector<EntryBody> entries_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_CHARGE_DECIDER_H_
