#include "client/trainers/istdp/mode_run.h"

#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "client/trainers/istdp/as_published.h"
#include "client/trainers/istdp/published_noise.h"
#include "client/trainers/istdp/sound.h"
#include "client/trainers/istdp/sound_line_search.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/non_private_access.h"

namespace epsledger::trainers::istdp {
namespace {

// What the ledger keeps of an unproven run.
constexpr const char* kExactAccess =
    "ISTDP as published reads exact gradients for its step size and exact objectives for its line "
    "search";

// theta^0 of the published algorithm, which must not be theta^1: public, of norm 1/10.
Eigen::VectorXd BeforeInitial(Eigen::Index feature_count) {
  return Eigen::VectorXd::Constant(feature_count,
                                   -0.1 / std::sqrt(static_cast<double>(feature_count)));
}

Mechanism StepEvent(const CommandLine& options, double noise_multiplier) {
  const Mechanism gaussian = Mechanism::Gaussian(noise_multiplier);
  if (options.sampling_probability == 1) return gaussian;
  return Mechanism::PoissonSampled(options.sampling_probability, gaussian);
}

}  // namespace

std::vector<Mechanism> EventsOfAStep(const CommandLine& options, double noise_multiplier) {
  if (options.mode != Mode::kSoundLineSearch) return {StepEvent(options, noise_multiplier)};
  const SplitNoise split = SplitNoiseMultiplier(noise_multiplier, options.comparison_share);
  return {StepEvent(options, split.gradient), StepEvent(options, split.comparison)};
}

absl::StatusOr<ModeOutcome> RunMode(const ModeRun& run) {
  const std::vector<Mechanism> events = EventsOfAStep(run.options, run.noise_multiplier);
  const std::int64_t lease = run.options.ledger.lease;
  LedgerRelease gradients(run.session, events.front(), lease);
  LedgerRelease comparisons(run.session, events.back(), lease);
  absl::StatusOr<TrainingResult> result = absl::InternalError("a mode that nothing runs");
  switch (run.options.mode) {
    case Mode::kSound:
      result = TrainSound(run.loss, run.training, gradients, run.observer);
      break;
    case Mode::kSoundLineSearch:
      result = TrainSoundLineSearch(run.loss, run.training, run.options.line_search, gradients,
                                    comparisons, run.observer);
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
  }
  if (!result.ok()) return result.status();
  return ModeOutcome{*std::move(result), gradients.charge_time() + comparisons.charge_time()};
}

}  // namespace epsledger::trainers::istdp
