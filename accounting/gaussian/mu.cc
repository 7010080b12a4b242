#include "accounting/gaussian/mu.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/matrix/sensitivity.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Returns bounds on x >= 0 after `operations` rounded operations; +inf stays.
Bounds Outward(double x, double operations) {
  if (x == kInfinity) return Bounds{std::numeric_limits<double>::max(), kInfinity};
  return Bounds{RoundDownNonNegative(x, operations), RoundUp(x, operations)};
}

}  // namespace

int TreeHeight(int64_t step_count) {
  int height = 0;
  for (; step_count > 0; step_count >>= 1) ++height;
  return height;
}

std::optional<Bounds> GaussianMu(const MechanismEvent& event, const Setting& setting) {
  if (const auto* gaussian = event.As<Gaussian>()) {
    return Outward(setting.shift() / gaussian->noise_multiplier, 1);
  }
  if (const auto* declared = event.As<GaussianDp>()) {
    return Bounds{declared->mu, declared->mu};
  }
  if (const auto* tree = event.As<TreeAggregation>()) {
    // A leaf changes TreeHeight node sums, each by at most the shift: one Gaussian release of L2
    // sensitivity shift * sqrt(height) (README, "Tree aggregation").
    const double height = TreeHeight(tree->step_count);
    return Outward(setting.shift() * std::sqrt(height) / tree->noise_multiplier, 3);
  }
  if (const auto* matrix = event.As<MatrixMechanism>()) {
    // One Gaussian release of L2 sensitivity shift * sensitivity, also if the rows are chosen as it
    // goes (accounting/matrix/README.md, "One release").
    const Bounds sensitivity = MatrixSensitivity(*matrix);
    if (sensitivity.upper == 0) return Bounds{0, 0};
    const double scale = matrix->noise_multiplier;
    return Bounds{Outward(setting.shift() * sensitivity.lower / scale, 3).lower,
                  Outward(setting.shift() * sensitivity.upper / scale, 3).upper};
  }
  return std::nullopt;
}

std::optional<Bounds> GaussianMuSquared(const Gaussian& event, double shift) {
  const double mu = shift / event.noise_multiplier;
  return Outward(mu * mu, 3);
}

absl::StatusOr<Bounds> ComposeGaussianMu(const std::vector<Use>& uses, const Setting& setting) {
  double largest = 0;
  std::vector<Bounds> mus;
  mus.reserve(uses.size());
  for (const Use& use : uses) {
    const std::optional<Bounds> mu = GaussianMu(*use.event, setting);
    if (!mu.has_value()) {
      return UnknownEvent(Accountant::kGaussian, *use.event,
                          "only Gaussian releases and declared mu-GDP compose exactly as mu-GDP");
    }
    largest = std::max(largest, mu->upper);
    mus.push_back(*mu);
  }
  if (largest == 0 || largest == kInfinity) return Bounds{largest, largest};
  // Scales by a power of two, which is exact, so that no square leaves the range of a double.
  int exponent = 0;
  std::frexp(largest, &exponent);
  double lower = 0;
  double upper = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    const double low = std::ldexp(mus[i].lower, -exponent);
    const double high = std::ldexp(mus[i].upper, -exponent);
    lower = RoundDownNonNegative(lower + uses[i].count * low * low, 3);
    upper = RoundUpNonNegative(upper + uses[i].count * high * high, 3);
  }
  if (uses.size() == 1 && uses[0].count == 1) return mus[0];
  return Bounds{RoundDownNonNegative(std::ldexp(std::sqrt(lower), exponent), 2),
                RoundUp(std::ldexp(std::sqrt(upper), exponent), 2)};
}

}  // namespace epsledger::accounting
