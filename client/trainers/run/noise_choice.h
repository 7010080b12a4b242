#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/budget.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// The cells of a cap, as its filter keeps them.
struct CapCells {
  std::vector<CellBalance> cells;
  bool all_cells_must_fit = false;
};

// Returns the smallest noise multiplier z, within 1e-9, with which `steps` Gaussian steps fit into
// the cap if nothing else was charged to it. z depends only on the cap, not on what is spent: on a
// spent budget the ledger refuses the steps; they do not get more noise.
//
// One step costs s^2 a / (2 z^2) at Renyi order a, s^2 / (2 z^2) of rho and s^2 / z^2 of mu
// squared, with s = 2 under replace-one and 1 otherwise (a record moves the sum by s
// contributions). FAILED_PRECONDITION if a cell that has to fit counts another quantity: then the
// user must choose z.
// REQUIRES: steps >= 1.
absl::StatusOr<double> NoiseMultiplierThatFills(const CapCells& cap, int steps,
                                                NeighboringRelation relation);

// Returns what a step with this noise multiplier would do now.
using NoisePreview = std::function<absl::StatusOr<ChargePreview>(double)>;

// Returns z for which `preview` says that `steps` steps fit. A multiplier at most 5e-4 of z below
// it does not fit by `preview`, unless z is 2^-10, the smallest that is tried. Takes about fifteen
// previews: the search doubles or halves z from 1 until two powers of 2 enclose it, and then
// bisects its logarithm.
//
// FAILED_PRECONDITION if not even z = 2^20 is enough, or immediately for a refusal that is not for
// lack of room: the message says what refused. Returns an error of `preview` as it is.
// REQUIRES: steps >= 1.
absl::StatusOr<double> NoiseMultiplierThatFits(const NoisePreview& preview, int steps);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_
