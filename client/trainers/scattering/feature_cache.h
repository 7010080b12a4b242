#ifndef EPSLEDGER_CLIENT_TRAINERS_SCATTERING_FEATURE_CACHE_H_
#define EPSLEDGER_CLIENT_TRAINERS_SCATTERING_FEATURE_CACHE_H_

#include <Eigen/Core>
#include <string>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_images.h"
#include "client/trainers/scattering/scattering.h"

namespace epsledger::trainers::scattering {

// Returns the name of the file that holds the features of these images under these options: a
// SHA-256 over the shape, every pixel and every option but thread_count, which changes no bit.
std::string CacheFileName(const LabeledImages& images, const Options& options);

// Returns Features(images, options), from CacheFileName in `folder` if that file exists and its
// checksum matches. Otherwise computes them and writes the file, first under another name and then
// renamed, so no half-written file is ever found. An empty `folder` means no cache. The file holds
// a function of private records: protect it like the records. Bits can differ between machines, as
// the rounding of matrix products does.
// Status codes as Features; UNAVAILABLE if the folder cannot be created or the file cannot be
// written.
absl::StatusOr<Eigen::MatrixXf> CachedFeatures(const LabeledImages& images, const Options& options,
                                               const std::string& folder);

}  // namespace epsledger::trainers::scattering

#endif  // EPSLEDGER_CLIENT_TRAINERS_SCATTERING_FEATURE_CACHE_H_
