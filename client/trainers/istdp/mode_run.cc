#include "client/trainers/istdp/mode_run.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/as_published.h"
#include "client/trainers/istdp/backtracking.h"
#include "client/trainers/istdp/baselines.h"
#include "client/trainers/istdp/published_noise.h"
#include "client/trainers/istdp/sound.h"
#include "client/trainers/istdp/sound_line_search.h"
#include "client/trainers/istdp/two_phase.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/non_private_access.h"
#include "epsledger/noise.h"

namespace epsledger::trainers::istdp {
namespace {

// The reason that the ledger records for an unproven run.
constexpr const char* kExactAccess =
    "ISTDP as published reads exact gradients for its step size and exact objectives for its line "
    "search";

// theta^0 of the published algorithm, which must not be theta^1: public, of norm 1/10.
Eigen::VectorXd BeforeInitial(Eigen::Index feature_count) {
  return Eigen::VectorXd::Constant(feature_count,
                                   -0.1 / std::sqrt(static_cast<double>(feature_count)));
}

PerturbationOptions PerturbationOf(const ModeRun& run) {
  return {.l2 = run.options.l2,
          .public_record_count = run.training.public_record_count,
          .row_norm_bound = run.options.row_norm_bound};
}

ObjectivePerturbationTarget TargetOf(const CommandLine& options) {
  return {.epsilon = options.target_epsilon, .delta = options.target_delta};
}

Mechanism StepEvent(const CommandLine& options, double noise_multiplier) {
  const Mechanism gaussian = Mechanism::Gaussian(noise_multiplier);
  if (options.sampling_probability == 1) return gaussian;
  return Mechanism::PoissonSampled(options.sampling_probability, gaussian);
}

}  // namespace

std::vector<Mechanism> EventsOf(const CommandLine& options, double noise_multiplier) {
  if (options.mode == Mode::kObjectivePerturbation) {
    return {Mechanism::ApproximateDp(options.target_epsilon, options.target_delta)};
  }
  if (options.mode == Mode::kTwoPhase) {
    const TwoPhaseNoise noise =
        TwoPhaseNoiseFor(noise_multiplier, options.two_phase, options.ledger.steps);
    return {StepEvent(options, noise.first), StepEvent(options, noise.second)};
  }
  if (options.mode != Mode::kSoundLineSearch) return {StepEvent(options, noise_multiplier)};
  const LineSearchNoise split = LineSearchNoiseFor(noise_multiplier, options.comparison_share);
  return {StepEvent(options, split.gradient), StepEvent(options, split.comparison)};
}

absl::StatusOr<ModeOutcome> RunMode(const ModeRun& run) {
  const std::vector<Mechanism> events = EventsOf(run.options, run.noise_multiplier);
  const int64_t lease = run.options.ledger.lease;
  LedgerRelease gradients(run.session, events.front(), lease);
  // The releases of a line search or of a second phase.
  LedgerRelease others(run.session, events.back(), lease);
  absl::StatusOr<TrainingResult> result = absl::InternalError("a mode that nothing runs");
  switch (run.options.mode) {
    case Mode::kSound:
      result = TrainSound(run.loss, run.training, gradients, run.observer);
      break;
    case Mode::kSoundLineSearch:
      result = TrainSoundLineSearch(run.loss, run.training, run.options.line_search, gradients,
                                    others, run.observer);
      break;
    case Mode::kBacktracking:
      result = TrainBacktracking(run.loss, run.training, run.options.backtracking, gradients,
                                 run.observer);
      break;
    case Mode::kTwoPhase:
      result = TrainTwoPhase(run.loss, run.training, run.options.two_phase, gradients, others,
                             run.observer);
      break;
    case Mode::kPublishedNoise:
      result = TrainPublishedNoise(run.loss, run.training, gradients, run.observer);
      break;
    case Mode::kAsPublished:
      result = TrainAsPublished(
          run.loss,
          {.training = run.training,
           .line_search = {},
           .before_initial = BeforeInitial(run.loss.feature_count())},
          [&] { return ChargeNonPrivateAccess(run.session, kExactAccess); }, gradients,
          run.observer);
      break;
    case Mode::kOutputPerturbation:
      result = TrainOutputPerturbation(run.loss, PerturbationOf(run), gradients);
      break;
    case Mode::kObjectivePerturbation:
      result = TrainObjectivePerturbation(
          run.loss, PerturbationOf(run), TargetOf(run.options),
          [&]() -> absl::StatusOr<Eigen::VectorXd> {
            ASSIGN_OR_RETURN(Permit permit, run.session.Charge(events.front()));
            Eigen::VectorXd draws(2 * run.loss.feature_count());
            const std::span<double> all(draws.data(), static_cast<size_t>(draws.size()));
            RETURN_IF_ERROR(DrawGaussianNoise(std::move(permit), 1, all));
            return draws;
          });
      break;
    case Mode::kDpSgd:
      result = TrainDpSgd(run.loss, run.training, gradients, run.observer);
      break;
  }
  if (!result.ok()) return result.status();
  return ModeOutcome{*std::move(result), gradients.charge_time() + others.charge_time()};
}

}  // namespace epsledger::trainers::istdp
