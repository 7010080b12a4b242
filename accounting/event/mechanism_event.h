#ifndef EPSLEDGER_ACCOUNTING_EVENT_MECHANISM_EVENT_H_
#define EPSLEDGER_ACCOUNTING_EVENT_MECHANISM_EVENT_H_

// Mechanism events: immutable values, each of which fully defines the mathematics of one release.
//
// Every event is a plain struct with
//   kTag        its number in stored ledgers and its field number in MechanismEvent of
//               proto/epsledger/v1/mechanism.proto: never reuse or renumber,
//   kName       its snake_case field name there,
//   Fields(s,v) calls v("field_name", s.field) for every field in the order of the proto.
// Encoding, conversion, comparison and description are written once over Fields, so a new event
// needs only one struct here, its validation, and its mathematics.
//
// Nothing here is valid by construction: call Validate (accounting/event/validation.h) on events
// that come from outside.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "accounting/event/matrix_mechanism.h"

namespace epsledger::accounting {

class MechanismEvent;

// An event inside an event: an immutable value, shared rather than copied. Null only in an event
// that was not filled in; Validate refuses such an event.
class NestedEvent {
 public:
  NestedEvent() = default;
  NestedEvent(MechanismEvent event);  // NOLINT: an event is a nested event wherever one is wanted
  bool has_value() const { return event_ != nullptr; }
  // REQUIRES: has_value().
  const MechanismEvent& operator*() const { return *event_; }
  const MechanismEvent* operator->() const { return event_.get(); }

 private:
  std::shared_ptr<const MechanismEvent> event_;
};

// `count` uses of `event` in sequence, parameters fixed. count >= 1.
struct CountedEvent {
  NestedEvent event;
  int64_t count = 1;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("event", s.event);
    v("count", s.count);
  }
};

// Adds N(0, (noise_multiplier * contribution)^2) to a sum whose records contribute norm <=
// contribution. noise_multiplier in [0, inf); 0, here and below, is no privacy: every epsilon is
// +inf.
struct Gaussian {
  static constexpr uint8_t kTag = 1;
  static constexpr const char* kName = "gaussian";
  double noise_multiplier = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_multiplier", s.noise_multiplier);
  }
};

// Laplace noise of scale noise_multiplier * contribution (L1). noise_multiplier in [0, inf).
struct Laplace {
  static constexpr uint8_t kTag = 2;
  static constexpr const char* kName = "laplace";
  double noise_multiplier = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_multiplier", s.noise_multiplier);
  }
};

// Discrete Gaussian with parameter sigma >= 0 on an integer query of integer sensitivity >= 1.
struct DiscreteGaussian {
  static constexpr uint8_t kTag = 3;
  static constexpr const char* kName = "discrete_gaussian";
  double sigma = 0;
  int64_t sensitivity = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("sigma", s.sigma);
    v("sensitivity", s.sensitivity);
  }
};

// Discrete Laplace: P[k] proportional to exp(-noise_parameter |k|). noise_parameter > 0.
struct DiscreteLaplace {
  static constexpr uint8_t kTag = 4;
  static constexpr const char* kName = "discrete_laplace";
  double noise_parameter = 0;
  int64_t sensitivity = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_parameter", s.noise_parameter);
    v("sensitivity", s.sensitivity);
  }
};

// Answers, with probability noise_parameter in [0, 1), a uniform one of num_buckets >= 2 values,
// otherwise the true value. Under replace-special "nothing" is answered by a uniform one.
struct RandomizedResponse {
  static constexpr uint8_t kTag = 5;
  static constexpr const char* kName = "randomized_response";
  double noise_parameter = 0;
  int64_t num_buckets = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_parameter", s.noise_parameter);
    v("num_buckets", s.num_buckets);
  }
};

// The exponential mechanism as an epsilon-bounded-range mechanism. epsilon >= 0.
struct ExponentialMechanism {
  static constexpr uint8_t kTag = 6;
  static constexpr const char* kName = "exponential_mechanism";
  double epsilon = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

// Permute-and-flip, epsilon-DP. epsilon >= 0.
struct PermuteAndFlip {
  static constexpr uint8_t kTag = 7;
  static constexpr const char* kName = "permute_and_flip";
  double epsilon = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

// Any (epsilon, 0)-DP mechanism. epsilon >= 0.
struct PureDp {
  static constexpr uint8_t kTag = 8;
  static constexpr const char* kName = "pure_dp";
  double epsilon = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
  }
};

// Any (epsilon, delta)-DP mechanism. epsilon >= 0, delta in [0, 1].
struct ApproximateDp {
  static constexpr uint8_t kTag = 9;
  static constexpr const char* kName = "approximate_dp";
  double epsilon = 0;
  double delta = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
    v("delta", s.delta);
  }
};

// Any (xi, rho)-zCDP mechanism: D_a <= xi + rho a for every a > 1. rho >= 0, xi >= 0.
struct Zcdp {
  static constexpr uint8_t kTag = 10;
  static constexpr const char* kName = "zcdp";
  double rho = 0;
  double xi = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("rho", s.rho);
    v("xi", s.xi);
  }
};

// Any mu-GDP mechanism. mu >= 0.
struct GaussianDp {
  static constexpr uint8_t kTag = 11;
  static constexpr const char* kName = "gaussian_dp";
  double mu = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("mu", s.mu);
  }
};

// Any mechanism with D_{orders[i]} <= divergences[i]. Orders > 1, strictly increasing.
struct RenyiCurve {
  static constexpr uint8_t kTag = 12;
  static constexpr const char* kName = "renyi_curve";
  std::vector<double> orders;
  std::vector<double> divergences;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("orders", s.orders);
    v("divergences", s.divergences);
  }
};

// Any mechanism whose trade-off function is at least the linear interpolation of the points.
struct TradeOffCurve {
  static constexpr uint8_t kTag = 13;
  static constexpr const char* kName = "trade_off_curve";
  std::vector<double> type_one;
  std::vector<double> type_two;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("type_one", s.type_one);
    v("type_two", s.type_two);
  }
};

// A Gaussian release in which one record moves the mean by sensitivities[i] (in contributions)
// with probability probabilities[i].
struct MixtureOfGaussians {
  static constexpr uint8_t kTag = 14;
  static constexpr const char* kName = "mixture_of_gaussians";
  double noise_multiplier = 0;
  std::vector<double> sensitivities;
  std::vector<double> probabilities;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_multiplier", s.noise_multiplier);
    v("sensitivities", s.sensitivities);
    v("probabilities", s.probabilities);
  }
};

// `event` on a sample that holds each record independently with sampling_probability in [0, 1]. 0:
// nothing is released.
struct PoissonSampled {
  static constexpr uint8_t kTag = 15;
  static constexpr const char* kName = "poisson_sampled";
  double sampling_probability = 0;
  NestedEvent event;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("sampling_probability", s.sampling_probability);
    v("event", s.event);
  }
};

// `event` on a Poisson sample of dataset_size records; of a larger sample a uniformly random
// max_batch_size records are kept.
struct TruncatedPoissonSampled {
  static constexpr uint8_t kTag = 16;
  static constexpr const char* kName = "truncated_poisson_sampled";
  double sampling_probability = 0;
  int64_t max_batch_size = 0;
  int64_t dataset_size = 0;
  NestedEvent event;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("sampling_probability", s.sampling_probability);
    v("max_batch_size", s.max_batch_size);
    v("dataset_size", s.dataset_size);
    v("event", s.event);
  }
};

// `event` on a uniform subset of sample_size out of dataset_size records.
struct SampledWithoutReplacement {
  static constexpr uint8_t kTag = 17;
  static constexpr const char* kName = "sampled_without_replacement";
  int64_t dataset_size = 0;
  int64_t sample_size = 0;
  NestedEvent event;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("dataset_size", s.dataset_size);
    v("sample_size", s.sample_size);
    v("event", s.event);
  }
};

// `event` on sample_size independent uniform draws from dataset_size records.
struct SampledWithReplacement {
  static constexpr uint8_t kTag = 18;
  static constexpr const char* kName = "sampled_with_replacement";
  int64_t dataset_size = 0;
  int64_t sample_size = 0;
  NestedEvent event;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("dataset_size", s.dataset_size);
    v("sample_size", s.sample_size);
    v("event", s.event);
  }
};

// `rounds` uses of `event`; each record takes part in `selected` of them, chosen uniformly at
// random.
struct RandomAllocation {
  static constexpr uint8_t kTag = 19;
  static constexpr const char* kName = "random_allocation";
  int64_t rounds = 0;
  int64_t selected = 0;
  NestedEvent event;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("rounds", s.rounds);
    v("selected", s.selected);
    v("event", s.event);
  }
};

// The sequence of its parts, each on the same data. Without parts nothing is released.
struct Composed {
  static constexpr uint8_t kTag = 20;
  static constexpr const char* kName = "composed";
  std::vector<CountedEvent> events;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("events", s.events);
  }
};

// `count` uses of `event`.
struct SelfComposed {
  static constexpr uint8_t kTag = 21;
  static constexpr const char* kName = "self_composed";
  NestedEvent event;
  int64_t count = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("event", s.event);
    v("count", s.count);
  }
};

// Gaussian sums of the complete dyadic blocks of step_count leaves, each record in at most one.
struct TreeAggregation {
  static constexpr uint8_t kTag = 22;
  static constexpr const char* kName = "tree_aggregation";
  double noise_multiplier = 0;
  int64_t step_count = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_multiplier", s.noise_multiplier);
    v("step_count", s.step_count);
  }
};

// Banded matrix factorization with unit column norms under b-cyclic Poisson sampling.
struct BandedMatrixFactorization {
  static constexpr uint8_t kTag = 23;
  static constexpr const char* kName = "banded_matrix_factorization";
  double noise_multiplier = 0;
  int64_t bands = 0;
  int64_t iterations = 0;
  double sampling_probability = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_multiplier", s.noise_multiplier);
    v("bands", s.bands);
    v("iterations", s.iterations);
    v("sampling_probability", s.sampling_probability);
  }
};

// Private selection: `event` is run a random number of times (truncated negative binomial with
// `mean` and `shape`, Papernot and Steinke 2022; Poisson with `mean` for the shape +inf) and the
// best outcome is released.
struct RepeatAndSelect {
  static constexpr uint8_t kTag = 24;
  static constexpr const char* kName = "repeat_and_select";
  NestedEvent event;
  double mean = 0;
  double shape = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("event", s.event);
    v("mean", s.mean);
    v("shape", s.shape);
  }
};

// A claim that is taken as (epsilon, delta)-DP without proof. Every guarantee that contains one is
// marked (contains_unverified_claim).
struct UnverifiedClaim {
  static constexpr uint8_t kTag = 25;
  static constexpr const char* kName = "unverified_claim";
  double epsilon = 0;
  double delta = 0;
  std::string citation;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
    v("delta", s.delta);
    v("citation", s.citation);
  }
};

// A release without privacy: every epsilon is +inf and every delta is 1 from here on.
struct NonPrivate {
  static constexpr uint8_t kTag = 26;
  static constexpr const char* kName = "non_private";
  std::string reason;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("reason", s.reason);
  }
};

// Any mechanism that is dominated by the pair (P, Q) of laws on finitely many outcomes
// (finite_pair.h): first_probabilities are P, "with", second_probabilities are Q, "without"; under
// replace-one each use counts in its worse order.
struct DominatingPair {
  static constexpr uint8_t kTag = 27;
  static constexpr const char* kName = "dominating_pair";
  std::vector<double> first_probabilities;
  std::vector<double> second_probabilities;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("first_probabilities", s.first_probabilities);
    v("second_probabilities", s.second_probabilities);
  }
};

// The law of the noise of an event that exists with several. Numbers as in
// proto/epsledger/v1/mechanism.proto, stored in ledgers: never renumber.
enum class Noise : uint8_t { kLaplace = 1, kExponential = 2, kGumbel = 3, kGaussian = 4 };

// "LAPLACE", "EXPONENTIAL", ...; "KIND_UNSPECIFIED" for 0 and the number for any other value.
std::string NoiseName(Noise noise);

// The index of the largest of several scores, with independent noise of scale noise_multiplier *
// contribution on each; nothing else. noise: LAPLACE, EXPONENTIAL (one-sided: permute-and-flip) or
// GUMBEL (the exponential mechanism). monotonic: adding a record never lowers a score, or for all
// records never raises one.
struct ReportNoisyMax {
  static constexpr uint8_t kTag = 30;
  static constexpr const char* kName = "report_noisy_max";
  Noise noise{};
  double noise_multiplier = 0;
  bool monotonic = false;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise", s.noise);
    v("noise_multiplier", s.noise_multiplier);
    v("monotonic", s.monotonic);
  }
};

// The sparse vector technique with Laplace noise: says of each query whether it is above a noisy
// threshold, until `cutoff` of them are. Any number of queries, chosen adaptively.
struct AboveThreshold {
  static constexpr uint8_t kTag = 31;
  static constexpr const char* kName = "above_threshold";
  double threshold_noise_multiplier = 0;
  double query_noise_multiplier = 0;
  int64_t cutoff = 0;
  bool monotonic = false;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("threshold_noise_multiplier", s.threshold_noise_multiplier);
    v("query_noise_multiplier", s.query_noise_multiplier);
    v("cutoff", s.cutoff);
    v("monotonic", s.monotonic);
  }
};

// Releases one partition (a key, with its noisy size if that is wanted) if its size plus noise of
// scale noise_multiplier * contribution is at least `threshold` contributions. A privacy unit
// contributes at most one contribution to the partition; a partition of no unit is never released.
// noise: LAPLACE or GAUSSIAN.
struct PartitionSelection {
  static constexpr uint8_t kTag = 32;
  static constexpr const char* kName = "partition_selection";
  Noise noise{};
  double noise_multiplier = 0;
  double threshold = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise", s.noise);
    v("noise_multiplier", s.noise_multiplier);
    v("threshold", s.threshold);
  }
};

// Releases the key of one partition with the largest probabilities that (epsilon, delta)-DP allows
// ([DVGM22]): a truncated geometric law. epsilon >= 0, delta in (0, 1].
struct TruncatedGeometricSelection {
  static constexpr uint8_t kTag = 33;
  static constexpr const char* kName = "truncated_geometric_selection";
  double epsilon = 0;
  double delta = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
    v("delta", s.delta);
  }
};

// `reports` reports, each of one record by the same local randomizer `event`, in random order.
struct Shuffled {
  static constexpr uint8_t kTag = 34;
  static constexpr const char* kName = "shuffled";
  int64_t reports = 0;
  NestedEvent event;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("reports", s.reports);
    v("event", s.event);
  }
};

// A closed sum type of the events above.
class MechanismEvent {
 public:
  using Kind =
      std::variant<Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace, RandomizedResponse,
                   ExponentialMechanism, PermuteAndFlip, PureDp, ApproximateDp, Zcdp, GaussianDp,
                   RenyiCurve, TradeOffCurve, MixtureOfGaussians, PoissonSampled,
                   TruncatedPoissonSampled, SampledWithoutReplacement, SampledWithReplacement,
                   RandomAllocation, Composed, SelfComposed, TreeAggregation,
                   BandedMatrixFactorization, RepeatAndSelect, UnverifiedClaim, NonPrivate,
                   DominatingPair, ReportNoisyMax, AboveThreshold, PartitionSelection,
                   TruncatedGeometricSelection, Shuffled, MatrixMechanism>;

  template <class Event, class = std::enable_if_t<std::is_constructible_v<Kind, Event> &&
                                                  !std::is_same_v<std::decay_t<Event>, Kind>>>
  MechanismEvent(Event event) : kind_(std::move(event)) {}  // NOLINT: an event is its kind
  explicit MechanismEvent(Kind kind);
  // Defined in one file: compiled wherever events are copied, they took much of the build's time.
  MechanismEvent(const MechanismEvent& other);
  MechanismEvent(MechanismEvent&& other) noexcept;
  MechanismEvent& operator=(const MechanismEvent& other);
  MechanismEvent& operator=(MechanismEvent&& other) noexcept;
  ~MechanismEvent();

  const Kind& kind() const { return kind_; }
  // Returns the event as `Event`, or nullptr if it is another kind.
  template <class Event>
  const Event* As() const {
    return std::get_if<Event>(&kind_);
  }

 private:
  Kind kind_;
};

inline NestedEvent::NestedEvent(MechanismEvent event)
    : event_(std::make_shared<const MechanismEvent>(std::move(event))) {}

// True if both define the same mathematics field for field (doubles by value, so 0.0 == -0.0).
// NaN equals nothing; Validate refuses it.
bool operator==(const MechanismEvent& a, const MechanismEvent& b);
inline bool operator!=(const MechanismEvent& a, const MechanismEvent& b) { return !(a == b); }

// Returns the event in the style of its proto3 JSON, in one line, with the fewest digits that read
// back as the same double: `poissonSampled{samplingProbability: 0.01, event:
// gaussian{noiseMultiplier: 1.1}}`. For messages and tables; not an interchange format.
std::string Describe(const MechanismEvent& event);

// "noise_multiplier" -> "noiseMultiplier": the proto3 JSON form that error messages name.
std::string JsonName(const char* snake_case);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_MECHANISM_EVENT_H_
