#ifndef EPSLEDGER_TESTS_PROTO_VALID_EVENTS_H_
#define EPSLEDGER_TESTS_PROTO_VALID_EVENTS_H_

// RapidCheck generators of valid mechanism events, of every kind and nested.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/nested_sizes.h"
#include "rapidcheck.h"

namespace epsledger::tests {

// The tags of all kinds, in the order of the proto. Their numbers have gaps.
template <size_t... I>
std::vector<int> TagsOf(std::index_sequence<I...>) {
  return {std::variant_alternative_t<I, accounting::MechanismEvent::Kind>::kTag...};
}
inline std::vector<int> EventTags() {
  return TagsOf(std::make_index_sequence<std::variant_size_v<accounting::MechanismEvent::Kind>>());
}
inline int AnyTag() { return *rc::gen::elementOf(EventTags()); }

// Numbers in (0, 1), (0, 1e6) and [1, 2^53], including the ends and odd fractions.
inline double OpenProbability() {
  return *rc::gen::element(0x1p-60, 1e-5, 0.01, 1.0 / 3, 0.5, 1 - 0x1p-53);
}
inline double Positive() {
  return *rc::gen::oneOf(rc::gen::element(5e-324, 1e-9, 0.1, 1.0 / 3, 1.0, 1e6),
                         rc::gen::map(rc::gen::inRange(1, 1000000), [](int i) { return i / 7.0; }));
}
inline int64_t Count() {
  return *rc::gen::oneOf(rc::gen::element<int64_t>(1, 2, int64_t{1} << 53),
                         rc::gen::inRange<int64_t>(1, 1'000'000));
}
inline std::string Text() {
  return *rc::gen::element<std::string>("a", "an \"odd\" \\ text\n", "\xce\xb5 \xe2\x89\xa4 1");
}

inline accounting::MatrixMechanism ValidMatrixMechanism() {
  accounting::MatrixMechanism mechanism;
  mechanism.noise_multiplier = Positive();
  mechanism.strategy = static_cast<accounting::MatrixStrategy>(*rc::gen::inRange(1, 7));
  mechanism.steps = *rc::gen::element<int64_t>(2, 10, 100);
  mechanism.max_participations = *rc::gen::element<int64_t>(1, 2);
  mechanism.min_separation = *rc::gen::element<int64_t>(1, 2);
  switch (mechanism.strategy) {
    case accounting::MatrixStrategy::kMatrix:
      mechanism.entries.assign(static_cast<size_t>(2 * mechanism.steps), -1.0 / 3);
      break;
    case accounting::MatrixStrategy::kToeplitz:
      mechanism.coefficients = {1, -0.25};
      break;
    case accounting::MatrixStrategy::kBufferedToeplitz:
      mechanism.output_scales = {0.1, 1.0 / 3};
      mechanism.decays = {1, 0.5};
      break;
    case accounting::MatrixStrategy::kSquareRoot:
      mechanism.bands = *rc::gen::element<int64_t>(1, 2);
      break;
    case accounting::MatrixStrategy::kBinaryTree:
    case accounting::MatrixStrategy::kIdentity:
      break;
  }
  return mechanism;
}

// Returns a valid event of the kind with the tag `kind`, with at most `depth` nested events.
// REQUIRES: `kind` is one of EventTags(), depth >= 1; call inside a property.
accounting::MechanismEvent ValidEvent(int kind, int depth);

inline accounting::MechanismEvent AnyInner(int depth) {
  // Kinds 1 to 14 hold no nested event.
  return ValidEvent(depth > 1 ? AnyTag() : *rc::gen::inRange(1, 15), depth - 1);
}

inline accounting::MechanismEvent ValidEvent(int kind, int depth) {
  using namespace accounting;  // NOLINT: one table of all their names
  switch (kind) {
    case Gaussian::kTag:
      return Gaussian{Positive()};
    case Laplace::kTag:
      return Laplace{Positive()};
    case DiscreteGaussian::kTag:
      return DiscreteGaussian{Positive(), Count()};
    case DiscreteLaplace::kTag:
      return DiscreteLaplace{Positive(), Count()};
    case RandomizedResponse::kTag:
      return RandomizedResponse{OpenProbability(), std::max<int64_t>(2, Count())};
    case ExponentialMechanism::kTag:
      return ExponentialMechanism{Positive()};
    case PermuteAndFlip::kTag:
      return PermuteAndFlip{Positive()};
    case PureDp::kTag:
      return PureDp{*rc::gen::element(0.0, 1.0, 1e6)};
    case ApproximateDp::kTag:
      return ApproximateDp{Positive(), *rc::gen::element(0.0, 1e-300, 1.0)};
    case Zcdp::kTag:
      return Zcdp{Positive(), *rc::gen::element(0.0, 0.25)};
    case GaussianDp::kTag:
      return GaussianDp{Positive()};
    case RenyiCurve::kTag:
      return RenyiCurve{{1.5, 2, 64}, {0, Positive(), 7}};
    case TradeOffCurve::kTag:
      return TradeOffCurve{{0, 0.25, 1}, {0.75, 0.5, 0}};
    case MixtureOfGaussians::kTag:
      return MixtureOfGaussians{Positive(), {0, 1, 2}, {0.25, 0.25, 0.5}};
    case PoissonSampled::kTag:
      return PoissonSampled{OpenProbability(), AnyInner(depth)};
    case TruncatedPoissonSampled::kTag: {
      const int64_t size = Count();
      return TruncatedPoissonSampled{OpenProbability(), (size + 1) / 2, size, AnyInner(depth)};
    }
    case SampledWithoutReplacement::kTag: {
      const int64_t size = Count();
      SampledWithoutReplacement sampled{size, (size + 1) / 2, AnyInner(depth)};
      if (!CheckNestedSizes(sampled, "").ok()) sampled.event = MechanismEvent(Gaussian{1});
      return sampled;
    }
    case SampledWithReplacement::kTag: {
      SampledWithReplacement sampled{Count(), Count(), AnyInner(depth)};
      if (!CheckNestedSizes(sampled, "").ok()) sampled.event = MechanismEvent(Gaussian{1});
      return sampled;
    }
    case RandomAllocation::kTag: {
      const int64_t rounds = Count();
      return RandomAllocation{rounds, (rounds + 1) / 2, AnyInner(depth)};
    }
    case Composed::kTag: {
      Composed composed;
      const int size = *rc::gen::inRange(1, 4);
      for (int i = 0; i < size; ++i) composed.events.push_back({AnyInner(depth), Count()});
      return composed;
    }
    case SelfComposed::kTag:
      return SelfComposed{AnyInner(depth), Count()};
    case TreeAggregation::kTag:
      return TreeAggregation{Positive(), Count()};
    case BandedMatrixFactorization::kTag:
      return BandedMatrixFactorization{Positive(), 4, 1000, 0.25};
    case RepeatAndSelect::kTag:
      return RepeatAndSelect{AnyInner(depth), 1 + Positive(), *rc::gen::element(-0.5, 0.0, 1.0)};
    case UnverifiedClaim::kTag:
      return UnverifiedClaim{Positive(), 1e-6, Text()};
    case ReportNoisyMax::kTag:
      return ReportNoisyMax{*rc::gen::element(Noise::kLaplace, Noise::kExponential, Noise::kGumbel),
                            Positive(), *rc::gen::arbitrary<bool>()};
    case AboveThreshold::kTag:
      return AboveThreshold{Positive(), Positive(), Count(), *rc::gen::arbitrary<bool>()};
    case PartitionSelection::kTag:
      return PartitionSelection{*rc::gen::element(Noise::kLaplace, Noise::kGaussian), Positive(),
                                Positive()};
    case TruncatedGeometricSelection::kTag:
      return TruncatedGeometricSelection{Positive(), *rc::gen::element(1e-300, 1e-6, 1.0)};
    case Shuffled::kTag:
      return Shuffled{Count(), AnyInner(depth)};
    case MatrixMechanism::kTag:
      return ValidMatrixMechanism();
    case NonPrivate::kTag:
      return NonPrivate{Text()};
    default: {
      const double p = OpenProbability();
      return DominatingPair{{1 - p, p, 0}, {p, 0, 1 - p}};
    }
  }
}

}  // namespace epsledger::tests

#endif  // EPSLEDGER_TESTS_PROTO_VALID_EVENTS_H_
