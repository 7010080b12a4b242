#include "client/trainers/run/open_run.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/trainers/run/noise_choice.h"

namespace epsledger::trainers {
namespace {

std::string ClientDescription(const std::string& program) {
  char host[128] = "unknown host";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(program, " on ", host, ", process ", getpid());
}

}  // namespace

absl::StatusOr<OpenedRun> OpenGaussianRun(const LedgerFlags& flags,
                                          const RunDescription& description, const Budget& budget,
                                          Client& client) {
  std::optional<ApproximateDpCap> own_cap;
  if (flags.epsilon.has_value()) {
    own_cap = ApproximateDpCap{.epsilon = *flags.epsilon, .delta = *flags.delta};
  }
  std::optional<double> multiplier = flags.noise_multiplier;
  if (!multiplier.has_value() && own_cap.has_value() && flags.declared) {
    multiplier = NoiseMultiplierByZcdp(*own_cap, flags.steps, flags.relation);
  }
  if (!multiplier.has_value() && !own_cap.has_value()) {
    const absl::StatusOr<double> fills = NoiseMultiplierThatFills(
        {budget.cells, budget.all_cells_must_fit}, flags.steps, flags.relation);
    if (!fills.ok()) return fills.status();
    multiplier = *fills;
  }

  NewSession create{.neighboring_relation = flags.relation,
                    .no_own_cap = !own_cap.has_value() && !flags.declared,
                    .display_name = description.display_name,
                    .claim = description.claim};
  if (own_cap.has_value()) create.own_cap = *own_cap;
  if (flags.declared) {
    create.plan = Plan{.events = {{Mechanism::Gaussian(*multiplier), flags.steps}},
                       .delta = ReportDelta(flags, budget)};
  }
  absl::StatusOr<Session> session =
      client.OpenSession({.budget = budget.name,
                          .session = flags.session,
                          .create = create,
                          .client_description = ClientDescription(description.program),
                          .provenance = description.provenance});
  if (!session.ok()) return session.status();
  if (!multiplier.has_value()) {
    const absl::StatusOr<std::vector<CellBalance>> cells = session->OwnCells();
    if (!cells.ok()) return cells.status();
    // The filter of own_cap is the one over Renyi orders, where one cell with room is enough.
    const absl::StatusOr<double> fills =
        NoiseMultiplierThatFills({*cells, false}, flags.steps, flags.relation);
    if (!fills.ok()) return fills.status();
    multiplier = *fills;
  }
  return OpenedRun{*std::move(session), *multiplier};
}

}  // namespace epsledger::trainers
