#include "accounting/event/validation.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/finite_pair.h"
#include "accounting/event/status_macros.h"

namespace epsledger::accounting {
namespace {

// A sum of probabilities within this distance of 1 counts as 1: 10,000 terms of a correctly rounded
// table.
constexpr double kProbabilitySumTolerance = 1e-9;

constexpr double kLargestMatrixEntry = 1e30;  // squares and their sums stay finite
constexpr Interval kMatrixEntry{-kLargestMatrixEntry, kLargestMatrixEntry, true, true};

// Walks one event. Counts events over the whole walk and stops at the first violation, so that the
// cost is bounded even for an event that shares parts.
class Validator {
 public:
  absl::Status Check(const NestedEvent& event, const std::string& path, int depth) {
    if (!event.has_value()) return OutOfDomain(path, "nothing", "a mechanism event");
    return Check(*event, path, depth);
  }

  absl::Status Check(const MechanismEvent& event, const std::string& path, int depth) {
    if (depth > kMaxEventDepth) {
      return OutOfDomain(path, absl::StrCat(depth, " events inside each other"),
                         absl::StrCat("at most ", kMaxEventDepth));
    }
    if (++nodes_ > kMaxEventNodes) {
      return OutOfDomain(path, absl::StrCat("more than ", kMaxEventNodes, " events in one"),
                         absl::StrCat("at most ", kMaxEventNodes));
    }
    return std::visit(
        [&](const auto& kind) {
          const std::string at =
              absl::StrCat(path, ".", JsonName(std::decay_t<decltype(kind)>::kName));
          return CheckKind(kind, at, depth);
        },
        event.kind());
  }

  absl::Status Check(const CountedEvent& event, const std::string& path, int depth) {
    RETURN_IF_ERROR(CheckRange(path + ".count", event.count, 1, kMaxEventCount));
    return Check(event.event, path + ".event", depth);
  }

 private:
  absl::Status CheckKind(const Gaussian& e, const std::string& at, int) {
    return CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kNonNegative);
  }
  absl::Status CheckKind(const Laplace& e, const std::string& at, int) {
    return CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kNonNegative);
  }
  absl::Status CheckKind(const DiscreteGaussian& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".sigma", e.sigma, kNonNegative));
    return CheckRange(at + ".sensitivity", e.sensitivity, 1, kMaxEventCount);
  }
  absl::Status CheckKind(const DiscreteLaplace& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".noiseParameter", e.noise_parameter, kPositive));
    return CheckRange(at + ".sensitivity", e.sensitivity, 1, kMaxEventCount);
  }
  absl::Status CheckKind(const RandomizedResponse& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".noiseParameter", e.noise_parameter, kShareBelowOne));
    return CheckRange(at + ".numBuckets", e.num_buckets, 2, kMaxEventCount);
  }
  absl::Status CheckKind(const ExponentialMechanism& e, const std::string& at, int) {
    return CheckInterval(at + ".epsilon", e.epsilon, kNonNegative);
  }
  absl::Status CheckKind(const PermuteAndFlip& e, const std::string& at, int) {
    return CheckInterval(at + ".epsilon", e.epsilon, kNonNegative);
  }
  absl::Status CheckKind(const PureDp& e, const std::string& at, int) {
    return CheckInterval(at + ".epsilon", e.epsilon, kNonNegative);
  }
  absl::Status CheckKind(const ApproximateDp& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".epsilon", e.epsilon, kNonNegative));
    return CheckInterval(at + ".delta", e.delta, kProbability);
  }
  absl::Status CheckKind(const Zcdp& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".rho", e.rho, kNonNegative));
    return CheckInterval(at + ".xi", e.xi, kNonNegative);
  }
  absl::Status CheckKind(const GaussianDp& e, const std::string& at, int) {
    return CheckInterval(at + ".mu", e.mu, kNonNegative);
  }

  // Checks that the two columns of one table have equal length, with `least` to kMaxCurvePoints
  // rows.
  absl::Status CheckColumns(const std::string& first, size_t first_size, const std::string& second,
                            size_t second_size, int64_t least) {
    const int64_t size = static_cast<int64_t>(first_size);
    if (size < least || size > kMaxCurvePoints) {
      return OutOfDomain(first, absl::StrCat(size, " points"),
                         absl::StrCat(least, " to ", kMaxCurvePoints, " points"));
    }
    if (first_size != second_size) {
      return OutOfDomain(second, absl::StrCat(second_size, " points"),
                         absl::StrCat(first_size, ", one for each of ", first));
    }
    return absl::OkStatus();
  }
  absl::Status CheckIncreasing(const std::string& field, const std::vector<double>& values) {
    for (size_t i = 1; i < values.size(); ++i) {
      if (!(values[i] > values[i - 1])) {
        return OutOfDomain(
            absl::StrCat(field, "[", i, "]"), FormatDouble(values[i]),
            absl::StrCat("more than ", FormatDouble(values[i - 1]), ", the one before"));
      }
    }
    return absl::OkStatus();
  }
  absl::Status CheckEach(const std::string& field, const std::vector<double>& values,
                         const Interval& domain) {
    for (size_t i = 0; i < values.size(); ++i) {
      RETURN_IF_ERROR(CheckInterval(absl::StrCat(field, "[", i, "]"), values[i], domain));
    }
    return absl::OkStatus();
  }

  absl::Status CheckKind(const RenyiCurve& e, const std::string& at, int) {
    const std::string orders = at + ".orders", divergences = at + ".divergences";
    RETURN_IF_ERROR(CheckColumns(orders, e.orders.size(), divergences, e.divergences.size(), 1));
    RETURN_IF_ERROR(CheckEach(orders, e.orders, kRenyiOrder));
    RETURN_IF_ERROR(CheckIncreasing(orders, e.orders));
    return CheckEach(divergences, e.divergences, kNonNegative);
  }
  absl::Status CheckKind(const TradeOffCurve& e, const std::string& at, int) {
    const std::string one = at + ".typeOne", two = at + ".typeTwo";
    RETURN_IF_ERROR(CheckColumns(one, e.type_one.size(), two, e.type_two.size(), 2));
    RETURN_IF_ERROR(CheckEach(one, e.type_one, kProbability));
    RETURN_IF_ERROR(CheckEach(two, e.type_two, kProbability));
    RETURN_IF_ERROR(CheckIncreasing(one, e.type_one));
    if (e.type_one.front() != 0) {
      return OutOfDomain(one + "[0]", FormatDouble(e.type_one.front()), "0");
    }
    if (e.type_one.back() != 1) {
      return OutOfDomain(absl::StrCat(one, "[", e.type_one.size() - 1, "]"),
                         FormatDouble(e.type_one.back()), "1");
    }
    for (size_t i = 0; i < e.type_two.size(); ++i) {
      const std::string field = absl::StrCat(two, "[", i, "]");
      // A trade-off function is at most 1 - x: no mechanism has a curve above it.
      RETURN_IF_ERROR(
          CheckInterval(field, e.type_two[i], Interval{0, 1 - e.type_one[i], true, true}));
      if (i > 0 && e.type_two[i] > e.type_two[i - 1]) {
        return OutOfDomain(
            field, FormatDouble(e.type_two[i]),
            absl::StrCat("at most ", FormatDouble(e.type_two[i - 1]), ", the one before"));
      }
    }
    return absl::OkStatus();
  }
  absl::Status CheckKind(const MixtureOfGaussians& e, const std::string& at, int) {
    const std::string sensitivities = at + ".sensitivities";
    const std::string probabilities = at + ".probabilities";
    RETURN_IF_ERROR(CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kNonNegative));
    RETURN_IF_ERROR(CheckColumns(sensitivities, e.sensitivities.size(), probabilities,
                                 e.probabilities.size(), 1));
    RETURN_IF_ERROR(CheckEach(sensitivities, e.sensitivities, kNonNegative));
    RETURN_IF_ERROR(CheckEach(probabilities, e.probabilities, kProbability));
    double sum = 0;
    for (const double p : e.probabilities) sum += p;
    if (std::abs(sum - 1) > kProbabilitySumTolerance) {
      return OutOfDomain(probabilities, absl::StrCat("a sum of ", FormatDouble(sum)), "a sum of 1");
    }
    return absl::OkStatus();
  }

  absl::Status CheckKind(const PoissonSampled& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(
        CheckInterval(at + ".samplingProbability", e.sampling_probability, kProbability));
    return Check(e.event, at + ".event", depth + 1);
  }
  absl::Status CheckKind(const TruncatedPoissonSampled& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(
        CheckInterval(at + ".samplingProbability", e.sampling_probability, kProbability));
    RETURN_IF_ERROR(CheckRange(at + ".maxBatchSize", e.max_batch_size, 1, kMaxEventCount));
    RETURN_IF_ERROR(CheckRange(at + ".datasetSize", e.dataset_size, 1, kMaxEventCount));
    return Check(e.event, at + ".event", depth + 1);
  }
  absl::Status CheckKind(const SampledWithoutReplacement& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(CheckRange(at + ".datasetSize", e.dataset_size, 1, kMaxEventCount));
    RETURN_IF_ERROR(CheckRange(at + ".sampleSize", e.sample_size, 1, e.dataset_size));
    return Check(e.event, at + ".event", depth + 1);
  }
  absl::Status CheckKind(const SampledWithReplacement& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(CheckRange(at + ".datasetSize", e.dataset_size, 1, kMaxEventCount));
    RETURN_IF_ERROR(CheckRange(at + ".sampleSize", e.sample_size, 1, kMaxEventCount));
    return Check(e.event, at + ".event", depth + 1);
  }
  absl::Status CheckKind(const RandomAllocation& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(CheckRange(at + ".rounds", e.rounds, 1, kMaxEventCount));
    RETURN_IF_ERROR(CheckRange(at + ".selected", e.selected, 1, e.rounds));
    return Check(e.event, at + ".event", depth + 1);
  }
  absl::Status CheckKind(const Composed& e, const std::string& at, int depth) {
    for (size_t i = 0; i < e.events.size(); ++i) {
      RETURN_IF_ERROR(Check(e.events[i], absl::StrCat(at, ".events[", i, "]"), depth + 1));
    }
    return absl::OkStatus();
  }
  absl::Status CheckKind(const SelfComposed& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(CheckRange(at + ".count", e.count, 1, kMaxEventCount));
    return Check(e.event, at + ".event", depth + 1);
  }
  absl::Status CheckKind(const TreeAggregation& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kNonNegative));
    return CheckRange(at + ".stepCount", e.step_count, 1, kMaxEventCount);
  }
  absl::Status CheckKind(const BandedMatrixFactorization& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kNonNegative));
    RETURN_IF_ERROR(CheckRange(at + ".bands", e.bands, 1, kMaxEventCount));
    RETURN_IF_ERROR(CheckRange(at + ".iterations", e.iterations, 1, kMaxEventCount));
    return CheckInterval(at + ".samplingProbability", e.sampling_probability, kProbability);
  }
  absl::Status CheckKind(const RepeatAndSelect& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(CheckInterval(at + ".mean", e.mean, Interval{1, kInfinity, true, false}));
    RETURN_IF_ERROR(CheckInterval(at + ".shape", e.shape, Interval{-1, kInfinity, false, true}));
    return Check(e.event, at + ".event", depth + 1);
  }
  absl::Status CheckText(const std::string& field, const std::string& text) {
    if (static_cast<int64_t>(text.size()) <= kMaxTextBytes) return absl::OkStatus();
    return OutOfDomain(field, absl::StrCat(text.size(), " bytes"),
                       absl::StrCat("at most ", kMaxTextBytes));
  }
  absl::Status CheckKind(const UnverifiedClaim& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".epsilon", e.epsilon, kNonNegative));
    RETURN_IF_ERROR(CheckInterval(at + ".delta", e.delta, kProbability));
    return CheckText(at + ".citation", e.citation);
  }
  absl::Status CheckKind(const NonPrivate& e, const std::string& at, int) {
    return CheckText(at + ".reason", e.reason);
  }
  absl::Status CheckKind(const DominatingPair& e, const std::string& at, int) {
    const std::string first = at + ".firstProbabilities", second = at + ".secondProbabilities";
    RETURN_IF_ERROR(CheckColumns(first, e.first_probabilities.size(), second,
                                 e.second_probabilities.size(), 1));
    RETURN_IF_ERROR(CheckLaw(first, e.first_probabilities));
    return CheckLaw(second, e.second_probabilities);
  }
  // More than 1 is refused, not divided away: the numbers could be too large where the other law
  // has little.
  absl::Status CheckLaw(const std::string& field, const std::vector<double>& probabilities) {
    RETURN_IF_ERROR(CheckEach(field, probabilities, kProbability));
    const double missing = MissingMass(probabilities);
    if (missing > kProbabilitySumTolerance || missing < -kLargestExcess) {
      return OutOfDomain(field, absl::StrCat("a sum of ", FormatDouble(1 - missing)),
                         "a sum in [1 - 1e-9, 1 + 2^-40], with probabilities rounded down");
    }
    return absl::OkStatus();
  }

  absl::Status CheckKind(const ReportNoisyMax& e, const std::string& at, int) {
    if (e.noise != Noise::kLaplace && e.noise != Noise::kExponential && e.noise != Noise::kGumbel) {
      return OutOfDomain(at + ".noise", NoiseName(e.noise), "LAPLACE, EXPONENTIAL or GUMBEL");
    }
    return CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kPositive);
  }
  absl::Status CheckKind(const AboveThreshold& e, const std::string& at, int) {
    RETURN_IF_ERROR(
        CheckInterval(at + ".thresholdNoiseMultiplier", e.threshold_noise_multiplier, kPositive));
    RETURN_IF_ERROR(
        CheckInterval(at + ".queryNoiseMultiplier", e.query_noise_multiplier, kPositive));
    return CheckRange(at + ".cutoff", e.cutoff, 1, kMaxEventCount);
  }
  absl::Status CheckKind(const PartitionSelection& e, const std::string& at, int) {
    if (e.noise != Noise::kLaplace && e.noise != Noise::kGaussian) {
      return OutOfDomain(at + ".noise", NoiseName(e.noise), "LAPLACE or GAUSSIAN");
    }
    RETURN_IF_ERROR(CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kPositive));
    return CheckInterval(at + ".threshold", e.threshold, kPositive);
  }
  absl::Status CheckKind(const TruncatedGeometricSelection& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".epsilon", e.epsilon, kNonNegative));
    return CheckInterval(at + ".delta", e.delta, kPositiveProbability);
  }
  // Fields of other strategies must be empty: what is not used must not look as if it were.
  absl::Status CheckTable(const std::string& field, const std::vector<double>& values, int64_t most,
                          const Interval& domain) {
    const int64_t size = static_cast<int64_t>(values.size());
    if (size > most || (most > 0 && size == 0)) {
      return OutOfDomain(field, absl::StrCat(size, " points"),
                         most == 0 ? "none with this strategy" : absl::StrCat("1 to ", most));
    }
    return CheckEach(field, values, domain);
  }
  absl::Status CheckStrategyFields(const MatrixMechanism& e, const std::string& at) {
    const bool matrix = e.strategy == MatrixStrategy::kMatrix;
    const bool toeplitz = e.strategy == MatrixStrategy::kToeplitz;
    const bool buffered = e.strategy == MatrixStrategy::kBufferedToeplitz;
    const int64_t buffers = buffered ? kMaxBuffers : 0;
    RETURN_IF_ERROR(
        CheckTable(at + ".entries", e.entries, matrix ? kMaxCurvePoints : 0, kMatrixEntry));
    if (static_cast<int64_t>(e.entries.size()) % e.steps != 0) {
      return OutOfDomain(at + ".entries", absl::StrCat(e.entries.size(), " points"),
                         absl::StrCat("rows of ", e.steps, " each, one for each step"));
    }
    RETURN_IF_ERROR(CheckTable(at + ".coefficients", e.coefficients,
                               toeplitz ? std::min(e.steps, kMaxCurvePoints) : 0, kMatrixEntry));
    RETURN_IF_ERROR(CheckTable(at + ".outputScales", e.output_scales, buffers,
                               Interval{0, kLargestMatrixEntry, true, true}));
    RETURN_IF_ERROR(CheckTable(at + ".decays", e.decays, buffers, kProbability));
    if (e.decays.size() != e.output_scales.size()) {
      return OutOfDomain(at + ".decays", absl::StrCat(e.decays.size(), " points"),
                         absl::StrCat(e.output_scales.size(), ", one for each of outputScales"));
    }
    const bool square_root = e.strategy == MatrixStrategy::kSquareRoot;
    return CheckRange(at + ".bands", e.bands, square_root ? 1 : 0, square_root ? e.steps : 0);
  }
  absl::Status CheckKind(const MatrixMechanism& e, const std::string& at, int) {
    RETURN_IF_ERROR(CheckInterval(at + ".noiseMultiplier", e.noise_multiplier, kPositive));
    int64_t most_steps = kMaxToeplitzSteps;
    switch (e.strategy) {
      case MatrixStrategy::kMatrix:
        most_steps = kMaxMatrixSteps;
        break;
      case MatrixStrategy::kToeplitz:
      case MatrixStrategy::kBufferedToeplitz:
      case MatrixStrategy::kSquareRoot:
        break;
      case MatrixStrategy::kBinaryTree:
      case MatrixStrategy::kIdentity:
        most_steps = kMaxEventCount;
        break;
      default:
        return OutOfDomain(at + ".strategy", MatrixStrategyName(e.strategy),
                           "MATRIX, TOEPLITZ, BUFFERED_TOEPLITZ, SQUARE_ROOT, BINARY_TREE or "
                           "IDENTITY");
    }
    RETURN_IF_ERROR(CheckRange(at + ".steps", e.steps, 1, most_steps));
    RETURN_IF_ERROR(CheckRange(at + ".maxParticipations", e.max_participations, 1, e.steps));
    RETURN_IF_ERROR(CheckRange(at + ".minSeparation", e.min_separation, 1, e.steps));
    return CheckStrategyFields(e, at);
  }
  absl::Status CheckKind(const Shuffled& e, const std::string& at, int depth) {
    RETURN_IF_ERROR(CheckRange(at + ".reports", e.reports, 1, kMaxEventCount));
    return Check(e.event, at + ".event", depth + 1);
  }

  int64_t nodes_ = 0;
};

bool Contains(const MechanismEvent& event);
bool Contains(const NestedEvent& event) { return event.has_value() && Contains(*event); }
bool Contains(const std::vector<CountedEvent>& events) {
  for (const CountedEvent& e : events) {
    if (Contains(e.event)) return true;
  }
  return false;
}
template <class T>
bool Contains(const T&) {
  return false;  // a number or a text
}
bool Contains(const MechanismEvent& event) {
  if (event.As<UnverifiedClaim>() != nullptr) return true;
  bool found = false;
  std::visit(
      [&](const auto& kind) {
        std::decay_t<decltype(kind)>::Fields(
            kind, [&](const char*, const auto& field) { found = found || Contains(field); });
      },
      event.kind());
  return found;
}

}  // namespace

absl::Status Validate(const MechanismEvent& event, const std::string& path) {
  return Validator().Check(event, path, 1);
}

absl::Status Validate(const CountedEvent& event, const std::string& path) {
  return Validator().Check(event, path, 1);
}

bool ContainsUnverifiedClaim(const MechanismEvent& event) { return Contains(event); }

}  // namespace epsledger::accounting
