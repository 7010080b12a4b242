#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_IMAGE_RECORDS_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_IMAGE_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/fsdp/evaluation.h"
#include "client/trainers/fsdp/public_basis.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::fsdp {

struct ImageRequest {
  std::string name;  // as FindImages
  std::string data_directory;
  bool deskew = false;        // every image is made upright first (data/deskew.h)
  bool scattering = false;    // features of scattering/README.md; else pixels
  std::string feature_cache;  // a folder; empty: none
  int thread_count = 1;
  // Each record is seen so many times: once as it is, and as AugmentedView 1, 2, ... In [1, 16].
  // Held-out and public records are seen once.
  int view_count = 1;
  // With scattering: features are replaced by their coordinates along so many directions of the
  // public digits (public_basis.h); 0: no. In [0, 1796].
  int public_directions = 0;
  // Every input is multiplied by this public constant.
  double scale = 1;
  // This many of the first held-out records are treated as public and are no longer held out.
  int64_t public_count = 0;
};

// Images as the trainer sees them.
struct ImageRecords {
  network::Shape shape;
  int class_count = 0;
  LabeledColumns train;  // private
  HeldOutColumns held_out;
  LabeledColumns public_records;
  std::optional<PublicBasis> basis;  // the one that was used
  std::string description;
  // A published number of training records, whatever the files contain; 0: none is known.
  int64_t published_count = 0;
  double feature_seconds = 0;
};

// Reads the images and computes their features, each a fixed function of its own image: pixels are
// centered by the constant 1/2, scattering features are not. With public_directions also a function
// of the public digits: all 1,797, enlarged to the size of the records and deskewed as they are.
//
// Status codes as FindImages and scattering::CachedFeatures. INVALID_ARGUMENT if public_count
// leaves no record held out, for public_directions without scattering, for records of the digits
// themselves, of several channels or with more directions than features. FAILED_PRECONDITION if the
// file of the public digits does not have their known content: it could be private.
absl::StatusOr<ImageRecords> ReadImages(const ImageRequest& request);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_IMAGE_RECORDS_H_
