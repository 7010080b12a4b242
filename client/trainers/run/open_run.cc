#include "client/trainers/run/open_run.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/run/noise_choice.h"

namespace epsledger::trainers {
namespace {

// The ledger rounds requests up and caps down: a plan that uses all of a cap's delta must request a
// little less.
constexpr double kRoundingRoom = 1 - 1e-9;

std::string ClientDescription(const std::string& program) {
  char host[128] = "unknown host";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(program, " on ", host, ", process ", getpid());
}

std::optional<ApproximateDpCap> OwnCap(const LedgerFlags& flags) {
  if (!flags.epsilon.has_value()) return std::nullopt;
  return ApproximateDpCap{.epsilon = *flags.epsilon, .delta = *flags.delta};
}

Mechanism StepEvent(const RunDescription& description, double noise_multiplier) {
  const Mechanism gaussian = Mechanism::Gaussian(noise_multiplier);
  return description.sampling_probability == 1
             ? gaussian
             : Mechanism::PoissonSampled(description.sampling_probability, gaussian);
}

// The part of a cap's delta that units of a reference may use, besides the slack and reserve of
// their filter. 0 if the filter counts no units.
double ShareOfUnits(ApproximateDpFilter filter) {
  switch (filter) {
    case ApproximateDpFilter::kResidue:
      return 0.97;
    case ApproximateDpFilter::kUnspecified:
    case ApproximateDpFilter::kPortfolio:
      return 0.92 * 0.97;
    default:
      return 0;
  }
}

// Units are counted on a lattice, which loses at most one percent.
int64_t WithRoomForTheLattice(int64_t steps) { return steps + steps / 100 + 1; }

// Returns the events of a run whose steps have this noise: the steps, then the others.
std::vector<CountedMechanism> EventsOfRun(const RunDescription& description,
                                          double noise_multiplier, int64_t steps) {
  std::vector<CountedMechanism> events = {{StepEvent(description, noise_multiplier), steps}};
  events.insert(events.end(), description.besides_steps.begin(), description.besides_steps.end());
  return events;
}

// Returns the noise multiplier that meets an (epsilon, delta) by the ledger's own mathematics, or
// nullopt if there is no such target or the cells of the cap must decide.
absl::StatusOr<std::optional<double>> Calibrate(const LedgerFlags& flags,
                                                const RunDescription& description,
                                                const Budget& budget, Client& client) {
  const std::optional<ApproximateDpCap> own_cap = OwnCap(flags);
  const auto* budget_cap = std::get_if<ApproximateDpCap>(&budget.cap);
  const bool sampled = description.sampling_probability != 1;
  const bool one_plan = flags.declared && own_cap.has_value();
  const double share = own_cap.has_value()     ? ShareOfUnits(own_cap->filter)
                       : budget_cap != nullptr ? ShareOfUnits(budget_cap->filter)
                                               : 0;
  const bool in_units = !one_plan && share > 0;
  if (!one_plan && !sampled && !in_units) return std::nullopt;
  if (!own_cap.has_value() && budget_cap == nullptr) {
    return absl::FailedPreconditionError(
        "the budget's cap is no (epsilon, delta), and sampled steps are calibrated to one: give "
        "--epsilon with --delta, or --noise-multiplier");
  }
  const ApproximateDpCap target = own_cap.has_value() ? *own_cap : *budget_cap;
  const bool tightest =
      one_plan || in_units || (flags.declared && target.filter == ApproximateDpFilter::kBasic);
  ASSIGN_OR_RETURN(
      const double multiplier,
      client.CalibrateNoiseMultiplier(
          {.events = EventsOfRun(description, 1,
                                 in_units ? WithRoomForTheLattice(flags.steps) : flags.steps),
           .epsilon = target.epsilon * kRoundingRoom,
           .delta = target.delta * kRoundingRoom * (in_units ? share : 1),
           .relation = flags.relation,
           .accountant = tightest ? "BEST" : "MOMENTS"}));
  return multiplier;
}

absl::Status NoiseForStepsAlone() {
  return absl::InvalidArgumentError(
      "--noise-multiplier: not given, and for a run that charges more than its steps it is only "
      "chosen for an (epsilon, delta), with --fit not given: want --noise-multiplier, or --epsilon "
      "with --delta");
}

}  // namespace

absl::StatusOr<OpenedRun> OpenGaussianRun(const LedgerFlags& flags,
                                          const RunDescription& description, const Budget& budget,
                                          Client& client) {
  const std::optional<ApproximateDpCap> own_cap = OwnCap(flags);
  std::optional<double> multiplier = flags.noise_multiplier;
  const bool steps_alone = description.besides_steps.empty();
  if (!multiplier.has_value() && flags.fit_remaining) {
    if (!steps_alone) return NoiseForStepsAlone();
    ASSIGN_OR_RETURN(const double fits, NoiseMultiplierThatFits(
                                            [&](double noise) {
                                              return client.Preview(budget.name,
                                                                    StepEvent(description, noise),
                                                                    flags.steps);
                                            },
                                            flags.steps));
    multiplier = fits;
  }
  if (!multiplier.has_value()) {
    ASSIGN_OR_RETURN(const std::optional<double> calibrated,
                     Calibrate(flags, description, budget, client));
    multiplier = calibrated;
  }
  if (!multiplier.has_value() && !steps_alone) return NoiseForStepsAlone();
  if (!multiplier.has_value() && !own_cap.has_value()) {
    ASSIGN_OR_RETURN(const double fills,
                     NoiseMultiplierThatFills({budget.cells, budget.all_cells_must_fit},
                                              flags.steps, flags.relation));
    multiplier = fills;
  }

  NewSession create{.neighboring_relation = flags.relation,
                    .no_own_cap = !own_cap.has_value() && !flags.declared,
                    .display_name = description.display_name,
                    .claim = description.claim};
  if (own_cap.has_value()) create.own_cap = *own_cap;
  if (multiplier.has_value()) create.expects = StepEvent(description, *multiplier);
  if (flags.declared) {
    create.plan = Plan{.events = EventsOfRun(description, *multiplier, flags.steps),
                       .delta = ReportDelta(flags, budget) * kRoundingRoom};
  }
  ASSIGN_OR_RETURN(
      Session session,
      client.OpenSession({.budget = budget.name,
                          .session = flags.session,
                          .create = description.resumes ? std::nullopt : std::optional(create),
                          .client_description = ClientDescription(description.program),
                          .provenance = description.provenance}));
  if (!multiplier.has_value()) {
    ASSIGN_OR_RETURN(const std::vector<CellBalance> cells, session.OwnCells());
    // The filter of own_cap is over Renyi orders, where one cell with room is enough.
    ASSIGN_OR_RETURN(const double fills,
                     NoiseMultiplierThatFills({cells, false}, flags.steps, flags.relation));
    multiplier = fills;
  }
  return OpenedRun{std::move(session), *multiplier, StepEvent(description, *multiplier)};
}

}  // namespace epsledger::trainers
