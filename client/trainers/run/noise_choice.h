#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/budget.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// A cap as its filter keeps it.
struct CapCells {
  std::vector<CellBalance> cells;
  bool all_cells_must_fit = false;
};

// Returns the smallest noise multiplier z, within 1e-9, with which `steps` Gaussian steps fit into
// the cap when nothing else was charged to it. It depends on the cap alone, not on what is spent:
// on a spent budget the steps are refused, not drowned in noise.
//
// One step costs s^2 a / (2 z^2) at Renyi order a, s^2 / (2 z^2) of rho and s^2 / z^2 of mu
// squared, with s = 2 under replace-one and 1 otherwise (a record moves the sum by s
// contributions). FAILED_PRECONDITION if a cell that has to fit counts another quantity: then
// nobody but the user can choose. REQUIRES: steps >= 1.
absl::StatusOr<double> NoiseMultiplierThatFills(const CapCells& cap, int steps,
                                                NeighboringRelation relation);

// What a step with this noise multiplier would do now.
using NoisePreview = std::function<absl::StatusOr<ChargePreview>(double)>;

// Returns z for which `preview` says that `steps` steps fit, and at most 5e-4 of z above one for
// which it says that they do not; 2^-10 if they fit there. About fifteen previews: z is doubled or
// halved from 1 until it is between two powers of 2, then halved in its logarithm.
//
// FAILED_PRECONDITION if not even z = 2^20 is enough, or at once for a refusal that is not for lack
// of room: the message says what refused. What `preview` returns as an error is returned.
// REQUIRES: steps >= 1.
absl::StatusOr<double> NoiseMultiplierThatFits(const NoisePreview& preview, int steps);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_
