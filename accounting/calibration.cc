#include "accounting/calibration.h"

#include <cmath>
#include <optional>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/validation.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

using Variable = Calibrate::Variable;

constexpr double kTolerance = 1e-10;

template <class Event>
concept HasNoiseMultiplier = requires(Event e) {
  e.noise_multiplier;
};
template <class Event>
concept HasSamplingProbability = requires(Event e) {
  e.sampling_probability;
};
template <class Event>
concept HasInnerEvent = requires(Event e) {
  e.event;
};

// `event` with the outermost parameter of that kind set to `value`; nothing if it has none. A
// composition is searched in its first part.
std::optional<MechanismEvent> With(const MechanismEvent& event, Variable variable, double value) {
  return std::visit(
      [&](const auto& kind) -> std::optional<MechanismEvent> {
        using Event = std::decay_t<decltype(kind)>;
        Event changed = kind;
        if constexpr (HasNoiseMultiplier<Event>) {
          if (variable == Variable::kNoiseMultiplier) {
            changed.noise_multiplier = value;
            return MechanismEvent(std::move(changed));
          }
        }
        if constexpr (HasSamplingProbability<Event>) {
          if (variable == Variable::kSamplingProbability) {
            changed.sampling_probability = value;
            return MechanismEvent(std::move(changed));
          }
        }
        if constexpr (HasInnerEvent<Event>) {
          const std::optional<MechanismEvent> inner = With(*kind.event, variable, value);
          if (!inner.has_value()) return std::nullopt;
          changed.event = *inner;
          return MechanismEvent(std::move(changed));
        } else if constexpr (std::is_same_v<Event, Composed>) {
          const std::optional<MechanismEvent> inner =
              With(*kind.events.front().event, variable, value);
          if (!inner.has_value()) return std::nullopt;
          changed.events.front().event = *inner;
          return MechanismEvent(std::move(changed));
        } else {
          return std::nullopt;
        }
      },
      event.kind());
}

// The question "what is epsilon at the wanted delta" with the parameter set; nothing if events[0]
// has no such parameter.
std::optional<Question> WithValue(const Question& question, const Calibrate& wanted, double value) {
  Question changed = question;
  changed.query = EpsilonAtDelta::FromDelta(wanted.delta);
  if (wanted.variable == Variable::kCount) {
    changed.events[0].count = static_cast<int64_t>(value);
    return changed;
  }
  const std::optional<MechanismEvent> event =
      With(*question.events[0].event, wanted.variable, value);
  if (!event.has_value()) return std::nullopt;
  changed.events[0].event = *event;
  return changed;
}

struct Range {
  double safest;  // least epsilon
  double riskiest;
  double start;
  double factor;  // of one step of the bracketing
};

Range RangeOf(Variable variable) {
  switch (variable) {
    case Variable::kNoiseMultiplier:
      return Range{1e300, 1e-9, 1, 4};
    case Variable::kCount:
      return Range{1, static_cast<double>(kMaxEventCount), 64, 16};
    case Variable::kSamplingProbability:
      return Range{1e-15, 1, 1e-2, 8};
  }
  return Range{1, 1, 1, 2};
}

}  // namespace

absl::StatusOr<Guarantee> AnswerCalibration(
    const Question& question,
    absl::FunctionRef<absl::StatusOr<Guarantee>(const Question&)> epsilon_of) {
  const Calibrate& wanted = std::get<Calibrate>(question.query);
  if (question.events.empty()) {
    return OutOfDomain("events", "no events", "at least 1 to calibrate");
  }
  const Range range = RangeOf(wanted.variable);
  const bool counting = wanted.variable == Variable::kCount;
  if (!WithValue(question, wanted, range.start).has_value()) {
    return OutOfDomain("events[0].event",
                       "an event without the parameter that query.calibrate.variable names",
                       "one that has it");
  }
  absl::Status failure;
  std::optional<Guarantee> best;
  double best_value = 0;
  // epsilon - wanted; remembers the answer nearest to the edge on the safe side.
  const auto excess = [&](double value) {
    absl::StatusOr<Guarantee> answer = epsilon_of(*WithValue(question, wanted, value));
    if (!answer.ok() || !answer->upper.has_value()) {
      if (failure.ok()) {
        failure = answer.ok() ? absl::InternalError("an epsilon without an upper bound")
                              : answer.status();
      }
      return kInfinity;
    }
    const double over = *answer->upper - wanted.epsilon;
    const bool nearer = range.safest < range.riskiest ? value > best_value : value < best_value;
    if (*answer->upper <= wanted.epsilon && (!best.has_value() || nearer)) {
      best = *std::move(answer);
      best_value = value;
    }
    return over;
  };
  // Outwards from the start, by growing factors, to one value that is enough and one that is not.
  double holds = range.safest;
  double fails = range.riskiest;
  const bool up_is_risky = range.riskiest > range.safest;
  double at = range.start;
  const auto step = [&](bool towards_risk, double factor) {
    const double next = towards_risk == up_is_risky ? at * factor : at / factor;
    if (towards_risk ? (next >= range.riskiest) == up_is_risky
                     : (next <= range.safest) == up_is_risky) {
      return towards_risk ? range.riskiest : range.safest;
    }
    return counting ? std::floor(next) : next;
  };
  const bool start_holds = excess(at) <= 0;
  (start_holds ? holds : fails) = at;
  for (double factor = range.factor; failure.ok(); factor = std::min(factor * factor, 1e32)) {
    if (at == (start_holds ? range.riskiest : range.safest)) break;
    at = step(start_holds, factor);
    const bool now_holds = excess(at) <= 0;
    (now_holds ? holds : fails) = at;
    if (now_holds != start_holds) break;
  }
  if (!failure.ok()) return failure;
  if (!best.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "query.calibrate: no value of the parameter in [",
        FormatDouble(std::min(range.safest, range.riskiest)), ", ",
        FormatDouble(std::max(range.safest, range.riskiest)), "] spends at most epsilon ",
        FormatDouble(wanted.epsilon), " at delta ", FormatDouble(wanted.delta)));
  }
  if (best_value != range.riskiest) {
    if (counting) {
      while (fails - holds > 1 && failure.ok()) {
        const double middle = std::floor(0.5 * (holds + fails));
        (excess(middle) <= 0 ? holds : fails) = middle;
      }
    } else {
      // In logarithms; what counts is the value that excess was called with.
      NarrowCrossing([&](double log_value) { return excess(std::exp(log_value)); }, std::log(holds),
                     std::log(fails), kTolerance);
    }
    if (!failure.ok()) return failure;
  }
  best->value = best_value;
  return *best;
}

}  // namespace epsledger::accounting
