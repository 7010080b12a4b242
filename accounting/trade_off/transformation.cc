#include "accounting/trade_off/transformation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"
#include "accounting/trade_off/type_two_error.h"

namespace epsledger::accounting {
namespace {

constexpr double kLargeEpsilon = 500;
constexpr int64_t kLargestIteratedGroup = 1'000'000;

Bounds Larger(Bounds a, Bounds b) {
  return Bounds{std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

class InverseFunction : public TradeOffFunction::Representation {
 public:
  explicit InverseFunction(TradeOffFunction f) : f_(std::move(f)) {}
  Bounds AtZero() const override { return f_.InverseAt(0); }
  Bounds At(double alpha) const override { return f_.InverseAt(alpha); }
  Bounds Delta(double epsilon) const override { return f_.InverseDelta(epsilon); }
  Bounds InverseAt(double alpha) const override { return f_.At(alpha); }
  Bounds InverseDelta(double epsilon) const override { return f_.Delta(epsilon); }

 private:
  const TradeOffFunction f_;
};

class SymmetrizedFunction : public TradeOffFunction::Representation {
 public:
  explicit SymmetrizedFunction(TradeOffFunction f) : f_(std::move(f)) {}
  Bounds At(double alpha) const override {
    return TypeTwoError([this](double epsilon) { return Delta(epsilon); }, alpha);
  }
  Bounds Delta(double epsilon) const override {
    return Larger(f_.Delta(epsilon), f_.InverseDelta(epsilon));
  }
  bool symmetric() const override { return true; }

 private:
  const TradeOffFunction f_;
};

class LargerFunction : public TradeOffFunction::Representation {
 public:
  explicit LargerFunction(TradeOffFunction f) : f_(std::move(f)) {}
  Bounds AtZero() const override { return At(0); }
  Bounds At(double alpha) const override { return Larger(f_.At(alpha), f_.InverseAt(alpha)); }
  // The function is at least f and f^-1, so its profile is at most theirs.
  Bounds Delta(double epsilon) const override {
    Bounds delta = DeltaFromTradeOff([this](double alpha) { return At(alpha); }, AtZero(), epsilon);
    const double both = std::min(f_.Delta(epsilon).upper, f_.InverseDelta(epsilon).upper);
    delta.upper = std::min(delta.upper, both);
    delta.lower = std::min(delta.lower, delta.upper);
    return delta;
  }
  bool symmetric() const override { return true; }

 private:
  const TradeOffFunction f_;
};

class SubsampledFunction : public TradeOffFunction::Representation {
 public:
  // 0 < p < 1.
  SubsampledFunction(TradeOffFunction f, double p) : f_(std::move(f)), p_(p) {}
  Bounds AtZero() const override { return At(0); }
  Bounds At(double alpha) const override {
    const Bounds f = f_.At(alpha);
    const double blind = (1 - p_) * (1 - alpha);
    return Bounds{RoundDownNonNegative(p_ * f.lower + blind, 4),
                  RoundUpNonNegative(p_ * f.upper + blind, 4)};
  }
  // E[(mixture - x base)_+] = p E[(alternative - y base)_+], x = 1 + p (y - 1).
  Bounds Delta(double epsilon) const override {
    const double told = -std::expm1(epsilon);
    const double floor = RoundDownNonNegative(told, 2);
    double log_y_low, log_y_high;  // around log y; -inf where y <= 0
    if (epsilon > kLargeEpsilon) {
      // log y = epsilon - log p + log(1 - (1-p)/x), the last below e^-500.
      const double log_y = epsilon - std::log(p_);
      log_y_low = RoundDown(log_y, 4);
      log_y_high = RoundUp(log_y, 4);
    } else {
      const double y_minus_one = std::expm1(epsilon) / p_;
      const double slack = 8 * kUnitRoundoff * std::abs(y_minus_one);
      log_y_low = LogFrom(y_minus_one - slack, -1);
      log_y_high = LogFrom(y_minus_one + slack, 1);
    }
    // y <= 0: all mass counts and delta = 1 - x, which is at least p.
    const double upper =
        log_y_low == -kInfinity ? std::max(p_, told) : p_ * f_.Delta(log_y_low).upper;
    const double lower = log_y_high == -kInfinity ? 0 : p_ * f_.Delta(log_y_high).lower;
    return Bounds{std::max(floor, RoundDownNonNegative(lower, 2)),
                  std::min(1.0, std::max(floor, RoundUpNonNegative(upper, 4)))};
  }
  // E[(base - x mixture)_+] = c E[(base - (p x / c) alternative)_+], c = 1 - x (1 - p): grows
  // with c.
  Bounds InverseDelta(double epsilon) const override {
    const double growth = std::expm1(epsilon);
    const double c = p_ - (1 - p_) * growth;
    const double slack = 8 * kUnitRoundoff * (p_ + std::abs((1 - p_) * growth));
    const double floor = RoundDownNonNegative(-growth, 2);
    Bounds delta{0, 0};
    if (c + slack > 0) {
      delta.upper = RoundUpNonNegative(
          (c + slack) * f_.InverseDelta(Shifted(epsilon, c + slack, -1)).upper, 2);
    }
    if (c - slack > 0) {
      delta.lower = RoundDownNonNegative(
          (c - slack) * f_.InverseDelta(Shifted(epsilon, c - slack, 1)).lower, 2);
    }
    return Bounds{std::max(floor, delta.lower), std::min(1.0, std::max(floor, delta.upper))};
  }

 private:
  // Returns log y, moved in the direction of `sign` by its rounding.
  static double LogFrom(double y_minus_one, double sign) {
    if (!(y_minus_one > -1)) return -kInfinity;
    const double log_y = std::log1p(y_minus_one);
    return log_y + sign * 8 * kUnitRoundoff * std::abs(log_y);
  }
  // Returns epsilon + log(p / c), moved in the direction of `sign` by its rounding.
  double Shifted(double epsilon, double c, double sign) const {
    const double shift = std::log(p_ / c);
    return epsilon + shift + sign * 8 * kUnitRoundoff * (1 + std::abs(epsilon) + std::abs(shift));
  }

  const TradeOffFunction f_;
  const double p_;
};

class GroupFunction : public TradeOffFunction::Representation {
 public:
  GroupFunction(TradeOffFunction f, int64_t size) : f_(std::move(f)), size_(size) {}
  Bounds AtZero() const override { return At(0); }
  // f after size - 1 steps of alpha -> 1 - f(alpha), each of which increases in alpha.
  Bounds At(double alpha) const override {
    double low = alpha, high = alpha;
    for (int64_t i = 1; i < size_; ++i) {
      low = std::max(low, RoundDownNonNegative(1 - f_.At(low).upper));
      high = std::min(1.0, RoundUp(1 - f_.At(high).lower));
    }
    return Bounds{f_.At(high).lower, f_.At(low).upper};
  }
  Bounds Delta(double epsilon) const override {
    return DeltaFromTradeOff([this](double alpha) { return At(alpha); }, AtZero(), epsilon);
  }
  bool symmetric() const override { return f_.symmetric(); }

 private:
  const TradeOffFunction f_;
  const int64_t size_;
};

class RevealingFunction : public TradeOffFunction::Representation {
 public:
  RevealingFunction(TradeOffFunction f, double delta) : f_(std::move(f)), delta_(delta) {}
  Bounds AtZero() const override { return At(0); }
  Bounds At(double alpha) const override { return Scale(alpha, false); }
  Bounds Delta(double epsilon) const override { return Mix(f_.Delta(epsilon)); }
  Bounds InverseAt(double alpha) const override { return Scale(alpha, true); }
  Bounds InverseDelta(double epsilon) const override { return Mix(f_.InverseDelta(epsilon)); }
  bool symmetric() const override { return f_.symmetric(); }

 private:
  Bounds Scale(double alpha, bool inverse) const {
    const double rest = 1 - delta_;
    if (!(rest > 0)) return Bounds{0, 0};
    const double high = std::min(1.0, RoundUpNonNegative(alpha / rest, 2));
    const double low = std::min(1.0, RoundDownNonNegative(alpha / rest, 2));
    const double lower = inverse ? f_.InverseAt(high).lower : f_.At(high).lower;
    const double upper = inverse ? f_.InverseAt(low).upper : f_.At(low).upper;
    return Bounds{RoundDownNonNegative(rest * lower, 2), RoundUpNonNegative(rest * upper, 2)};
  }
  Bounds Mix(Bounds delta) const {
    return Bounds{RoundDownNonNegative(delta_ + (1 - delta_) * delta.lower, 3),
                  std::min(1.0, RoundUpNonNegative(delta_ + (1 - delta_) * delta.upper, 3))};
  }

  const TradeOffFunction f_;
  const double delta_;
};

template <class Representation, class... Args>
TradeOffFunction Make(Args&&... args) {
  return TradeOffFunction(std::make_shared<Representation>(std::forward<Args>(args)...));
}

}  // namespace

TradeOffFunction Inverse(const TradeOffFunction& f) {
  if (f.symmetric()) return f;
  if (f.piecewise_linear() != nullptr) {
    return TradeOffFunction::FromPiecewiseLinear(f.piecewise_linear()->Inverse());
  }
  return Make<InverseFunction>(f);
}

TradeOffFunction Symmetrize(const TradeOffFunction& f) {
  return f.symmetric() ? f : Make<SymmetrizedFunction>(f);
}

TradeOffFunction MaximumOfOrders(const TradeOffFunction& f) {
  return f.symmetric() ? f : Make<LargerFunction>(f);
}

absl::StatusOr<TradeOffFunction> Subsample(const TradeOffFunction& f, double probability) {
  RETURN_IF_ERROR(CheckInterval("probability", probability, kProbability));
  if (probability == 0) return TradeOffFunction::Identity();
  if (probability == 1) return f;
  return Make<SubsampledFunction>(f, probability);
}

absl::StatusOr<TradeOffFunction> SubsampleSymmetrized(const TradeOffFunction& f,
                                                      double probability) {
  if (!f.symmetric()) {
    // Symmetrize(f) is below f and f^-1, so the theorem holds for it.
    return SubsampleSymmetrized(Symmetrize(f), probability);
  }
  ASSIGN_OR_RETURN(TradeOffFunction sampled, Subsample(f, probability));
  return Symmetrize(sampled);
}

absl::StatusOr<TradeOffFunction> GroupPrivacy(const TradeOffFunction& f, int64_t size) {
  RETURN_IF_ERROR(CheckRange("size", size, 1, int64_t{1} << 53));
  if (size == 1) return f;
  const auto times = [k = static_cast<double>(size)](Bounds x) {
    return Bounds{RoundDownNonNegative(k * x.lower), RoundUpNonNegative(k * x.upper)};
  };
  if (f.gaussian_mu()) return TradeOffFunction::Gaussian(times(*f.gaussian_mu()));
  if (f.laplace_theta()) return TradeOffFunction::Laplace(times(*f.laplace_theta()));
  if (size > kLargestIteratedGroup) {
    return absl::UnimplementedError(absl::StrCat("group privacy of a trade-off function for ", size,
                                                 " records takes as many evaluations"));
  }
  return Make<GroupFunction>(f, size);
}

absl::StatusOr<TradeOffFunction> RevealWithProbability(const TradeOffFunction& f, double delta) {
  RETURN_IF_ERROR(CheckInterval("delta", delta, kProbability));
  return delta == 0 ? f : Make<RevealingFunction>(f, delta);
}

}  // namespace epsledger::accounting
