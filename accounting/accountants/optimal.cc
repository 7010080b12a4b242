#include "accounting/accountants/composers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/classical/basic_and_advanced.h"
#include "accounting/classical/optimal_heterogeneous.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"
#include "accounting/trade_off/type_two_error.h"

namespace epsledger::accounting {
namespace {

// The exact solution: one distinct epsilon, or few enough outcomes.
class OptimalComposed final : public Composition {
 public:
  OptimalComposed(std::vector<CountedParameters> events,
                  std::optional<EnumeratedComposition> outcomes, bool attained)
      : Composition(Accountant::kOptimal),
        events_(std::move(events)),
        outcomes_(std::move(outcomes)),
        attained_(attained) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    const Bounds epsilon =
        outcomes_ ? outcomes_->Epsilon(at.log_delta)
                  : OptimalEpsilon(events_, at.log_delta).value_or(Bounds{0, kInfinity});
    Guarantee answer = Answer(Theorem());
    // The target may be exactly the sum of the events' deltas, which a logarithm cannot represent.
    answer.upper = std::min(epsilon.upper, BasicEpsilon(BasicComposition(events_), at));
    if (attained_) answer.lower = epsilon.lower;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    const Bounds log_delta = LogDelta(epsilon);
    return attained_ ? DeltaBetween(log_delta, Theorem())
                     : DeltaBelow(log_delta.upper, 0, Theorem());
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    const auto delta = [this](double epsilon) {
      const Bounds log_delta = LogDelta(epsilon);
      return Bounds{RoundDownNonNegative(std::exp(log_delta.lower), 1),
                    std::min(1.0, RoundUpNonNegative(std::exp(log_delta.upper), 1))};
    };
    const Bounds f = accounting::TypeTwoError(delta, type_one_error);
    Guarantee answer = Answer(absl::StrCat(Theorem(), " ; [DRS19] Prop 2.12"));
    answer.lower = f.lower;
    answer.upper = attained_ ? f.upper : std::min(1.0, RoundUp(1 - type_one_error));
    return answer;
  }

 private:
  Bounds LogDelta(double epsilon) const {
    return outcomes_ ? outcomes_->LogDelta(epsilon)
                     : OptimalLogDelta(events_, epsilon).value_or(Bounds{-kInfinity, 0});
  }
  const char* Theorem() const { return outcomes_ ? "[MV16] Thm 1.5" : "[KOV15] Thm 3.3"; }

  const std::vector<CountedParameters> events_;
  const std::optional<EnumeratedComposition> outcomes_;
  const bool attained_;
};

// Bounds on the same problem by the privacy loss of its randomized responses.
class OptimalOnLattice final : public Composition {
 public:
  OptimalOnLattice(std::unique_ptr<Composition> lattice, bool attained)
      : Composition(Accountant::kOptimal), lattice_(std::move(lattice)), attained_(attained) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    return WithoutLower(Described(lattice_->Epsilon(at)));
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    return WithoutLower(Described(lattice_->Delta(epsilon)));
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    absl::StatusOr<Guarantee> answer = Described(lattice_->TypeTwoError(type_one_error));
    // Here the upper end states that a mechanism attains the value.
    if (answer.ok() && !attained_) answer->upper = std::min(1.0, RoundUp(1 - type_one_error));
    return answer;
  }
  absl::StatusOr<Guarantee> GaussianDpMu(double alpha_min) const override {
    return Described(lattice_->GaussianDpMu(alpha_min));
  }

 private:
  static absl::StatusOr<Guarantee> Described(absl::StatusOr<Guarantee> answer) {
    if (!answer.ok()) return answer;
    answer->theorem =
        absl::StrCat("[MV16] problem, bounds from a lattice: [KOV15] Thm 3.1 ; ", answer->theorem);
    return answer;
  }
  absl::StatusOr<Guarantee> WithoutLower(absl::StatusOr<Guarantee> answer) const {
    if (answer.ok() && !attained_) {
      answer->lower.reset();
      answer->log_lower.reset();
    }
    return answer;
  }

  const std::unique_ptr<Composition> lattice_;
  const bool attained_;
};

// True if (epsilon, delta) is all that the event promises.
bool IsAPromise(const MechanismEvent& event) {
  return event.As<PureDp>() != nullptr || event.As<ApproximateDp>() != nullptr ||
         event.As<UnverifiedClaim>() != nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByOptimal(const std::vector<Use>& uses,
                                                              const Setting& setting,
                                                              const CompositionOptions& options) {
  ASSIGN_OR_RETURN(std::vector<CountedParameters> events,
                   ApproximateDpOf(uses, setting, Accountant::kOptimal));
  bool attained = options.group_size == 1;
  for (const Use& use : uses) attained = attained && IsAPromise(*use.event);
  std::set<double> distinct;
  for (CountedParameters& event : events) {
    event.parameters = GroupPrivacy(event.parameters, static_cast<double>(options.group_size));
    event.parameters.delta = std::min(1.0, event.parameters.delta);
    if (event.parameters.epsilon > 0) distinct.insert(event.parameters.epsilon);
  }
  if (distinct.size() <= 1) {
    return std::make_unique<OptimalComposed>(std::move(events), std::nullopt, attained);
  }
  if (std::optional<EnumeratedComposition> outcomes = EnumeratedComposition::Create(events)) {
    return std::make_unique<OptimalComposed>(std::move(events), std::move(outcomes), attained);
  }
  // The lattice gets the (epsilon, delta)-DP promises and not the events, whose own losses are
  // another problem.
  std::vector<MechanismEvent> promises;
  promises.reserve(events.size());
  std::vector<Use> promised;
  for (const CountedParameters& event : events) {
    promises.push_back(ApproximateDp{event.parameters.epsilon, event.parameters.delta});
    promised.push_back(Use{&promises.back(), event.count});
  }
  CompositionOptions neighbors = options;
  neighbors.group_size = 1;
  ASSIGN_OR_RETURN(std::unique_ptr<Composition> lattice,
                   ComposeByPld(promised, setting, neighbors, Accountant::kOptimal));
  return std::make_unique<OptimalOnLattice>(std::move(lattice), attained);
}

}  // namespace epsledger::accounting
