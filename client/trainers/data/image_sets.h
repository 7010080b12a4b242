#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_IMAGE_SETS_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_IMAGE_SETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers {

// Invariants: both parts have the same shape, their labels are in [0, class_count), and no record
// of the source is in both.
struct LocatedImages {
  std::string name;
  LabeledImages train;  // private
  HeldOutImages held_out;
  int class_count = 0;
  bool is_known = false;  // the content is the known, public one
  // Sentences for the user: which set, from where, whether the content is the known one, what is
  // held out. They contain the number of training records only where the content is the known one.
  std::string description;
};

// The sets that FindImages knows.
const std::vector<std::string>& ImageSetNames();

// Reads a known set of images from the files in `data_directory` (for programs:
// DataPlaces::FromEnvironment().data_directory), gzipped or not:
//
//   mnist           1 x 28 x 28, 60,000 and 10,000: the four IDX files under their usual names
//   cifar10-jpeg75  3 x 32 x 32, 50,000 and 10,000: cifar10-jpeg75.pack. These are lossy copies
//                   (JPEG, quality 75) in another order than the original's: results on them are
//                   not results on CIFAR-10
//   digits          1 x 8 x 8, 1,797: digits8x8.libsvm, split by SplitRecords
//
// Files whose content is not the known one (SHA-256 of the bytes after decompression; of the
// records for digits) are used, and the description says so. Pixels are only divided by the largest
// value of the format: no statistic of the records is used.
//
// INVALID_ARGUMENT: an unknown name (the message lists the known ones), or a file's content ("file:
// offset N: field: got ..., want ..."), or the same images in both parts. NOT_FOUND: there is no
// directory, or it lacks a file. DATA_LOSS, OUT_OF_RANGE: as ReadTextFile. Cost: mnist about a
// second and 220 MB, cifar10-jpeg75 several seconds and 740 MB.
absl::StatusOr<LocatedImages> FindImages(const std::string& name,
                                         const std::string& data_directory);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_IMAGE_SETS_H_
