#include "accounting/trade_off/tensor_product.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/trade_off/transformation.h"
#include "accounting/trade_off/type_two_error.h"

namespace epsledger::accounting {
namespace {

// Masses below this may have lost their relative accuracy.
constexpr double kSmallestMass = 1e-290;
// A product whose masses have a larger relative error than this is refused.
constexpr double kMaxRelativeError = 1e-6;

absl::StatusOr<PiecewiseLinear> Enumerate(const PiecewiseLinear& f, const PiecewiseLinear& g) {
  const double pairs =
      static_cast<double>(f.outcomes().size()) * static_cast<double>(g.outcomes().size());
  const double error = f.relative_error() + g.relative_error() + 4 * kUlp;
  if (pairs > kMaxEnumeratedOutcomes || error > kMaxRelativeError) {
    return absl::UnimplementedError(
        absl::StrCat("a tensor product of ", pairs,
                     " outcomes is not enumerated: it needs a grid on the privacy loss"));
  }
  std::vector<OutcomeMass> outcomes;
  outcomes.reserve(static_cast<size_t>(pairs));
  bool underflow = f.underflowed() || g.underflowed();
  for (const OutcomeMass& a : f.outcomes()) {
    for (const OutcomeMass& b : g.outcomes()) {
      outcomes.push_back(
          OutcomeMass{a.null_mass * b.null_mass, a.alternative_mass * b.alternative_mass});
      const bool null_lost = outcomes.back().null_mass == 0 && a.null_mass > 0 && b.null_mass > 0;
      const bool alternative_lost =
          outcomes.back().alternative_mass == 0 && a.alternative_mass > 0 && b.alternative_mass > 0;
      underflow = underflow || null_lost || alternative_lost;
    }
  }
  return PiecewiseLinear::FromOutcomes(std::move(outcomes), error, underflow);
}

// f^{(x) count} by repeated squaring.
absl::StatusOr<PiecewiseLinear> Power(PiecewiseLinear f, int64_t count) {
  std::optional<PiecewiseLinear> result;
  while (true) {
    if (count & 1) {
      absl::StatusOr<PiecewiseLinear> next = f;
      if (result.has_value()) next = Enumerate(*result, f);
      if (!next.ok()) return next.status();
      result = *std::move(next);
    }
    count >>= 1;
    if (count == 0) return *std::move(result);
    ASSIGN_OR_RETURN(PiecewiseLinear square, Enumerate(f, f));
    f = std::move(square);
  }
}

class DiscreteProductFunction : public TradeOffFunction::Representation {
 public:
  DiscreteProductFunction(TradeOffFunction f, PiecewiseLinear g)
      : f_(std::move(f)), g_(std::move(g)), g_inverse_(g_.Inverse()) {}
  Bounds At(double alpha) const override {
    return TypeTwoError([this](double epsilon) { return Delta(epsilon); }, alpha);
  }
  Bounds InverseAt(double alpha) const override {
    return TypeTwoError([this](double epsilon) { return InverseDelta(epsilon); }, alpha);
  }
  Bounds Delta(double epsilon) const override {
    return Mix(g_, epsilon, [this](double x) { return f_.Delta(x); });
  }
  Bounds InverseDelta(double epsilon) const override {
    return Mix(g_inverse_, epsilon, [this](double x) { return f_.InverseDelta(x); });
  }

 private:
  template <class DeltaOf>
  static Bounds Mix(const PiecewiseLinear& g, double epsilon, DeltaOf delta_of) {
    const double e = g.relative_error() + 8 * kUlp;
    Bounds sum{0, 0};
    for (const OutcomeMass& outcome : g.outcomes()) {
      if (outcome.alternative_mass == 0) continue;
      if (outcome.null_mass == 0) {
        sum.lower += outcome.alternative_mass;
        sum.upper += outcome.alternative_mass;
        continue;
      }
      if (outcome.null_mass < kSmallestMass || outcome.alternative_mass < kSmallestMass) {
        sum.upper += outcome.alternative_mass;  // the ratio is unknown
        continue;
      }
      const double shift = std::log(outcome.null_mass) - std::log(outcome.alternative_mass);
      // The errors of the masses, and those of two logarithms below 750 in size.
      const double slack = 2 * e + 4e-13 + 4 * kUlp * std::abs(epsilon);
      sum.lower += outcome.alternative_mass * delta_of(epsilon + shift + slack).lower;
      sum.upper += outcome.alternative_mass * delta_of(epsilon + shift - slack).upper;
    }
    const double n = static_cast<double>(g.outcomes().size()) + 4;
    const double floor = RoundDownNonNegative(-std::expm1(epsilon), 2);
    const double upper = std::min(1.0, std::max(floor, RoundUpNonNegative(sum.upper * (1 + e), n)));
    return Bounds{std::min(upper, std::max(floor, RoundDownNonNegative(sum.lower * (1 - e), n))),
                  upper};
  }

  const TradeOffFunction f_;
  const PiecewiseLinear g_;
  const PiecewiseLinear g_inverse_;
};

bool IsIdentity(const TradeOffFunction& f) {
  const std::optional<Bounds> mu = f.gaussian_mu();
  const std::optional<Bounds> theta = f.laplace_theta();
  return (mu && mu->upper == 0) || (theta && theta->upper == 0);
}

}  // namespace

absl::StatusOr<TradeOffFunction> TensorProduct(const std::vector<CountedTradeOff>& factors) {
  Bounds mu{0, 0};
  std::optional<PiecewiseLinear> discrete;
  std::optional<TradeOffFunction> other;
  int discrete_count = 0;
  const TradeOffFunction* single = nullptr;
  for (const CountedTradeOff& factor : factors) {
    RETURN_IF_ERROR(CheckRange("count", factor.count, 1, int64_t{1} << 53));
    if (IsIdentity(factor.f)) continue;
    const double root = std::sqrt(static_cast<double>(factor.count));
    if (const std::optional<Bounds> next = factor.f.gaussian_mu()) {
      mu = Bounds{RoundDownNonNegative(std::hypot(mu.lower, root * next->lower), 4),
                  RoundUpNonNegative(std::hypot(mu.upper, root * next->upper), 4)};
    } else if (const PiecewiseLinear* steps = factor.f.piecewise_linear()) {
      absl::StatusOr<PiecewiseLinear> power = Power(*steps, factor.count);
      if (power.ok() && discrete.has_value()) power = Enumerate(*discrete, *power);
      if (!power.ok()) return power.status();
      discrete = *std::move(power);
      discrete_count += factor.count == 1 ? 1 : 2;
      single = &factor.f;
    } else if (other.has_value() || factor.count > 1) {
      return absl::UnimplementedError(
          "a tensor product of trade-off functions that are neither Gaussian nor piecewise linear "
          "needs a grid on the privacy loss");
    } else {
      other = factor.f;
    }
  }
  if (mu.upper > 0) {
    if (other.has_value()) {
      return absl::UnimplementedError(
          "the tensor product of a Gaussian with a trade-off function that is neither Gaussian nor "
          "piecewise linear needs a grid on the privacy loss");
    }
    other = TradeOffFunction::Gaussian(mu);
  }
  if (!discrete.has_value()) return other.value_or(TradeOffFunction::Identity());
  if (!other.has_value()) {
    return discrete_count == 1 ? *single
                               : TradeOffFunction::FromPiecewiseLinear(*std::move(discrete));
  }
  return TradeOffFunction(
      std::make_shared<DiscreteProductFunction>(*std::move(other), *std::move(discrete)));
}

absl::StatusOr<TradeOffFunction> TensorProduct(const TradeOffFunction& f,
                                               const TradeOffFunction& g) {
  return TensorProduct({CountedTradeOff{f, 1}, CountedTradeOff{g, 1}});
}

}  // namespace epsledger::accounting
