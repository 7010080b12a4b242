#ifndef EPSLEDGER_TESTS_SERVER_CORE_LEDGER_HARNESS_H_
#define EPSLEDGER_TESTS_SERVER_CORE_LEDGER_HARNESS_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/ledger.h"
#include "tests/server/core/compute_pricing.h"

namespace epsledger::core {

// A ledger together with the rows that a store would hold.
class LedgerHarness {
 public:
  // Runs the command, and computes the costs that it needs, as a server does.
  absl::StatusOr<Outcome> Run(Command command) { return RunPriced(&command); }
  // Does the same, and leaves the costs in the command.
  absl::StatusOr<Outcome> RunPriced(Command* command) {
    while (true) {
      absl::StatusOr<Outcome> outcome = Once(*command);
      const auto* wanted = outcome.ok() ? std::get_if<PricesWanted>(&*outcome) : nullptr;
      if (wanted == nullptr || wanted->costs.empty()) return outcome;
      command->pricing = ComputePricing({.costs = wanted->costs}, command->pricing.get());
    }
  }
  absl::StatusOr<Outcome> Once(const Command& command) {
    return ledger.Execute(
        command,
        [this](const ChargeKey& key) -> absl::StatusOr<std::optional<Entry>> {
          const auto it = rows_.find({key.session_number, key.attempt, key.charge_id});
          if (it == rows_.end()) return std::nullopt;
          return entries[it->second];
        },
        [this](const Entry& entry) {
          Store(entry);
          return absl::OkStatus();
        });
  }
  // Applies an entry as a restart does. Returns false if the ledger refuses it.
  bool Restore(const Entry& entry) {
    Store(entry);
    return ledger.Apply(entry).ok();
  }
  template <class Body>
  absl::StatusOr<Outcome> Run(Body body) {
    return Run(Command{.time_micros = ++time_, .body = std::move(body)});
  }

  // Makes one charge. Crashes the test if the result is an error rather than a decision.
  ChargeRecord Decide(const SessionName& session, int64_t attempt, const std::string& charge_id,
                      accounting::MechanismEvent event, int64_t count = 1) {
    absl::StatusOr<Outcome> outcome =
        Run(Charge{.session = session,
                   .attempt = attempt,
                   .items = {{.charge_id = charge_id, .event = std::move(event), .count = count}}});
    return std::get<ChargeOutcome>(outcome.value()).records.at(0);
  }

  absl::StatusOr<Preview> PreviewOf(const SessionName& session, accounting::MechanismEvent event,
                                    int64_t count = 1) {
    absl::StatusOr<Outcome> outcome =
        Run(ChargePreview{.session = session, .event = std::move(event), .count = count});
    if (!outcome.ok()) return outcome.status();
    return std::get<Preview>(*std::move(outcome));
  }

  Ledger ledger;
  std::vector<Entry> entries;

 private:
  void Store(const Entry& entry) {
    if (const std::optional<ChargeKey> key = KeyOf(entry.body)) {
      rows_[{key->session_number, key->attempt, key->charge_id}] = entries.size();
    }
    entries.push_back(entry);
  }

  std::map<std::tuple<int64_t, int64_t, std::string>, size_t> rows_;
  int64_t time_ = 0;
};

inline BudgetSpec PureBudget(const std::string& id, double epsilon,
                             const std::string& parent = "") {
  return {.id = id, .parent_id = parent, .cap = PureEpsilonCap{epsilon}, .privacy_unit = "person"};
}

inline SessionSpec AdaptiveSession(const std::string& budget, const std::string& id,
                                   std::optional<Cap> own_cap = std::nullopt) {
  return {.budget_id = budget, .id = id, .mode = SessionMode::kAdaptive, .own_cap = own_cap};
}

inline SessionSpec DeclaredSession(const std::string& budget, const std::string& id,
                                   std::vector<accounting::CountedEvent> plan) {
  return {.budget_id = budget,
          .id = id,
          .mode = SessionMode::kDeclared,
          .plan = std::move(plan),
          .plan_delta = 1e-6};
}

}  // namespace epsledger::core

#endif  // EPSLEDGER_TESTS_SERVER_CORE_LEDGER_HARNESS_H_
