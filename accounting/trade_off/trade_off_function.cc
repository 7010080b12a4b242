#include "accounting/trade_off/trade_off_function.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/profile.h"
#include "accounting/gaussian/trade_off.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"
#include "accounting/trade_off/laplace.h"
#include "accounting/trade_off/type_two_error.h"

namespace epsledger::accounting {
namespace {

constexpr Interval kExtended{0, kInfinity, true, true};  // [0, inf]
// Roots in t are searched in log(t / (1 - t)), up to this distance, with this relative tolerance.
constexpr double kLargestLogit = 650;
constexpr double kTolerance = 1e-15;
// Beyond this epsilon the profile of the reverse pair is not computed from the profile itself: the
// factor e^epsilon would cost digits.
constexpr double kLargestReversible = 3;
// Represents an infinite epsilon for upper bounds.
constexpr double kFarEpsilon = 1e300;

Bounds ExpBounds(Bounds log_value) {
  return Bounds{RoundDownNonNegative(std::exp(log_value.lower), 2),
                std::min(1.0, RoundUpNonNegative(std::exp(log_value.upper), 2))};
}

class GaussianFunction : public TradeOffFunction::Representation {
 public:
  explicit GaussianFunction(Bounds mu) : mu_(mu) {}
  Bounds AtZero() const override { return GaussianTradeOff(mu_, 0); }
  Bounds At(double alpha) const override { return GaussianTradeOff(mu_, alpha); }
  Bounds Delta(double epsilon) const override { return ExpBounds(GaussianLogDelta(mu_, epsilon)); }
  bool symmetric() const override { return true; }
  std::optional<Bounds> gaussian_mu() const override { return mu_; }

 private:
  const Bounds mu_;
};

class LaplaceFunction : public TradeOffFunction::Representation {
 public:
  explicit LaplaceFunction(Bounds theta) : theta_(theta) {}
  Bounds AtZero() const override { return LaplaceTradeOff(theta_, 0); }
  Bounds At(double alpha) const override { return LaplaceTradeOff(theta_, alpha); }
  Bounds Delta(double epsilon) const override { return LaplaceDelta(theta_, epsilon); }
  bool symmetric() const override { return true; }
  std::optional<Bounds> laplace_theta() const override { return theta_; }

 private:
  const Bounds theta_;
};

class PiecewiseLinearFunction : public TradeOffFunction::Representation {
 public:
  PiecewiseLinearFunction(PiecewiseLinear f, bool symmetric)
      : f_(std::move(f)), inverse_(f_.Inverse()), symmetric_(symmetric) {}
  Bounds AtZero() const override { return f_.At(0); }
  Bounds At(double alpha) const override { return f_.At(alpha); }
  Bounds Delta(double epsilon) const override { return f_.Delta(epsilon); }
  bool symmetric() const override { return symmetric_; }
  Bounds InverseAt(double alpha) const override { return inverse_.At(alpha); }
  Bounds InverseDelta(double epsilon) const override { return inverse_.Delta(epsilon); }
  const PiecewiseLinear* piecewise_linear() const override { return &f_; }

 private:
  const PiecewiseLinear f_;
  const PiecewiseLinear inverse_;
  const bool symmetric_;
};

class TableFunction : public TradeOffFunction::Representation {
 public:
  explicit TableFunction(std::shared_ptr<const TabulatedTradeOff> table)
      : table_(std::move(table)) {}
  Bounds AtZero() const override { return table_->At(0); }
  Bounds At(double alpha) const override { return table_->At(alpha); }
  Bounds Delta(double epsilon) const override { return table_->Delta(epsilon); }
  LineBelow LineAt(double epsilon) const override {
    const double x = std::exp(epsilon);
    return LineBelow{RoundUp(x), table_->InterceptBelow(x)};
  }
  bool symmetric() const override { return true; }

 private:
  const std::shared_ptr<const TabulatedTradeOff> table_;
};

// T(null, alternative) of the larger of two profiles at each epsilon (both may be the same one).
class ProfileFunction : public TradeOffFunction::Representation {
 public:
  explicit ProfileFunction(DirectedProfiles profiles) : profiles_(std::move(profiles)) {}
  Bounds AtZero() const override {
    return TypeTwoError([this](double epsilon) { return Delta(epsilon); }, 0);
  }
  Bounds At(double alpha) const override {
    return TypeTwoError([this](double epsilon) { return Delta(epsilon); }, alpha);
  }
  Bounds Delta(double epsilon) const override {
    const Bounds remove = Of(*profiles_.remove, epsilon);
    if (profiles_.remove == profiles_.add) return remove;
    const Bounds add = Of(*profiles_.add, epsilon);
    return Bounds{std::max(remove.lower, add.lower), std::max(remove.upper, add.upper)};
  }

 private:
  static Bounds Of(const PrivacyProfile& profile, double epsilon) {
    Bounds delta = ExpBounds(profile.LogDelta(epsilon));
    // A profile that is only above the truth gives only the lower bound that always holds.
    if (!profile.exact()) delta.lower = RoundDownNonNegative(-std::expm1(epsilon), 2);
    return delta;
  }

  const DirectedProfiles profiles_;
};

}  // namespace

Bounds TradeOffFunction::Representation::InverseAt(double alpha) const {
  if (symmetric()) return At(alpha);
  // The search uses v = log(t / (1 - t)), so that both tails of t are resolved.
  const auto of = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double ceiling = RoundUp(1 - alpha);
  // t >= f^-1(alpha) once f(t) <= alpha, and t <= f^-1(alpha) while f(t) >= alpha > 0, since f is
  // strictly decreasing where it is positive.
  const auto too_large = NarrowCrossing([&](double v) { return At(of(v)).upper - alpha; },
                                        kLargestLogit, -kLargestLogit, kTolerance);
  const auto too_small = NarrowCrossing([&](double v) { return alpha - At(of(v)).lower; },
                                        -kLargestLogit, kLargestLogit, kTolerance);
  Bounds t{0, ceiling};
  if (At(of(too_large.holds)).upper <= alpha) t.upper = std::min(ceiling, of(too_large.holds));
  if (At(of(too_small.holds)).lower >= alpha) t.lower = std::min(t.upper, of(too_small.holds));
  return t;
}

Bounds TradeOffFunction::Representation::InverseDelta(double epsilon) const {
  if (symmetric()) return Delta(epsilon);
  if (epsilon > kLargestReversible) {
    // f^-1(0) is the smallest t with f(t) = 0, at most 1.
    return DeltaFromTradeOff([this](double alpha) { return InverseAt(alpha); },
                             Bounds{InverseAt(1e-280).lower, 1}, epsilon);
  }
  // H_x(Q||P) = 1 - x + x H_{1/x}(P||Q).
  const Bounds reverse = Delta(-epsilon);
  const double slack = 8 * kUnitRoundoff * (1 + std::exp(epsilon));
  const double told = -std::expm1(epsilon);
  const double floor = RoundDownNonNegative(told, 2);
  return Bounds{std::max(floor, told + std::exp(epsilon) * reverse.lower - slack),
                std::min(1.0, std::max(floor, told + std::exp(epsilon) * reverse.upper + slack))};
}

LineBelow TradeOffFunction::Representation::LineAt(double epsilon) const {
  const double slope = std::exp(epsilon);
  if (epsilon >= 0) return LineBelow{RoundUp(slope), RoundDown(1 - Delta(epsilon).upper)};
  // 1 - delta(epsilon) = e^epsilon (1 - delta(-epsilon) of the reverse pair): a small one keeps its
  // digits.
  return LineBelow{RoundUp(slope),
                   RoundDown(slope * RoundDown(1 - InverseDelta(-epsilon).upper), 2)};
}

TradeOffFunction TradeOffFunction::Identity() { return Gaussian(Bounds{0, 0}); }

TradeOffFunction TradeOffFunction::Gaussian(Bounds mu) {
  return TradeOffFunction(std::make_shared<GaussianFunction>(mu));
}

absl::StatusOr<TradeOffFunction> TradeOffFunction::Gaussian(double mu) {
  RETURN_IF_ERROR(CheckInterval("mu", mu, kExtended));
  return Gaussian(Bounds{mu, mu});
}

absl::StatusOr<TradeOffFunction> TradeOffFunction::ApproximateDp(double epsilon, double delta) {
  absl::Status status = CheckInterval("epsilon", epsilon, kExtended);
  if (status.ok()) status = CheckInterval("delta", delta, kProbability);
  if (!status.ok()) return status;
  return TradeOffFunction(std::make_shared<PiecewiseLinearFunction>(
      PiecewiseLinear::ApproximateDp(epsilon, delta), /*symmetric=*/true));
}

TradeOffFunction TradeOffFunction::Laplace(Bounds theta) {
  return TradeOffFunction(std::make_shared<LaplaceFunction>(theta));
}

absl::StatusOr<TradeOffFunction> TradeOffFunction::Laplace(double theta) {
  RETURN_IF_ERROR(CheckInterval("theta", theta, kExtended));
  return Laplace(Bounds{theta, theta});
}

absl::StatusOr<TradeOffFunction> TradeOffFunction::FromPoints(const std::vector<double>& type_one,
                                                              const std::vector<double>& type_two,
                                                              const std::string& field) {
  ASSIGN_OR_RETURN(PiecewiseLinear f, PiecewiseLinear::FromPoints(type_one, type_two, field));
  return FromPiecewiseLinear(std::move(f));
}

TradeOffFunction TradeOffFunction::FromPiecewiseLinear(PiecewiseLinear f) {
  return TradeOffFunction(
      std::make_shared<PiecewiseLinearFunction>(std::move(f), /*symmetric=*/false));
}

TradeOffFunction TradeOffFunction::FromProfiles(const DirectedProfiles& profiles) {
  return TradeOffFunction(std::make_shared<ProfileFunction>(profiles));
}

TradeOffFunction TradeOffFunction::FromTable(std::shared_ptr<const TabulatedTradeOff> table) {
  return TradeOffFunction(std::make_shared<TableFunction>(std::move(table)));
}

Bounds TradeOffFunction::At(double alpha) const {
  if (std::isnan(alpha)) return Bounds{0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  return alpha <= 0 ? representation_->AtZero() : representation_->At(alpha);
}

Bounds TradeOffFunction::Delta(double epsilon) const {
  if (std::isnan(epsilon)) return Bounds{0, 1};
  if (std::isinf(epsilon)) {
    if (epsilon < 0) return Bounds{1, 1};
    return Bounds{RoundDownNonNegative(1 - At(0).upper), Delta(kFarEpsilon).upper};
  }
  return representation_->Delta(epsilon);
}

Bounds TradeOffFunction::InverseAt(double alpha) const {
  if (std::isnan(alpha)) return Bounds{0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  if (symmetric()) return At(alpha);
  return alpha <= 0 ? Bounds{representation_->InverseAt(1e-280).lower, 1}
                    : representation_->InverseAt(alpha);
}

Bounds TradeOffFunction::InverseDelta(double epsilon) const {
  if (std::isnan(epsilon)) return Bounds{0, 1};
  if (std::isinf(epsilon)) {
    if (epsilon < 0) return Bounds{1, 1};
    return Bounds{RoundDownNonNegative(1 - InverseAt(0).upper), InverseDelta(kFarEpsilon).upper};
  }
  return representation_->InverseDelta(epsilon);
}

LineBelow TradeOffFunction::LineAt(double epsilon) const {
  return representation_->LineAt(epsilon);
}

bool TradeOffFunction::symmetric() const { return representation_->symmetric(); }

std::optional<Bounds> TradeOffFunction::gaussian_mu() const {
  return representation_->gaussian_mu();
}

std::optional<Bounds> TradeOffFunction::laplace_theta() const {
  return representation_->laplace_theta();
}

const PiecewiseLinear* TradeOffFunction::piecewise_linear() const {
  return representation_->piecewise_linear();
}

}  // namespace epsledger::accounting
