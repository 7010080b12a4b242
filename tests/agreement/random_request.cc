#include "tests/agreement/random_request.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/nested_sizes.h"
#include "accounting/numeric/constants.h"
#include "proto/bridge/mechanism_convert.h"

namespace epsledger::tests {
namespace {

using namespace accounting;  // NOLINT: one table of all their names

// The tags of all kinds, whose numbers have gaps.
template <size_t... I>
std::vector<int> TagsOf(std::index_sequence<I...>) {
  return {std::variant_alternative_t<I, MechanismEvent::Kind>::kTag...};
}
constexpr int64_t kLargestCount = int64_t{1} << 53;

// Draws from the 64 bits of one generator only, so that a seed means the same with every library.
class Draw {
 public:
  explicit Draw(uint64_t seed) : bits_(seed) {}

  // In [0, 1).
  double Unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  // In [first, last].
  int64_t Integer(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(bits_() % static_cast<uint64_t>(last - first + 1));
  }
  bool OneIn(int64_t n) { return Integer(1, n) == 1; }
  template <class T>
  T Among(std::initializer_list<T> values) {
    return values.begin()[Integer(0, static_cast<int64_t>(values.size()) - 1)];
  }
  double LogUniform(double low, double high, std::initializer_list<double> ends) {
    if (ends.size() > 0 && OneIn(64)) return Among(ends);
    return std::clamp(low * std::exp(Unit() * std::log(high / low)), low, high);
  }

  double NoiseMultiplier() { return LogUniform(0.05, 100, {0, 5e-324, 1e-300, 1e-9, 1e6, 1e300}); }
  double SamplingProbability() { return LogUniform(1e-6, 1, {0, 5e-324, 1e-300, 0.5, 1}); }
  double Loss() { return LogUniform(1e-4, 10, {0, 5e-324, 1e-300, 1e6, 1e300}); }
  double EventDelta() { return OneIn(3) ? 0 : LogUniform(1e-15, 0.1, {1e-300, 1}); }
  double Delta() { return LogUniform(1e-100, 0.5, {0, 5e-324, 1}); }
  double TypeOneError() { return LogUniform(1e-12, 1, {0, 5e-324, 1}); }
  int64_t Count(double largest = 1e6) {
    if (OneIn(64)) return kLargestCount;
    return static_cast<int64_t>(LogUniform(1, largest, {}));
  }

  MechanismEvent Known();
  MatrixMechanism Matrix();
  MechanismEvent Any(int depth) {
    static const std::vector<int>& tags = *new std::vector<int>(
        TagsOf(std::make_index_sequence<std::variant_size_v<MechanismEvent::Kind>>()));
    int kind = tags[static_cast<size_t>(Integer(0, static_cast<int64_t>(tags.size()) - 1))];
    if (depth == 1 && ((kind >= PoissonSampled::kTag && kind <= SelfComposed::kTag) ||
                       kind == RepeatAndSelect::kTag || kind == Shuffled::kTag)) {
      kind = Gaussian::kTag;
    }
    return OfKind(kind, depth);
  }
  MechanismEvent OfKind(int kind, int depth);
  // What is sampled: mostly a Gaussian, which more is known of than of the rest.
  MechanismEvent Inner(int depth) {
    return OneIn(2) ? MechanismEvent(Gaussian{NoiseMultiplier()}) : Any(depth - 1);
  }
  // `first` is the event that may be calibrated, or null.
  void SetQuery(const MechanismEvent* first, v1::Query* query);

 private:
  std::mt19937_64 bits_;
};

MechanismEvent Draw::Known() {
  switch (Integer(1, 8)) {
    case 1:
      return Gaussian{NoiseMultiplier()};
    case 2:
      return Laplace{NoiseMultiplier()};
    case 3:
      return DiscreteLaplace{LogUniform(1e-3, 10, {}), Integer(1, 3)};
    case 4:
      return PureDp{Loss()};
    case 5:
      return ApproximateDp{Loss(), EventDelta()};
    case 6:
      return GaussianDp{Loss()};
    case 7:
      return RandomizedResponse{LogUniform(1e-3, 0.999, {}), Integer(2, 100)};
    default:
      return PoissonSampled{SamplingProbability(), MechanismEvent(Gaussian{NoiseMultiplier()})};
  }
}

MatrixMechanism Draw::Matrix() {
  MatrixMechanism mechanism;
  mechanism.noise_multiplier = NoiseMultiplier();
  mechanism.strategy = static_cast<MatrixStrategy>(Integer(1, 6));
  const bool closed_form = mechanism.strategy == MatrixStrategy::kBinaryTree ||
                           mechanism.strategy == MatrixStrategy::kIdentity;
  mechanism.steps = closed_form ? Count() : Integer(1, 40);
  mechanism.max_participations = Integer(1, mechanism.steps);
  mechanism.min_separation = Integer(1, mechanism.steps);
  const auto numbers = [this](int64_t count, double least) {
    std::vector<double> drawn;
    for (; count > 0; --count) drawn.push_back(least + (1 - least) * Unit());
    return drawn;
  };
  const double least = OneIn(2) ? 0 : -1;
  if (mechanism.strategy == MatrixStrategy::kMatrix) {
    mechanism.entries = numbers(mechanism.steps * Integer(1, 20), least);
  } else if (mechanism.strategy == MatrixStrategy::kToeplitz) {
    mechanism.coefficients = numbers(Integer(1, mechanism.steps), least);
  } else if (mechanism.strategy == MatrixStrategy::kBufferedToeplitz) {
    const int64_t buffers = Integer(1, 16);
    mechanism.output_scales = numbers(buffers, 0);
    mechanism.decays = numbers(buffers, 0);
  } else if (mechanism.strategy == MatrixStrategy::kSquareRoot) {
    mechanism.bands = Integer(1, mechanism.steps);
  }
  return mechanism;
}

MechanismEvent Draw::OfKind(int kind, int depth) {
  switch (kind) {
    case Gaussian::kTag:
      return Gaussian{NoiseMultiplier()};
    case Laplace::kTag:
      return Laplace{NoiseMultiplier()};
    case DiscreteGaussian::kTag:
      return DiscreteGaussian{NoiseMultiplier(), Count(100)};
    case DiscreteLaplace::kTag:
      return DiscreteLaplace{LogUniform(1e-3, 10, {5e-324, 1e-300, 1e6, 1e300}), Count(100)};
    case RandomizedResponse::kTag:
      return RandomizedResponse{LogUniform(1e-3, 0.999, {5e-324, 1e-300, 1 - 0x1p-53}),
                                std::max<int64_t>(2, Count(1000))};
    case ExponentialMechanism::kTag:
      return ExponentialMechanism{Loss()};
    case PermuteAndFlip::kTag:
      return PermuteAndFlip{Loss()};
    case PureDp::kTag:
      return PureDp{Loss()};
    case ApproximateDp::kTag:
      return ApproximateDp{Loss(), EventDelta()};
    case Zcdp::kTag:
      return Zcdp{Loss(), OneIn(2) ? 0 : Loss()};
    case GaussianDp::kTag:
      return GaussianDp{Loss()};
    case RenyiCurve::kTag: {
      RenyiCurve curve;
      double order = 1;
      for (int64_t i = Integer(1, 5); i > 0; --i) {
        order += LogUniform(0.01, 100, {});
        curve.orders.push_back(order);
        curve.divergences.push_back(Loss());
      }
      return curve;
    }
    case TradeOffCurve::kTag: {
      // Any decreasing values below 1 - x: the convex envelope is the accountant's business.
      const double middle = 0.05 + 0.9 * Unit();
      const double top = 1 - EventDelta();
      return TradeOffCurve{{0, middle, 1}, {top, std::min(top, 1 - middle) * Unit(), 0}};
    }
    case MixtureOfGaussians::kTag: {
      const double p = SamplingProbability() / 2;
      return MixtureOfGaussians{NoiseMultiplier(), {0, 1, 2}, {1 - 2 * p, p, p}};
    }
    case PoissonSampled::kTag:
      return PoissonSampled{SamplingProbability(), Inner(depth)};
    case TruncatedPoissonSampled::kTag: {
      const int64_t size = Count();
      return TruncatedPoissonSampled{SamplingProbability(), Integer(1, size), size, Inner(depth)};
    }
    case SampledWithoutReplacement::kTag: {
      const int64_t size = Count();
      SampledWithoutReplacement sampled{size, Integer(1, size), Inner(depth)};
      if (!CheckNestedSizes(sampled, "").ok()) sampled.event = MechanismEvent(Gaussian{1});
      return sampled;
    }
    case SampledWithReplacement::kTag: {
      SampledWithReplacement sampled{Count(), Count(1000), Inner(depth)};
      if (!CheckNestedSizes(sampled, "").ok()) sampled.event = MechanismEvent(Gaussian{1});
      return sampled;
    }
    case RandomAllocation::kTag: {
      const int64_t rounds = Count();
      return RandomAllocation{rounds, Integer(1, std::min<int64_t>(rounds, 10)), Inner(depth)};
    }
    case Composed::kTag: {
      Composed composed;
      for (int64_t i = OneIn(32) ? 0 : Integer(1, 3); i > 0; --i) {
        composed.events.push_back({Inner(depth), Count(1000)});
      }
      return composed;
    }
    case SelfComposed::kTag:
      return SelfComposed{Inner(depth), Count(1000)};
    case TreeAggregation::kTag:
      return TreeAggregation{NoiseMultiplier(), Count()};
    case BandedMatrixFactorization::kTag:
      return BandedMatrixFactorization{NoiseMultiplier(), Count(100), Count(),
                                       SamplingProbability()};
    case RepeatAndSelect::kTag:
      return RepeatAndSelect{Inner(depth), 1 + LogUniform(0.01, 1000, {5e-324, 1e300}),
                             Among({-0.9, -0.5, 0.0, 1.0, 10.0})};
    case UnverifiedClaim::kTag:
      return UnverifiedClaim{Loss(), EventDelta(), "somebody 2020"};
    case ReportNoisyMax::kTag:
      return ReportNoisyMax{Among({Noise::kLaplace, Noise::kExponential, Noise::kGumbel}),
                            NoiseMultiplier(), OneIn(2)};
    case AboveThreshold::kTag:
      return AboveThreshold{NoiseMultiplier(), NoiseMultiplier(), Count(1000), OneIn(2)};
    case PartitionSelection::kTag:
      return PartitionSelection{Among({Noise::kLaplace, Noise::kGaussian}), NoiseMultiplier(),
                                LogUniform(0.1, 1000, {5e-324, 1e300})};
    case TruncatedGeometricSelection::kTag:
      return TruncatedGeometricSelection{Loss(), LogUniform(1e-15, 0.1, {1e-300, 1})};
    case Shuffled::kTag:
      return Shuffled{Count(), OneIn(2) ? MechanismEvent(PureDp{Loss()}) : Inner(depth)};
    case MatrixMechanism::kTag:
      return Matrix();
    case NonPrivate::kTag:
      return NonPrivate{"published"};
    default: {
      DominatingPair pair;
      double first = 1;
      double second = 1;
      for (int64_t i = Integer(1, 6); i > 0; --i) {
        pair.first_probabilities.push_back(first * Unit() * (OneIn(5) ? 0 : 1));
        pair.second_probabilities.push_back(second * Unit() * (OneIn(5) ? 0 : 1));
        first -= pair.first_probabilities.back();
        second -= pair.second_probabilities.back();
      }
      pair.first_probabilities.push_back(first);
      pair.second_probabilities.push_back(second);
      return pair;
    }
  }
}

// Whether the event, or what it holds first, has the parameter: a calibration needs it.
bool HasParameter(const MechanismEvent& event, std::string_view name);
bool HasParameter(const NestedEvent& event, std::string_view name) {
  return HasParameter(*event, name);
}
bool HasParameter(const std::vector<CountedEvent>& events, std::string_view name) {
  return !events.empty() && HasParameter(*events.front().event, name);
}
template <class T>
bool HasParameter(const T&, std::string_view) {
  return false;  // a number or a text
}
bool HasParameter(const MechanismEvent& event, std::string_view name) {
  bool found = false;
  const auto visit = [&](const char* field_name, const auto& field) {
    found = found || name == field_name || HasParameter(field, name);
  };
  std::visit([&](const auto& kind) { std::decay_t<decltype(kind)>::Fields(kind, visit); },
             event.kind());
  return found;
}

void Draw::SetQuery(const MechanismEvent* first, v1::Query* query) {
  static constexpr std::initializer_list<double> kLargeEpsilons = {0, 5e-324, 1e6, 1e300};
  switch (Integer(1, first == nullptr ? 12 : 13)) {
    case 1:
      return query->set_epsilon_at_delta(Delta());
    case 2:
      return query->set_epsilon_at_log_delta(std::log(Delta()));
    case 3: {
      const double epsilon = LogUniform(1e-3, 1e3, kLargeEpsilons);
      return query->set_delta_at_epsilon(OneIn(4) ? -epsilon : epsilon);
    }
    case 4:
      if (OneIn(16)) return query->set_renyi_divergence_at_order(Among({1.0, kInfinity}));
      return query->set_renyi_divergence_at_order(std::nextafter(1, 2) +
                                                  LogUniform(0.01, 1e3, {0, 1e-9, 1e300}));
    case 5:
      return query->set_type_two_error_at(TypeOneError());
    case 6:
      return query->set_inverse_type_two_error_at(TypeOneError());
    case 7:
      query->mutable_advantage();
      return;
    case 8:
      return query->mutable_gaussian_dp_mu()->set_alpha_min(LogUniform(1e-6, 0.49, {1e-300}));
    case 9:
      query->mutable_central_limit();
      if (OneIn(2)) query->mutable_central_limit()->set_type_one_error(TypeOneError());
      return;
    case 10:
      return query->set_true_positive_rate_at(TypeOneError());
    case 11:
      return query->set_bayes_success_at(LogUniform(1e-9, 0.999, {5e-324, 0.5, 1 - 0x1p-53}));
    case 12:
      return query->set_reconstruction_success_at(TypeOneError());
    default:
      break;
  }
  v1::CalibrateQuery* calibrate = query->mutable_calibrate();
  std::vector<v1::CalibrateQuery::Variable> variables = {v1::CalibrateQuery::COUNT};
  if (HasParameter(*first, "noise_multiplier")) {
    variables.push_back(v1::CalibrateQuery::NOISE_MULTIPLIER);
  }
  if (HasParameter(*first, "sampling_probability")) {
    variables.push_back(v1::CalibrateQuery::SAMPLING_PROBABILITY);
  }
  calibrate->set_variable(
      variables[static_cast<size_t>(Integer(0, static_cast<int64_t>(variables.size()) - 1))]);
  switch (Integer(1, 4)) {
    case 1:
      return calibrate->set_mu(Loss());
    case 2:
      calibrate->mutable_operating_point()->set_false_positive_rate(TypeOneError());
      calibrate->mutable_operating_point()->set_true_positive_rate(TypeOneError());
      return;
    default:
      calibrate->set_epsilon(LogUniform(1e-3, 1e3, kLargeEpsilons));
      return calibrate->set_delta(Delta());
  }
}

}  // namespace

v1::ComputeRequest RandomRequest(uint64_t seed) {
  Draw draw(seed);
  v1::ComputeRequest request;
  request.set_accountant(static_cast<v1::Accountant::Kind>(draw.Integer(1, 13)));
  request.set_neighboring_relation(static_cast<v1::NeighboringRelation::Kind>(draw.Integer(0, 3)));
  if (request.neighboring_relation() <= v1::NeighboringRelation::ADD_OR_REMOVE_ONE &&
      draw.OneIn(3)) {
    request.set_adjacency(static_cast<v1::Adjacency::Kind>(draw.Integer(1, 2)));
  }
  const bool replaces = request.neighboring_relation() == v1::NeighboringRelation::REPLACE_ONE;
  request.set_sensitivity_relation(
      static_cast<v1::SensitivityRelation::Kind>(draw.Integer(0, replaces ? 2 : 1)));
  if (draw.OneIn(16)) request.set_group_size(draw.Among<int64_t>({2, 3, 100}));
  if (draw.OneIn(16)) request.set_relative_width(draw.LogUniform(1e-4, 0.5, {1 - 0x1p-53}));
  int64_t events = draw.OneIn(2) ? 1 : draw.Integer(2, 4);
  if (draw.OneIn(32)) events = 0;
  const bool any = draw.OneIn(2);
  std::vector<MechanismEvent> history;
  for (int64_t i = 0; i < events; ++i) {
    history.push_back(any ? draw.Any(3) : draw.Known());
    bridge::ToProto(CountedEvent{history.back(), draw.Count()}, request.add_events());
  }
  const bool slow_search = request.accountant() == v1::Accountant::PLD ||
                           request.accountant() == v1::Accountant::TRADE_OFF ||
                           request.accountant() == v1::Accountant::BEST;
  draw.SetQuery(history.empty() || slow_search ? nullptr : &history.front(),
                request.mutable_query());
  if (request.query().has_bayes_success_at() || request.query().has_reconstruction_success_at()) {
    request.clear_adjacency();  // one number for both directions
  }
  return request;
}

}  // namespace epsledger::tests
