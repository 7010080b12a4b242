#include "accounting/classical/approximate_dp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/analytics/partition.h"
#include "accounting/analytics/selection.h"
#include "accounting/event/added_noise.h"
#include "accounting/event/domain.h"
#include "accounting/event/finite_pair.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

double RandomizedResponseEpsilon(double noise_parameter, int64_t num_buckets) {
  const double buckets = static_cast<double>(num_buckets);
  return RoundUp(std::log1p(buckets * ((1 - noise_parameter) / noise_parameter)), 6);
}

namespace {

constexpr char kTwoPartitions[] =
    "a unit that is replaced leaves one partition and enters another: state its removal";

// All of `event` together, by basic composition ([DMNS06]).
absl::StatusOr<ApproximateDpParameters> SumOf(const MechanismEvent& event, const Setting& setting,
                                              Accountant asked_by) {
  ApproximateDpParameters sum;
  for (const Use& use : Flatten(event)) {
    ASSIGN_OR_RETURN(const ApproximateDpParameters one,
                     ApproximateDpOf(*use.event, setting, asked_by));
    AddProductUp(sum.epsilon, use.count, one.epsilon);
    AddProductUp(sum.delta, use.count, one.delta);
  }
  return sum;
}

// `inner` on a sample that holds each record with probability q at most.
absl::StatusOr<ApproximateDpParameters> SampledOf(const MechanismEvent& inner, double q,
                                                  const Setting& setting, Accountant asked_by) {
  ASSIGN_OR_RETURN(const ApproximateDpParameters whole, SumOf(inner, setting, asked_by));
  return ApproximateDpParameters{AmplifiedEpsilon(whole.epsilon, q),
                                 RoundUpNonNegative(q * whole.delta)};
}

// log((1 - q + q e^epsilon) / (1 - q + q e^-epsilon)), rounded up. epsilon in [0, 700].
double ReplacedEpsilon(double epsilon, double q) {
  const double gained = std::log1p(q * std::expm1(epsilon));
  if (epsilon < 1) return RoundUp(gained - std::log1p(q * std::expm1(-epsilon)), 16);
  const double lost = -std::log((1 - q) + q * std::exp(-epsilon));
  return RoundUp(gained + lost, 16 + 2 * epsilon) + 4 * kUlp * (1 + epsilon);
}

// `inner` on a Poisson sample, where a record is replaced by another one or by nothing
// (accounting/classical/README.md, "Poisson samples and replaced records").
absl::StatusOr<ApproximateDpParameters> ReplacedSampleOf(const MechanismEvent& inner, double q,
                                                         const Setting& setting,
                                                         Accountant asked_by) {
  ASSIGN_OR_RETURN(ApproximateDpParameters replaced, SumOf(inner, setting, asked_by));
  const bool added = IsMadeOfAddedNoise(inner);
  if (added && setting.relation == NeighboringRelation::kReplaceSpecial) {
    return SampledOf(inner, q, setting, asked_by);
  }
  replaced.delta = RoundUpNonNegative(q * replaced.delta);
  if (added && replaced.delta == 0 &&
      setting.sensitivity_relation == SensitivityRelation::kContribution) {
    Setting without = setting;
    without.relation = NeighboringRelation::kAddOrRemoveOne;
    ASSIGN_OR_RETURN(const ApproximateDpParameters alone, SumOf(inner, without, asked_by));
    if (alone.delta == 0 && alone.epsilon <= 700) {
      replaced.epsilon = std::min(replaced.epsilon, ReplacedEpsilon(alone.epsilon, q));
    }
  }
  return replaced;
}

}  // namespace

double PoissonSelectionEpsilon(double epsilon, double mean) {
  return RoundUpNonNegative(epsilon + mean * std::tanh(0.5 * epsilon), 6);
}

double AmplifiedEpsilon(double epsilon, double q) {
  if (epsilon == 0) return 0;
  if (epsilon > 700) return epsilon;
  return std::min(epsilon, RoundUp(std::log1p(q * std::expm1(epsilon)), 6 + epsilon));
}

absl::StatusOr<ApproximateDpParameters> ApproximateDpOf(const MechanismEvent& event,
                                                        const Setting& setting,
                                                        Accountant asked_by) {
  const double shift = setting.shift();
  if (const auto* laplace = event.As<Laplace>()) {
    return ApproximateDpParameters{RoundUp(shift / laplace->noise_multiplier), 0};
  }
  if (const auto* discrete = event.As<DiscreteLaplace>()) {
    return ApproximateDpParameters{
        RoundUp(discrete->noise_parameter * shift * static_cast<double>(discrete->sensitivity)), 0};
  }
  if (const auto* response = event.As<RandomizedResponse>()) {
    if (setting.relation == NeighboringRelation::kAddOrRemoveOne) {
      return UnknownEvent(asked_by, event, "it is not defined where a record is missing");
    }
    if (setting.relation == NeighboringRelation::kReplaceSpecial) {
      const FinitePair pair = ResponseAgainstNothing(*response, Adjacency::kRemove);
      return ApproximateDpParameters{pair.LargestLoss(), pair.Alone()};
    }
    return ApproximateDpParameters{
        RandomizedResponseEpsilon(response->noise_parameter, response->num_buckets), 0};
  }
  if (const auto* exponential = event.As<ExponentialMechanism>()) {
    return ApproximateDpParameters{exponential->epsilon, 0};  // [DR19]: its range bounds its loss
  }
  if (const auto* flip = event.As<PermuteAndFlip>())
    return ApproximateDpParameters{flip->epsilon, 0};
  if (const auto* pure = event.As<PureDp>()) return ApproximateDpParameters{pure->epsilon, 0};
  if (const auto* noisy_max = event.As<ReportNoisyMax>()) {
    return ApproximateDpParameters{NoisyMaxEpsilon(*noisy_max, setting), 0};
  }
  if (const auto* sparse = event.As<AboveThreshold>()) {
    return ApproximateDpParameters{AboveThresholdEpsilon(*sparse, setting), 0};
  }
  if (const auto* approximate = event.As<ApproximateDp>()) {
    return ApproximateDpParameters{approximate->epsilon, approximate->delta};
  }
  if (const auto* claim = event.As<UnverifiedClaim>()) {
    return ApproximateDpParameters{claim->epsilon, claim->delta};
  }
  if (const auto* dominating = event.As<DominatingPair>()) {
    // Losses up to the largest finite one cost nothing above it, and the rest is infinite.
    const FinitePair pair = FinitePairOf(*dominating);
    return ApproximateDpParameters{pair.LargestLoss(), pair.Alone()};
  }
  if (const auto* sampled = event.As<PoissonSampled>()) {
    const double q = sampled->sampling_probability;
    return setting.relation == NeighboringRelation::kAddOrRemoveOne
               ? SampledOf(*sampled->event, q, setting, asked_by)
               : ReplacedSampleOf(*sampled->event, q, setting, asked_by);
  }
  if (const auto* sampled = event.As<SampledWithoutReplacement>();
      sampled != nullptr && setting.relation == NeighboringRelation::kReplaceOne) {
    const double q = std::min(1.0, RoundUp(static_cast<double>(sampled->sample_size) /
                                           static_cast<double>(sampled->dataset_size)));
    return SampledOf(*sampled->event, q, setting, asked_by);
  }
  if (const auto* selection = event.As<RepeatAndSelect>()) {
    ASSIGN_OR_RETURN(const ApproximateDpParameters run,
                     SumOf(*selection->event, setting, asked_by));
    if (run.delta > 0) {
      return UnknownEvent(asked_by, event, "a run with a delta is not proved here");
    }
    if (selection->shape == kInfinity) {
      return ApproximateDpParameters{PoissonSelectionEpsilon(run.epsilon, selection->mean), 0};
    }
    if (selection->mean == 1) return run;  // one run always
    return ApproximateDpParameters{RoundUp((2 + selection->shape) * run.epsilon, 2), 0};
  }
  if (const auto* partition = event.As<PartitionSelection>();
      partition != nullptr && partition->noise == Noise::kLaplace) {
    if (setting.relation == NeighboringRelation::kReplaceOne) {
      return UnknownEvent(asked_by, event, kTwoPartitions);
    }
    return ApproximateDpParameters{RoundUp(1 / partition->noise_multiplier), KeptAlone(*partition)};
  }
  if (const auto* geometric = event.As<TruncatedGeometricSelection>()) {
    if (setting.relation == NeighboringRelation::kReplaceOne) {
      return UnknownEvent(asked_by, event, kTwoPartitions);
    }
    return ApproximateDpParameters{geometric->epsilon, geometric->delta};
  }
  if (const auto* shuffled = event.As<Shuffled>()) {
    if (setting.relation != NeighboringRelation::kReplaceOne) {
      return UnknownEvent(asked_by, event, "it is proved for one record replaced");
    }
    for (const Use& use : Flatten(*shuffled->event)) {
      if (use.event->As<SampledWithoutReplacement>() != nullptr) {
        return UnknownEvent(asked_by, event, "a randomizer of one record has nothing to sample");
      }
    }
    ASSIGN_OR_RETURN(const ApproximateDpParameters report,
                     SumOf(*shuffled->event, setting, asked_by));
    if (report.delta > 0) {
      return UnknownEvent(asked_by, event, "a randomizer with a delta is not proved here");
    }
    return report;  // whatever the order of the reports
  }
  return UnknownEvent(asked_by, event, "it has no single (epsilon, delta) of its own");
}

absl::StatusOr<std::vector<CountedParameters>> ApproximateDpOf(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               Accountant asked_by) {
  std::vector<CountedParameters> all;
  all.reserve(uses.size());
  for (const Use& use : uses) {
    ASSIGN_OR_RETURN(ApproximateDpParameters one, ApproximateDpOf(*use.event, setting, asked_by));
    all.push_back(CountedParameters{one, use.count});
  }
  return all;
}

double LogDeltaLeft(double log_delta, double spent) {
  if (spent == 0 || std::isnan(log_delta)) return log_delta;
  const double log_spent = RoundUp(std::log(spent));
  if (log_delta < log_spent) return std::numeric_limits<double>::quiet_NaN();
  if (log_delta == log_spent) return -kInfinity;
  return RoundDown(LogSubExp(log_delta, log_spent), 4) - 4 * 2 * kUnitRoundoff;
}

double LogDeltaPlus(double log_delta, double more) {
  if (more == 0) return log_delta;
  const double sum = LogAddExp(log_delta, std::log(more));
  return std::min(0.0, RoundUp(sum, 4) + 4 * 2 * kUnitRoundoff);
}

}  // namespace epsledger::accounting
