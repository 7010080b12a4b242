#include "tests/benchmark/accounting/cases.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/accountants/composition.h"
#include "accounting/answer.h"
#include "accounting/event/history.h"
#include "accounting/pld/directed_composition.h"
#include "accounting/profile/profiles_of.h"
#include "tests/benchmark/accounting/measurement.h"

namespace epsledger::accounting {
namespace {

constexpr double kDelta = 1e-5;
// "Relative width <= 1e-3" of the answer to every two-sided question.
constexpr double kWidth = 1e-3;
constexpr int kCurvePoints = 1000;
constexpr double kFalsePositiveRate = 0.01;

Question Ask(const std::vector<DpSgdSteps>& steps, Query query) {
  Question question;
  question.accountant = Accountant::kPld;
  for (const DpSgdSteps& s : steps) {
    question.events.push_back(
        CountedEvent{MechanismEvent(PoissonSampled{s.sampling_probability,
                                                   MechanismEvent(Gaussian{s.noise_multiplier})}),
                     s.count});
  }
  question.query = std::move(query);
  question.relative_width = kWidth;
  return question;
}

// Asks `repetitions` times, each from nothing: the median, and the first time, which pays for a
// cold process.
absl::StatusOr<Measurements> AskCold(const Question& question, int repetitions) {
  std::vector<double> seconds;
  absl::StatusOr<Guarantee> answer = absl::InternalError("not asked");
  for (int i = 0; i < repetitions; ++i) {
    seconds.push_back(SecondsOf([&] { answer = Answer(question); }));
    if (!answer.ok()) return answer.status();
  }
  Measurements m{{"first_seconds", seconds.front()}, {"seconds", Median(seconds)}};
  if (answer->value.has_value()) m["value"] = *answer->value;
  if (answer->upper.has_value()) m["upper"] = *answer->upper;
  if (answer->lower.has_value()) m["lower"] = *answer->lower;
  if (answer->upper.has_value() && answer->lower.has_value()) {
    const double width = *answer->upper - *answer->lower;
    // inf - inf and 0 / 0: no width can be stated, a zero answer is exact.
    m["relative_width"] = *answer->upper == 0             ? 0
                          : std::isfinite(*answer->upper) ? width / *answer->upper
                                                          : HUGE_VAL;
  }
  return m;
}

// Composes once, then adds one step and asks again, `repetitions` times. Both directions.
absl::StatusOr<Measurements> AddStepAndAsk(const DpSgdSteps& steps, int repetitions) {
  const Question question = Ask({steps}, EpsilonAtDelta::FromDelta(kDelta));
  const absl::StatusOr<DirectedProfiles> profiles =
      ProfilesOf(*question.events[0].event, Setting{}, /*group_size=*/1, Accountant::kPld);
  if (!profiles.ok()) return profiles.status();
  const auto count = static_cast<double>(steps.count);
  std::vector<DirectedComposition> directions;
  directions.emplace_back(std::vector<CountedProfile>{{profiles->remove, count}});
  directions.emplace_back(std::vector<CountedProfile>{{profiles->add, count}});
  Precision precision;
  precision.relative_width = kWidth;
  const double log_delta = std::log(kDelta);
  for (DirectedComposition& d : directions) d.Epsilon(log_delta, precision);
  std::vector<double> compose;
  std::vector<double> query;
  Bounds epsilon{0, 0};
  for (int i = 0; i < repetitions; ++i) {
    compose.push_back(SecondsOf([&] {
      for (DirectedComposition& d : directions) d.Add(0, 1);
    }));
    epsilon = Bounds{0, 0};
    query.push_back(SecondsOf([&] {
      for (DirectedComposition& d : directions) {
        const Bounds one = d.Epsilon(log_delta, precision);
        epsilon = Bounds{std::max(epsilon.lower, one.lower), std::max(epsilon.upper, one.upper)};
      }
    }));
  }
  return Measurements{{"compose_seconds", Median(compose)},
                      {"query_seconds", Median(query)},
                      {"seconds", Median(compose) + Median(query)},
                      {"lower", epsilon.lower},
                      {"upper", epsilon.upper},
                      {"relative_width", (epsilon.upper - epsilon.lower) / epsilon.upper}};
}

// Composes, then reads a curve and the true positive rate at one false positive rate.
absl::StatusOr<Measurements> DrawCurve(const std::vector<DpSgdSteps>& steps, int repetitions) {
  const Question question = Ask(steps, TypeTwoErrorAt{});
  std::vector<double> seconds;
  double widest = 0;
  Bounds true_positive_rate;
  for (int i = 0; i < repetitions; ++i) {
    absl::Status failure;
    const auto read = [&](const Composition& composition, double alpha) {
      const absl::StatusOr<Guarantee> f = composition.TypeTwoError(alpha);
      if (!f.ok()) failure.Update(f.status());
      const Bounds bounds{f.ok() ? f->lower.value_or(0) : 0,
                          f.ok() ? f->upper.value_or(1 - alpha) : 1};
      widest = std::max(widest, bounds.upper - bounds.lower);
      return bounds;
    };
    seconds.push_back(SecondsOf([&] {
      const absl::StatusOr<std::unique_ptr<Composition>> composition =
          Compose(Accountant::kPld, Flatten(question.events), Setting{}, CompositionOptions{});
      if (!composition.ok()) {
        failure = composition.status();
        return;
      }
      for (int k = 0; k < kCurvePoints; ++k) read(**composition, (k + 0.5) / kCurvePoints);
      const Bounds f = read(**composition, kFalsePositiveRate);
      true_positive_rate = Bounds{1 - f.upper, 1 - f.lower};
    }));
    if (!failure.ok()) return failure;
  }
  return Measurements{{"first_seconds", seconds.front()},
                      {"seconds", Median(seconds)},
                      {"widest", widest},
                      {"lower", true_positive_rate.lower},
                      {"upper", true_positive_rate.upper}};
}

absl::StatusOr<Measurements> WeighMemory(const Question& question) {
  absl::StatusOr<Guarantee> answer = absl::InternalError("not asked");
  const int64_t bytes = PeakGrowthOf([&] { answer = Answer(question); });
  if (!answer.ok()) return answer.status();
  if (bytes < 0) return absl::UnavailableError("the kernel does not tell the peak of memory");
  return Measurements{{"peak_bytes", static_cast<double>(bytes)}};
}

std::string NameOf(const std::string& query, const std::vector<DpSgdSteps>& steps) {
  return absl::StrCat(query, "/", steps[0].sampling_probability, "/", steps[0].noise_multiplier,
                      "/", steps[0].count);
}

// Steps whose noise differs from one event to the next: nothing can be shared between them.
std::vector<DpSgdSteps> DistinctEvents() {
  std::vector<DpSgdSteps> steps;
  for (int i = 0; i < 1000; ++i) steps.push_back({0.01, 1 + 0.001 * i, 10});
  return steps;
}

}  // namespace

std::vector<Case> AllCases() {
  // The setting of Abadi et al. (2016) with less noise; one of small batches; MNIST with batches of
  // 256 for 60 epochs.
  const std::vector<DpSgdSteps> abadi = {{0.01, 1, 10'000}};
  const std::vector<DpSgdSteps> small_batches = {{0.001, 0.8, 100'000}};
  const std::vector<DpSgdSteps> mnist = {{0.0042667, 1.1, 14'062}};
  std::vector<Case> cases;
  const auto add = [&](std::string query, std::string name, std::vector<DpSgdSteps> steps,
                       double delta, double epsilon, Measurements targets, auto measure) {
    cases.push_back(Case{std::move(query), std::move(name), std::move(steps), delta, epsilon,
                         std::move(targets), std::move(measure)});
  };
  for (const auto& steps : {abadi, small_batches, mnist}) {
    add("epsilon", NameOf("epsilon", steps), steps, kDelta, 0,
        {{"seconds", 10e-3}, {"relative_width", kWidth}}, [steps](int repetitions) {
          return AskCold(Ask(steps, EpsilonAtDelta::FromDelta(kDelta)), repetitions);
        });
  }
  for (const auto& steps : {abadi, small_batches, mnist}) {
    add("one_more_step", NameOf("one_more_step", steps), steps, kDelta, 0,
        {{"compose_seconds", 50e-6}, {"query_seconds", 1e-3}, {"relative_width", kWidth}},
        [steps](int repetitions) { return AddStepAndAsk(steps[0], repetitions); });
  }
  for (const auto& [steps, epsilon] :
       {std::pair(abadi, 6.0), std::pair(small_batches, 2.5), std::pair(mnist, 2.4)}) {
    add("delta", NameOf("delta", steps), steps, 0, epsilon,
        {{"seconds", 10e-3}, {"relative_width", kWidth}},
        [question = Ask(steps, DeltaAtEpsilon{epsilon})](int repetitions) {
          return AskCold(question, repetitions);
        });
  }
  add("distinct_events", "distinct_events", DistinctEvents(), kDelta, 0,
      {{"seconds", 100e-3}, {"relative_width", kWidth}}, [](int repetitions) {
        return AskCold(Ask(DistinctEvents(), EpsilonAtDelta::FromDelta(kDelta)), repetitions);
      });
  add("trade_off_curve", "trade_off_curve", abadi, 0, 0, {{"seconds", 5e-3}},
      [abadi](int repetitions) { return DrawCurve(abadi, repetitions); });
  add("trade_off_point", "trade_off_point", abadi, 0, 0, {}, [abadi](int repetitions) {
    return AskCold(Ask(abadi, TypeTwoErrorAt{kFalsePositiveRate}), repetitions);
  });
  add("calibration", "calibration", abadi, kDelta, 3, {{"seconds", 20e-3}},
      [abadi](int repetitions) {
        return AskCold(Ask(abadi, Calibrate{3, kDelta, Calibrate::Variable::kNoiseMultiplier}),
                       repetitions);
      });
  for (const auto& steps : {abadi, small_batches, mnist}) {
    add("peak_memory", NameOf("peak_memory", steps), steps, kDelta, 0, {{"peak_bytes", 32e6}},
        [steps](int) { return WeighMemory(Ask(steps, EpsilonAtDelta::FromDelta(kDelta))); });
  }
  for (const auto& steps : {abadi, small_batches}) {
    for (const double delta : {0.5, 1e-5, 1e-10, 1e-12, 1e-15, 1e-20, 1e-30, 1e-100}) {
      add("delta_range", absl::StrCat(NameOf("delta_range", steps), "/", delta), steps, delta, 0,
          {{"relative_width", kWidth}}, [steps, delta](int repetitions) {
            return AskCold(Ask(steps, EpsilonAtDelta::FromDelta(delta)), repetitions);
          });
    }
  }
  return cases;
}

}  // namespace epsledger::accounting
