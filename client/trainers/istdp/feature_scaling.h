#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_FEATURE_SCALING_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_FEATURE_SCALING_H_

#include <Eigen/Core>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_rows.h"

namespace epsledger::trainers::istdp {

// PUBLIC bounds on the magnitude of each feature: from the definition of the data, never from the
// records. Each is > 0 and finite.
using FeatureBounds = Eigen::VectorXd;

// Reads `argument`: a number > 0, the bound of every feature, or the path of a file with one "INDEX
// BOUND" a line. Indices start at 1 as in LIBSVM, each at most once. Features without a line keep
// the bound 1. INVALID_ARGUMENT names the line; NOT_FOUND if the file cannot be read.
absl::StatusOr<FeatureBounds> ReadFeatureBounds(const std::string& argument,
                                                Eigen::Index feature_count);

// Divides each feature by its bound and clamps it to [-1, 1]. Each result row depends on its own
// row and the public bounds only; NaN stays. REQUIRES: as many bounds as columns.
void ScaleFeatures(const FeatureBounds& bounds, LabeledRows* rows);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_FEATURE_SCALING_H_
