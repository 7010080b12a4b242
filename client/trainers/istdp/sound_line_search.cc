#include "client/trainers/istdp/sound_line_search.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/descent.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kMostCandidates = 64;

absl::Status Validate(const LineSearchOptions& options) {
  if (options.candidates < 2 || options.candidates > kMostCandidates) {
    return absl::InvalidArgumentError(absl::StrCat("LineSearchOptions.candidates: got ",
                                                   options.candidates, ", want in [2, ",
                                                   kMostCandidates, "]"));
  }
  if (!(options.shrink > 0 && options.shrink < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("LineSearchOptions.shrink: got ", options.shrink, ", want in (0, 1)"));
  }
  if (!(options.sufficient_decrease > 0 && options.sufficient_decrease < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("LineSearchOptions.sufficient_decrease: got ",
                                                   options.sufficient_decrease,
                                                   ", want in (0, 1)"));
  }
  return absl::OkStatus();
}

}  // namespace

LineSearchNoise LineSearchNoiseFor(double noise_multiplier, double comparison_share) {
  return {.gradient = noise_multiplier / std::sqrt(1 - comparison_share),
          .comparison = noise_multiplier / std::sqrt(comparison_share)};
}

absl::StatusOr<TrainingResult> TrainSoundLineSearch(
    const LinearLoss& loss, const TrainingOptions& options, const LineSearchOptions& line_search,
    GradientRelease& gradients, GradientRelease& comparisons, const StepObserver& observer) {
  RETURN_IF_ERROR(ValidateTraining(options, loss.feature_count()));
  RETURN_IF_ERROR(Validate(line_search));
  const double root = std::sqrt(line_search.candidates);
  Descent descent(loss, options, observer);
  while (descent.Continues()) {
    const std::optional<Eigen::VectorXd> gradient = descent.ReleaseGradient(gradients);
    if (!gradient.has_value()) break;
    std::vector<double> step_sizes;
    std::vector<Eigen::VectorXd> candidates;
    double step_size = descent.StepSize(*gradient);
    for (int j = 0; j < line_search.candidates; ++j, step_size *= line_search.shrink) {
      step_sizes.push_back(step_size);
      candidates.push_back(descent.ProxStep(step_size, *gradient));
    }
    const absl::StatusOr<std::optional<Batch>> batch = descent.DrawBatch();
    if (!batch.ok()) {
      descent.Stop(batch.status());
      break;
    }
    const std::optional<Eigen::VectorXd> compared = descent.Release(
        loss.ComparisonSum(descent.theta(), candidates, batch->has_value() ? &**batch : nullptr),
        root, comparisons);
    if (!compared.has_value()) break;
    // From here to the end of the loop only public and released values are read.
    const double penalty = Penalty(options.regularizer, descent.theta());
    size_t chosen = 0;
    for (; chosen + 1 < candidates.size(); ++chosen) {
      const double distance = (candidates[chosen] - descent.theta()).norm();
      const double change = (*compared)[static_cast<Eigen::Index>(chosen)] * loss.contribution() *
                                distance / descent.expected_count() +
                            Penalty(options.regularizer, candidates[chosen]) - penalty;
      const double wanted =
          line_search.sufficient_decrease / (2 * step_sizes[chosen]) * distance * distance;
      if (-change >= wanted) break;
    }
    descent.MoveTo({.step_size = step_sizes[chosen],
                    .gradient = *gradient,
                    .theta = std::move(candidates[chosen]),
                    .backtracks = static_cast<int>(chosen)});
  }
  return descent.Result();
}

}  // namespace epsledger::trainers::istdp
