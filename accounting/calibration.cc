#include "accounting/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/validation.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

using Variable = Calibrate::Variable;

// The range of the fit does not matter where mu is exact.
constexpr double kSmallestTypeOneError = 1e-9;

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

// Returns `event` with the outermost parameter of that kind set to `value`; nullopt if it has none.
// In a composition only the first part is searched.
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
        if constexpr (std::is_same_v<Event, DiscreteGaussian>) {
          if (variable == Variable::kNoiseMultiplier) {
            changed.sigma = value;
            return MechanismEvent(std::move(changed));
          }
        }
        if constexpr (std::is_same_v<Event, DiscreteLaplace>) {
          if (variable == Variable::kNoiseMultiplier) {
            changed.noise_parameter = value;
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
          if (kind.events.empty()) return std::nullopt;
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

// True if the noise that With sets is that of a discreteLaplace, whose parameter is an inverse
// scale.
bool SetsInverseScale(const MechanismEvent& event) {
  return std::visit(
      [&](const auto& kind) {
        using Event = std::decay_t<decltype(kind)>;
        if constexpr (HasNoiseMultiplier<Event>) {
          return false;
        } else if constexpr (std::is_same_v<Event, DiscreteLaplace>) {
          return true;
        } else if constexpr (HasInnerEvent<Event>) {
          return SetsInverseScale(*kind.event);
        } else if constexpr (std::is_same_v<Event, Composed>) {
          return !kind.events.empty() && SetsInverseScale(*kind.events.front().event);
        } else {
          return false;
        }
      },
      event.kind());
}

// Returns the question "what is spent" with the parameter set; nullopt if events[0] has no such
// parameter.
std::optional<Question> WithValue(const Question& question, const Calibrate& wanted, double value) {
  Question changed = question;
  if (wanted.mu.has_value()) {
    changed.query = GaussianDpMu{kSmallestTypeOneError};
  } else if (wanted.operating_point.has_value()) {
    changed.query = TypeTwoErrorAt{wanted.operating_point->false_positive_rate};
  } else {
    changed.query = EpsilonAtDelta::FromDelta(wanted.delta);
  }
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

double WantedOf(const Calibrate& wanted) {
  if (wanted.mu.has_value()) return *wanted.mu;
  if (wanted.operating_point.has_value()) return wanted.operating_point->true_positive_rate;
  return wanted.epsilon;
}

std::string DescribeWanted(const Calibrate& wanted) {
  if (wanted.mu.has_value()) return absl::StrCat("mu ", FormatDouble(*wanted.mu));
  if (wanted.operating_point.has_value()) {
    return absl::StrCat(
        "a true positive rate of ", FormatDouble(wanted.operating_point->true_positive_rate),
        " at a false positive rate of ", FormatDouble(wanted.operating_point->false_positive_rate));
  }
  return absl::StrCat("epsilon ", FormatDouble(wanted.epsilon), " at delta ",
                      FormatDouble(wanted.delta));
}

struct Range {
  double safest;  // the value that spends least
  double riskiest;
  double start;
  double factor;  // of one step of the bracketing
};

Range RangeOf(Variable variable, const MechanismEvent& event) {
  switch (variable) {
    case Variable::kNoiseMultiplier:
      if (SetsInverseScale(event)) return Range{1e-300, 1e9, 1, 4};
      return Range{1e300, 1e-9, 1, 4};
    case Variable::kCount:
      return Range{1, static_cast<double>(kMaxEventCount), 64, 16};
    case Variable::kSamplingProbability:
      return Range{1e-15, 1, 1e-2, 8};
  }
  return Range{1, 1, 1, 2};
}

// One calibration. The search variable u is the logarithm of the value, signed so that a larger u
// spends more.
class Search {
 public:
  Search(const Question& question,
         absl::FunctionRef<absl::StatusOr<Guarantee>(const Question&)> answer_of)
      : question_(question),
        wanted_(std::get<Calibrate>(question.query)),
        answer_of_(answer_of),
        range_(RangeOf(wanted_.variable, *question.events[0].event)),
        counting_(wanted_.variable == Variable::kCount),
        up_is_risky_(range_.riskiest > range_.safest),
        relative_width_(std::max(question.relative_width, kCoarseWidth)) {}

  absl::StatusOr<Guarantee> Run() {
    if (!WithValue(question_, wanted_, range_.start).has_value()) {
      return OutOfDomain("events[0].event",
                         "an event without the parameter that query.calibrate.variable names",
                         "one that has it");
    }
    Bracket();
    if (!failure_.ok()) return failure_;
    if (!best_.has_value()) {
      // A coarse "yes" is certain; a coarse "no" is only approximate.
      Refine();
      Note(range_.safest);
      if (!failure_.ok()) return failure_;
      if (!best_.has_value()) return NoSolution();
      fails_ = range_.riskiest;
    }
    if (best_value_ != range_.riskiest) {
      Narrow(rough_ ? kCoarseTolerance : kTolerance);
      if (rough_ && failure_.ok()) NarrowAgain();
      if (counting_ && !rough_) {
        while (fails_ - holds_ > 1 && failure_.ok()) {
          Note(std::floor(0.5 * (holds_ + fails_)));
        }
      }
    }
    if (!failure_.ok()) return failure_;
    best_->value = best_value_;
    return *best_;
  }

 private:
  // The width of most of the search under an accountant that answers to a width.
  static constexpr double kCoarseWidth = 0.03;
  static constexpr double kCoarseTolerance = 0.03;
  static constexpr double kTolerance = 1e-10;
  // Bounds wider than this come from such an accountant.
  static constexpr double kRoughWidth = 1e-8;

  double LogOf(double value) const { return up_is_risky_ ? std::log(value) : -std::log(value); }
  double ValueAt(double u) const {
    const double value = std::exp(up_is_risky_ ? u : -u);
    const double low = std::min(range_.safest, range_.riskiest);
    const double high = std::max(range_.safest, range_.riskiest);
    return std::clamp(counting_ ? std::floor(value) : value, low, high);
  }

  // Returns log(spent / wanted) where that is a number; at most 0 exactly where spent <= wanted.
  // Remembers the answer nearest to the edge on the safe side.
  double Excess(double value) {
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    Question question = *WithValue(question_, wanted_, value);
    question.relative_width = relative_width_;
    absl::StatusOr<Guarantee> answer = answer_of_(question);
    std::optional<double> spent;
    if (answer.ok()) {
      if (wanted_.operating_point.has_value()) {
        if (answer->lower.has_value() || answer->kind == GuaranteeKind::kApproximation) {
          spent = std::min(1.0, RoundUpNonNegative(1 - answer->lower.value_or(*answer->upper)));
          answer->upper = spent;
          answer->lower.reset();
        }
      } else {
        spent = answer->upper;
      }
      const bool said = question_.accountant == Accountant::kClt ||
                        question_.accountant == Accountant::kMomentsAsPublished;
      if (answer->kind == GuaranteeKind::kApproximation && !said) {
        answer = absl::UnimplementedError(absl::StrCat(
            "query.calibrate: the ", std::string(Name(answer->accountant)),
            " accountant knows an approximation only, which cannot be on the safe side"));
      }
    }
    if (!answer.ok() || !spent.has_value()) {
      if (failure_.ok()) {
        failure_ =
            answer.ok() ? absl::InternalError("an answer without an upper bound") : answer.status();
      }
      return kInfinity;
    }
    const bool wide = answer->lower.has_value() && std::isfinite(*spent) &&
                      *spent - *answer->lower > kRoughWidth * *spent;
    rough_ = rough_ || wide || answer->accountant == Accountant::kPld;
    const double wanted = WantedOf(wanted_);
    double excess = *spent <= wanted ? -kInfinity : kInfinity;
    if (*spent > 0 && std::isfinite(*spent) && wanted > 0) {
      const double ratio = std::log(*spent / wanted);
      excess = *spent <= wanted ? std::min(ratio, 0.0) : std::max(ratio, 1e-300);
    }
    if (*spent <= wanted &&
        (!best_.has_value() || (up_is_risky_ ? value > best_value_ : value < best_value_))) {
      best_ = *std::move(answer);
      best_value_ = value;
    }
    known_[value] = excess;
    return excess;
  }

  void Note(double value) { (Excess(value) <= 0 ? holds_ : fails_) = value; }

  // Steps outward from the start, by growing factors, until one value is enough and one is not.
  void Bracket() {
    holds_ = range_.safest;
    fails_ = range_.riskiest;
    double at = range_.start;
    const bool start_holds = Excess(at) <= 0;
    (start_holds ? holds_ : fails_) = at;
    const double end = start_holds ? range_.riskiest : range_.safest;
    for (double factor = range_.factor; failure_.ok() && at != end;
         factor = std::min(factor * factor, 1e32)) {
      const double u = LogOf(at) + (start_holds ? 1 : -1) * std::log(factor);
      const bool beyond = start_holds ? u >= LogOf(end) : u <= LogOf(end);
      at = beyond ? end : ValueAt(u);
      const bool now_holds = Excess(at) <= 0;
      (now_holds ? holds_ : fails_) = at;
      if (now_holds != start_holds) break;
    }
  }

  // Narrows until holds and fails are within `tolerance` of each other.
  void Narrow(double tolerance) {
    // The origin is moved so that a relative tolerance is an absolute one.
    const double origin = LogOf(holds_) - 1;
    const Crossing crossing = NarrowCrossing([&](double u) { return Excess(Near(u + origin)); }, 1,
                                             LogOf(fails_) - origin, tolerance, kMaxEvaluations);
    holds_ = Near(crossing.holds + origin);
    fails_ = Near(crossing.fails + origin);
  }
  // Returns ValueAt(u), or exactly holds_ or fails_ where u is that end: the answers there are
  // known.
  double Near(double u) const {
    const double slack = 1e-13 * (1 + std::abs(u));
    for (const double end : {holds_, fails_}) {
      if (std::abs(u - LogOf(end)) <= slack) return end;
    }
    return ValueAt(u);
  }

  // From here on, answers are requested at the width of the question.
  void Refine() {
    if (relative_width_ <= question_.relative_width) return;
    relative_width_ = question_.relative_width;
    known_.clear();
  }

  // Narrows a coarse bracket to a fine one: the crossing of the narrower bounds lies on the risky
  // side.
  void NarrowAgain() {
    const double slope_step = LogOf(fails_) - LogOf(holds_);
    const double rise = Excess(fails_) - Excess(holds_);
    const double slope = std::isfinite(rise) && rise > 0 && slope_step > 0 ? rise / slope_step : 1;
    const double tolerance = 0.1 * question_.relative_width;
    Refine();
    const double at_holds = Excess(holds_);
    if (!failure_.ok()) return;
    double step = std::isfinite(at_holds) ? std::abs(at_holds) / slope : kCoarseTolerance;
    step = std::max(1.1 * step, 0.5 * tolerance);
    if (counting_) step = std::max(step, 1.5 / holds_);
    double from = LogOf(holds_);
    const bool up = at_holds <= 0;
    if (!up) fails_ = holds_;
    // Steps towards the edge, doubling the step.
    for (int i = 0; i < kMaxEvaluations && failure_.ok(); ++i, step *= 2) {
      const double end = up ? range_.riskiest : range_.safest;
      const double u = from + (up ? step : -step);
      const double value = (up ? u >= LogOf(end) : u <= LogOf(end)) ? end : ValueAt(u);
      const bool now_holds = Excess(value) <= 0;
      if (now_holds) {
        holds_ = value;
        if (up && value == end) return;
      } else {
        fails_ = value;
        if (!up && value == end) return;  // the coarse answer remains
      }
      if (now_holds != up) break;
      from = LogOf(value);
    }
    if (failure_.ok()) Narrow(tolerance);
  }

  absl::Status NoSolution() const {
    return absl::FailedPreconditionError(
        absl::StrCat("query.calibrate: no value of the parameter in [",
                     FormatDouble(std::min(range_.safest, range_.riskiest)), ", ",
                     FormatDouble(std::max(range_.safest, range_.riskiest)), "] spends at most ",
                     DescribeWanted(wanted_)));
  }

  static constexpr int kMaxEvaluations = 100;

  const Question& question_;
  const Calibrate& wanted_;
  const absl::FunctionRef<absl::StatusOr<Guarantee>(const Question&)> answer_of_;
  const Range range_;
  const bool counting_;
  const bool up_is_risky_;
  double relative_width_;
  bool rough_ = false;
  double holds_ = 0;
  double fails_ = 0;
  std::map<double, double> known_;
  absl::Status failure_;
  std::optional<Guarantee> best_;
  double best_value_ = 0;
};

}  // namespace

absl::StatusOr<Guarantee> AnswerCalibration(
    const Question& question,
    absl::FunctionRef<absl::StatusOr<Guarantee>(const Question&)> answer_of) {
  if (question.events.empty()) {
    return OutOfDomain("events", "no events", "at least 1 to calibrate");
  }
  return Search(question, answer_of).Run();
}

}  // namespace epsledger::accounting
