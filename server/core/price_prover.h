#ifndef EPSLEDGER_SERVER_CORE_PRICE_PROVER_H_
#define EPSLEDGER_SERVER_CORE_PRICE_PROVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "accounting/filter/residue.h"
#include "server/core/entry.h"
#include "server/core/gate.h"
#include "server/core/ledger.h"
#include "server/core/units.h"

namespace epsledger::core {

// Proves again the basis of a ledger's charges in units: the units of every reference fit its cap,
// the reference's pair is above its event, and every price holds at its level. A replay
// (Ledger::Apply) checks the rest: a price is used only while its level or more is left, and the
// sums are right.
class PriceProver {
 public:
  // Returns a text that names what is not proved in the next entry of `ledger`; nothing if
  // everything is proved, or if the entry holds no price. REQUIRES: `entry` was not applied yet,
  // and Apply will accept it. Cost: up to two seconds for a reference, 50 ms for a price.
  std::optional<std::string> Check(const Ledger& ledger, const Entry& entry);

  // The number of references and prices proved so far.
  int64_t proved() const { return proved_; }

 private:
  std::optional<std::string> Check(const Ledger& ledger, const ReferenceFixed& body);
  std::optional<std::string> Check(const Ledger& ledger, const UnitsPriced& body);
  std::optional<std::string> Check(const Ledger& ledger, const SessionCreated& body);
  std::optional<std::string> Check(const Ledger& ledger, const BudgetSuperseded& body);
  std::optional<std::string> Check(const Ledger& ledger, const EventPriced& body);
  // Checks that units are counted exactly where the cap says so.
  static std::optional<std::string> CheckCells(const BudgetSpec& spec, const CellFilter& filter);
  std::optional<std::string> CheckPrice(const std::shared_ptr<const UnitReference>& reference,
                                        const accounting::MechanismEvent& event, int64_t count,
                                        int64_t level, const accounting::UnitPrice& price);
  // As CheckPrice, but always by computation.
  std::optional<std::string> Prove(const std::shared_ptr<const UnitReference>& reference,
                                   const accounting::MechanismEvent& event, int64_t count,
                                   int64_t level, const accounting::UnitPrice& price);

  struct Proof {
    std::shared_ptr<const UnitReference> reference;  // keeps the key alive
    accounting::ResiduePricer pricer;
    // The event that was prepared last, and its canonical encoding. Prices of one event usually
    // follow each other.
    std::string encoding = {};
    std::shared_ptr<const accounting::PreparedEvent> prepared = nullptr;
  };
  std::map<const UnitReference*, Proof> proofs_;
  std::set<std::string> pairs_;  // proved pairs with their events
  int64_t proved_ = 0;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PRICE_PROVER_H_
