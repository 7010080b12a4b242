#include "client/trainers/run/proven_claim.h"

#include <cmath>
#include <variant>

namespace epsledger::trainers {
namespace {

constexpr double kRoundUp = 1 + 1e-12;

struct Guarantee {
  double epsilon = 0;
  double delta = 0;
};

struct GuaranteeOf {
  double delta;

  using Result = std::optional<Guarantee>;
  Result operator()(const std::monostate&) const { return std::nullopt; }
  Result operator()(const NoGuaranteeCap&) const { return std::nullopt; }
  Result operator()(const PureEpsilonCap& cap) const { return Guarantee{cap.epsilon, 0}; }
  Result operator()(const ApproximateDpCap& cap) const { return Guarantee{cap.epsilon, cap.delta}; }
  Result operator()(const ZcdpCap& cap) const { return OfRho(cap.rho); }
  Result operator()(const GaussianDpCap& cap) const { return OfRho(cap.mu * cap.mu / 2); }
  Result operator()(const RenyiCap& cap) const {
    return Guarantee{(cap.divergence - std::log(delta) / (cap.order - 1)) * kRoundUp, delta};
  }
  Result operator()(const TradeOffCurveCap& cap) const {
    if (cap.points.empty()) return std::nullopt;
    return Guarantee{cap.points.front().epsilon, cap.points.front().delta};
  }
  // Along the curve epsilon increases and delta decreases.
  Result operator()(const UnitsCap& cap) const {
    for (const TradeOffCurveCap::Point& point : cap.guarantee) {
      if (point.delta <= delta) return Guarantee{point.epsilon, point.delta};
    }
    return std::nullopt;
  }

 private:
  Result OfRho(double rho) const {
    return Guarantee{(rho + 2 * std::sqrt(-rho * std::log(delta))) * kRoundUp, delta};
  }
};

}  // namespace

std::optional<Claim> ProvenClaim(const LedgerFlags& flags, const Budget& budget,
                                 const std::string& source) {
  const std::optional<Guarantee> enforced =
      flags.epsilon.has_value() ? Guarantee{*flags.epsilon, *flags.delta}
                                : std::visit(GuaranteeOf{ReportDelta(flags, budget)}, budget.cap);
  if (!enforced.has_value()) return std::nullopt;
  return Claim{.status = Claim::Status::kProven,
               .epsilon = enforced->epsilon,
               .delta = enforced->delta,
               .source = source};
}

}  // namespace epsledger::trainers
