#ifndef EPSLEDGER_TESTS_ACCOUNTING_FILTER_EVENT_PRICER_H_
#define EPSLEDGER_TESTS_ACCOUNTING_FILTER_EVENT_PRICER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "accounting/filter/residue.h"

namespace epsledger::accounting {

// A ResiduePricer that prepares each event once.
class EventPricer {
 public:
  explicit EventPricer(Reference reference) : pricer_(std::move(reference)) {}

  absl::StatusOr<UnitPrice> PriceOf(const MechanismEvent& event, NeighboringRelation relation,
                                    int64_t count, int64_t level) {
    const auto prepared = Prepared(event, relation);
    if (!prepared.ok()) return prepared.status();
    return pricer_.PriceOf(**prepared, count, level);
  }

  absl::StatusOr<bool> IsProved(const MechanismEvent& event, NeighboringRelation relation,
                                int64_t count, int64_t level, const UnitPrice& price) {
    const auto prepared = Prepared(event, relation);
    if (!prepared.ok()) return prepared.status();
    return pricer_.IsProved(**prepared, count, level, price);
  }

 private:
  absl::StatusOr<std::shared_ptr<const PreparedEvent>> Prepared(const MechanismEvent& event,
                                                                NeighboringRelation relation) {
    const std::pair key(static_cast<int>(relation), Describe(event));
    auto known = prepared_.find(key);
    if (known == prepared_.end()) {
      auto prepared = pricer_.Prepare(event, relation);
      if (!prepared.ok()) return prepared.status();
      known = prepared_.emplace(key, *std::move(prepared)).first;
    }
    return known->second;
  }

  ResiduePricer pricer_;
  std::map<std::pair<int, std::string>, std::shared_ptr<const PreparedEvent>> prepared_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_FILTER_EVENT_PRICER_H_
