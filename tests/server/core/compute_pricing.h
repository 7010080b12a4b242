#ifndef EPSLEDGER_TESTS_SERVER_CORE_COMPUTE_PRICING_H_
#define EPSLEDGER_TESTS_SERVER_CORE_COMPUTE_PRICING_H_

#include <map>
#include <memory>

#include "server/core/codec.h"
#include "server/core/pricing.h"

namespace epsledger::core {

// Computes the wanted prices on the caller's thread, in addition to `before`, if given. A server
// does this on its computation pool.
inline std::shared_ptr<const Pricing> ComputePricing(const PricesWanted& wanted,
                                                     const Pricing* before) {
  auto pricing =
      before == nullptr ? std::make_shared<Pricing>() : std::make_shared<Pricing>(*before);
  for (const auto& [key, event] : wanted.costs) {
    pricing->costs.emplace(key, *ComputeCosts(key, event, [] { return false; }));
  }
  for (const ReferenceWanted& reference : wanted.references) {
    pricing->references.insert_or_assign(
        {reference.budget_id, reference.session_id, reference.carried.get()},
        ComputeReference(reference, accounting::NeverAbandoned));
    if (reference.carried != nullptr) pricing->kept.push_back(reference.carried);
  }
  std::map<const UnitReference*, accounting::ResiduePricer> pricers;
  for (const UnitPriceWanted& price : wanted.prices) {
    const UnitReference& under = *price.reference;
    const auto pricer = pricers.try_emplace(&under, under.reference).first;
    const auto prepared = pricer->second.Prepare(price.event, under.relation);
    const absl::StatusOr<accounting::UnitPrice> computed =
        prepared.ok() ? pricer->second.PriceOf(**prepared, price.count, price.level)
                      : prepared.status();
    pricing->prices.insert_or_assign({&under, EncodeEvent(price.event), price.count, price.level},
                                     AnswerTo(price, computed));
    pricing->kept.push_back(price.reference);
  }
  return pricing;
}

}  // namespace epsledger::core

#endif  // EPSLEDGER_TESTS_SERVER_CORE_COMPUTE_PRICING_H_
