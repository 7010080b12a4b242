#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_TRADE_OFF_FUNCTION_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_TRADE_OFF_FUNCTION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"
#include "accounting/trade_off/piecewise_linear.h"
#include "accounting/trade_off/tabulated_trade_off.h"

namespace epsledger::accounting {

// A line below a trade-off function: f(alpha) >= intercept - slope * alpha for alpha in [0, 1].
struct LineBelow {
  double slope;
  double intercept;
};

// A trade-off function f = T(null, alternative): f(alpha) is the smallest type II error that a test
// with type I error alpha can have ([DRS19] Def 2.1). f is convex, continuous, non-increasing and
// at most 1 - alpha, and every such function is one ([DRS19] Prop 2.2). Larger f is more private.
//
// Every answer is a pair of bounds. The lower bound is the safe side of At, the upper bound that of
// Delta. A function that is only known to lie below the truth (a profile that is not exact, a
// tabulated curve) gives a true lower bound; its upper bound is 1 - alpha, or a bound on the
// function itself.
//
// Immutable, cheap to copy, safe to share between threads.
class TradeOffFunction {
 public:
  // Id(alpha) = 1 - alpha: the output reveals nothing.
  static TradeOffFunction Identity();
  // G_mu for any mu in the bounds, in [0, inf]: mu-GDP.
  static absl::StatusOr<TradeOffFunction> Gaussian(double mu);
  static TradeOffFunction Gaussian(Bounds mu);
  // f_{epsilon, delta}, the function of (epsilon, delta)-DP ([DRS19] Prop 2.5). epsilon in [0,
  // inf], delta in [0, 1].
  static absl::StatusOr<TradeOffFunction> ApproximateDp(double epsilon, double delta);
  // T(Lap(0,1), Lap(theta,1)), theta in [0, inf].
  static absl::StatusOr<TradeOffFunction> Laplace(double theta);
  static TradeOffFunction Laplace(Bounds theta);
  // PiecewiseLinear::FromPoints; INVALID_ARGUMENT names `field`.
  static absl::StatusOr<TradeOffFunction> FromPoints(const std::vector<double>& type_one,
                                                     const std::vector<double>& type_two,
                                                     const std::string& field);
  static TradeOffFunction FromPiecewiseLinear(PiecewiseLinear f);
  // The guarantee where the two data sets have no order: the lower convex envelope of min{f, f^-1},
  // f = T(Q, P), whose profile is the larger one at each epsilon. Symmetric if both profiles belong
  // to one pair.
  static TradeOffFunction FromProfiles(const DirectedProfiles& profiles);
  // The function of an unordered relation, from samples of the larger profile at each epsilon.
  static TradeOffFunction FromTable(std::shared_ptr<const TabulatedTradeOff> table);

  // Bounds on f(alpha), alpha in [0, 1]: 0 <= lower <= upper <= 1 - alpha, rounded up. NaN gives
  // {0, 1}. Closed forms: a few ulp; others about 1e-9 f + 1e-12 (type_two_error.h).
  Bounds At(double alpha) const;

  // Bounds on the profile that f implies, delta(epsilon) = 1 + f*(-e^epsilon), of the pair
  // (alternative, null), for epsilon of either sign. NaN gives {0, 1}.
  Bounds Delta(double epsilon) const;

  // The same two for f^-1 = T(alternative, null), f^-1(alpha) = inf{t : f(t) <= alpha}. Where no
  // closed form is known, a root is searched: about 50 times the cost of At.
  Bounds InverseAt(double alpha) const;
  Bounds InverseDelta(double epsilon) const;

  // Returns the line of slope e^epsilon that touches f from below, lowered by its error: f(alpha) =
  // sup over epsilon of 1 - delta(epsilon) - e^epsilon alpha. epsilon in [-700, 700].
  LineBelow LineAt(double epsilon) const;

  // True if f is known to be its own inverse.
  bool symmetric() const;

  // Set if f is exactly G_mu, or exactly the Laplace function: many results then have a closed
  // form.
  std::optional<Bounds> gaussian_mu() const;
  std::optional<Bounds> laplace_theta() const;
  // Not null if f is piecewise linear.
  const PiecewiseLinear* piecewise_linear() const;

  // The representation of a function. alpha is in (0, 1), epsilon finite.
  class Representation {
   public:
    virtual ~Representation() = default;
    virtual Bounds AtZero() const { return Bounds{At(1e-280).lower, 1}; }
    virtual Bounds At(double alpha) const = 0;
    virtual Bounds Delta(double epsilon) const = 0;
    // The defaults derive their answer from At and Delta.
    virtual Bounds InverseAt(double alpha) const;
    virtual Bounds InverseDelta(double epsilon) const;
    virtual LineBelow LineAt(double epsilon) const;
    virtual bool symmetric() const { return false; }
    virtual std::optional<Bounds> gaussian_mu() const { return std::nullopt; }
    virtual std::optional<Bounds> laplace_theta() const { return std::nullopt; }
    virtual const PiecewiseLinear* piecewise_linear() const { return nullptr; }
  };
  explicit TradeOffFunction(std::shared_ptr<const Representation> representation)
      : representation_(std::move(representation)) {}

 private:
  std::shared_ptr<const Representation> representation_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TRADE_OFF_FUNCTION_H_
