#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/budget.h"

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

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_NOISE_CHOICE_H_
