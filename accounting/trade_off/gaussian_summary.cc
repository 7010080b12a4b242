#include "accounting/trade_off/gaussian_summary.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/profile.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

constexpr int kGridPoints = 200;

}  // namespace

absl::StatusOr<GaussianSummary> SummarizeAsGaussian(const TradeOffFunction& f,
                                                    double smallest_alpha) {
  RETURN_IF_ERROR(CheckInterval("smallestAlpha", smallest_alpha, Interval{0, 0.5, false, false}));
  const double end = std::log(smallest_alpha / (1 - smallest_alpha));
  // mu at alpha = 1 / (1 + e^-v); the logit v keeps both tails.
  const auto mu_at = [&](double v) {
    const double alpha = 1 / (1 + std::exp(-v));
    return NormalQuantile(1 / (1 + std::exp(v))) - NormalQuantile(f.At(alpha).lower);
  };
  double best = end;
  GaussianSummary summary{0, 0};
  const double step = -2 * end / (kGridPoints - 1);
  for (int i = 0; i < kGridPoints; ++i) {
    const double v = end + i * step;
    const double mu = mu_at(v);
    if (!(mu <= summary.mu)) {
      summary.mu = std::isnan(mu) ? kInfinity : mu;
      best = v;
    }
  }
  if (std::isfinite(summary.mu)) {
    const Minimum refined =
        MinimizeFrom([&](double v) { return -mu_at(v); }, best, step, std::max(end, best - step),
                     std::min(-end, best + step), 1e-6, 30);
    summary.mu = std::max(summary.mu, -refined.value);
  }
  for (int i = 0; i < kGridPoints; ++i) {
    const double epsilon = end + i * step;
    const double gap =
        std::exp(GaussianLogDelta(summary.mu, epsilon).upper) - f.Delta(epsilon).lower;
    summary.regret = std::max(summary.regret, gap / (1 + std::exp(epsilon)));
  }
  return summary;
}

}  // namespace epsledger::accounting
