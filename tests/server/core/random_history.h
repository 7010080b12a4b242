#ifndef EPSLEDGER_TESTS_SERVER_CORE_RANDOM_HISTORY_H_
#define EPSLEDGER_TESTS_SERVER_CORE_RANDOM_HISTORY_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "server/core/ledger.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {

// Random commands of every kind on one ledger: trees with partitions, both session modes, fenced
// and unknown attempts, keys that were used before, leases, freezes, closed budgets and successors.
// The same seed gives the same commands as long as the same commands succeed.
class RandomHistory {
 public:
  // `times` returns the time of a command, given its number.
  explicit RandomHistory(
      uint64_t seed, accounting::NeighboringRelation relation,
      std::function<int64_t(int64_t)> times = [](int64_t n) { return n; })
      : random_(seed), relation_(relation), times_(std::move(times)), currency_(Below(6)) {}

  struct Step {
    Command command;
    absl::StatusOr<Outcome> outcome;
    size_t entries_before = 0;
  };

  // Generates a command, runs it and records it.
  const Step& Take() {
    Command command{.time_micros = times_(static_cast<int64_t>(steps_.size())), .body = MakeUp()};
    const size_t entries_before = harness_.entries.size();
    absl::StatusOr<Outcome> outcome = harness_.RunPriced(&command);
    steps_.push_back({std::move(command), std::move(outcome), entries_before});
    return steps_.back();
  }

  const Ledger& ledger() const { return harness_.ledger; }
  const std::vector<Entry>& entries() const { return harness_.entries; }
  const std::vector<Step>& steps() const { return steps_; }
  LedgerHarness& harness() { return harness_; }

 private:
  using Body = decltype(Command::body);

  int64_t Below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random_);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  // Returns a budget id, mostly one that exists.
  std::string BudgetId() { return "b" + std::to_string(Below(budgets_ + (OneIn(10) ? 1 : 0))); }
  SessionName AnySession() {
    if (!sessions_.empty() && !OneIn(10)) {
      return sessions_[Below(static_cast<int64_t>(sessions_.size()))];
    }
    return {BudgetId(), "s" + std::to_string(Below(3))};
  }

  // Returns a sampled or full Gaussian, or a pure event, which some currencies refuse.
  accounting::MechanismEvent Event() {
    const double noise = 20.0 + 10.0 * static_cast<double>(Below(3));
    const bool pure = currency_ == 5;
    if (pure != OneIn(6)) {
      // Above a partition, an event that is known only under replace-one has no finite cost.
      if (relation_ == accounting::NeighboringRelation::kReplaceOne && !OneIn(8)) {
        return accounting::Laplace{.noise_multiplier = 128};
      }
      return accounting::PureDp{.epsilon = 1.0 / 64};
    }
    if (currency_ != 3 && OneIn(3)) {
      return accounting::PoissonSampled{
          .sampling_probability = 0.25,
          .event = accounting::MechanismEvent(accounting::Gaussian{.noise_multiplier = noise})};
    }
    return accounting::Gaussian{.noise_multiplier = noise};
  }

  Cap AnyCap() {
    // Most caps of a tree use one currency: if each had its own, nearly nothing would fit.
    switch (OneIn(6) ? Below(6) : currency_) {
      case 0:
        return ZcdpCap{.rho = 0.02};
      case 1:
        return RenyiCap{.order = 8, .divergence = 0.4};
      case 2:
        return ApproximateDpCap{.epsilon = 1, .delta = 1e-5};
      case 3:
        return GaussianDpCap{.mu = 0.3};
      case 4:
        return ApproximateDpCap{
            .epsilon = 2, .delta = 1e-4, .filter = accounting::ApproximateDpFilter::kBasic};
      default:
        return PureEpsilonCap{.epsilon = 0.25};
    }
  }

  Body NewBudget() {
    BudgetSpec spec{.id = "b" + std::to_string(budgets_),
                    .cap = AnyCap(),
                    .relation = relation_,
                    .privacy_unit = "person"};
    if (budgets_ > 0) spec.parent_id = "b" + std::to_string(Below(budgets_));
    if (OneIn(2)) spec.partition_function = "hash(person) mod 4";
    if (OneIn(6)) spec.policy = Policy{.allowed_samplers = {Sampler::kPoisson}};
    if (budgets_ > 0 && OneIn(8)) {
      spec.cap = TradeOffCurveCap{.points = {{0.5, 1e-4}, {1, 1e-6}}};
      spec.partition_function.reset();
    }
    ++budgets_;
    return CreateBudget{spec};
  }

  Body NewSession() {
    const SessionName name{BudgetId(), "s" + std::to_string(Below(3))};
    sessions_.push_back(name);
    SessionSpec spec{.budget_id = name.budget_id, .id = name.session_id, .relation = relation_};
    if (OneIn(3)) {
      spec.mode = SessionMode::kDeclared;
      spec.plan_delta = 1e-7;
      spec.plan = {{accounting::MechanismEvent(accounting::Gaussian{20}), 1 + Below(4)},
                   {accounting::MechanismEvent(accounting::Gaussian{30}), 1 + Below(4)}};
    } else if (OneIn(2)) {
      spec.own_cap = AnyCap();
    }
    return CreateSession{spec};
  }

  Body NewCharge() {
    const SessionName name = AnySession();
    const SessionState* session = harness_.ledger.FindSession(name);
    Charge charge{.session = name, .attempt = session == nullptr ? 1 : session->current_attempt};
    if (OneIn(8)) charge.attempt -= 1;
    if (OneIn(3)) charge.mode = BatchMode::kPerItem;
    const int64_t items = OneIn(4) ? 1 + Below(4) : 1;
    const int64_t first = Below(40);
    for (int64_t i = 0; i < items; ++i) {
      charge.items.push_back({"c" + std::to_string(first + i), Event(), 1 + Below(3)});
    }
    if (items == 1 && OneIn(4)) charge.lease_expire_time_micros = 1'000'000;
    return charge;
  }

  Body MakeUp() {
    if (!steps_.empty() && OneIn(10)) {  // a retry of some earlier command
      return steps_[Below(static_cast<int64_t>(steps_.size()))].command.body;
    }
    const int64_t what = Below(40);
    if (budgets_ == 0 || (budgets_ < 7 && what < 4)) return NewBudget();
    if (what < 9) return NewSession();
    if (what < 14) {
      Provenance provenance;
      if (OneIn(3)) provenance.normalizer = Normalizer::kSampledBatchSize;
      if (OneIn(2)) provenance.sampler = OneIn(4) ? Sampler::kShuffled : Sampler::kPoisson;
      return OpenAttempt{AnySession(), "", provenance};
    }
    if (what == 14) {
      const BudgetPhase phase = OneIn(6) ? BudgetPhase::kClosed : BudgetPhase::kFrozen;
      return ChangeBudgetPhase{BudgetId(), phase, "because"};
    }
    if (what < 18) return ChangeBudgetPhase{BudgetId(), BudgetPhase::kActive, "again"};
    if (what == 18 && OneIn(2)) {
      return SupersedeBudget{BudgetId(), "b" + std::to_string(budgets_++),
                             ApproximateDpCap{4, 1e-5}, "more"};
    }
    if (what == 19 && OneIn(6)) return CloseSession{AnySession(), "done"};
    if (what == 19 && OneIn(3)) {
      return RecordAudit{AnySession(),
                         AuditRecord{.epsilon_lower = 0.25 * static_cast<double>(Below(3)),
                                     .delta = 1e-5,
                                     .confidence = 0.95,
                                     .trials = 1000,
                                     .source = "attack"}};
    }
    if (what == 20 && OneIn(3)) {
      return Annotate{.resource = OneIn(2) ? SessionName{BudgetId(), ""} : AnySession(),
                      .topics = {{AnnotationTopic::kActors, std::string(Below(3), 'a')}}};
    }
    if (what == 20 && OneIn(4)) {
      return RecordSignOff{.resource = OneIn(2) ? SessionName{BudgetId(), ""} : AnySession(),
                           .sign_off = {.signer = "a",
                                        .role = "b",
                                        .statement_sha256 = std::string(32, '1'),
                                        .statement_sequence = 1 + Below(2)}};
    }
    if (what == 20) {
      return UpdateBudget{.budget_id = BudgetId(),
                          .labels = {{{"team", std::to_string(Below(3))}}}};
    }
    if (what < 24) {
      const SessionName name = AnySession();
      const SessionState* session = harness_.ledger.FindSession(name);
      if (session != nullptr && !session->open_leases.empty()) {
        const OpenLease& lease = session->open_leases[0];
        return SettleLease{name, lease.attempt, lease.id, Below(lease.count + 1)};
      }
    }
    return NewCharge();
  }

  std::mt19937_64 random_;
  const accounting::NeighboringRelation relation_;
  const std::function<int64_t(int64_t)> times_;
  const int64_t currency_;
  LedgerHarness harness_;
  int64_t budgets_ = 0;
  std::vector<SessionName> sessions_;
  std::vector<Step> steps_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_TESTS_SERVER_CORE_RANDOM_HISTORY_H_
