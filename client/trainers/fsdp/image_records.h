#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_IMAGE_RECORDS_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_IMAGE_RECORDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/fsdp/evaluation.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::fsdp {

struct ImageRequest {
  std::string name;  // as FindImages
  std::string data_directory;
  bool deskew = false;        // every image is set upright first (data/deskew.h)
  bool scattering = false;    // features of scattering/README.md; else pixels
  std::string feature_cache;  // a folder; empty: none
  int thread_count = 1;
  // A public constant that every input is multiplied by.
  double scale = 1;
  // The first so many held-out records are taken as public and are held out no longer.
  int64_t public_count = 0;
};

// Images as the trainer sees them.
struct ImageRecords {
  network::Shape shape;
  int class_count = 0;
  LabeledColumns train;  // private
  HeldOutColumns held_out;
  LabeledColumns public_records;
  std::string description;
  // A published number of training records, whatever is in the files; 0: none is known.
  int64_t published_count = 0;
  double feature_seconds = 0;
};

// Reads the images and takes their features, each a fixed function of its own image: pixels are
// centered by the constant 1/2, features are as they come. Status codes as FindImages and
// scattering::CachedFeatures; INVALID_ARGUMENT if public_count leaves no record held out.
absl::StatusOr<ImageRecords> ReadImages(const ImageRequest& request);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_IMAGE_RECORDS_H_
