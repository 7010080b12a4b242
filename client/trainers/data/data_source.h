#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_DATA_SOURCE_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_DATA_SOURCE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/trainers/data/download.h"
#include "client/trainers/data/labeled_rows.h"

namespace epsledger::trainers {

// What to look for: exactly one of `path` and `name`.
struct DataRequest {
  std::string path;       // a LIBSVM file, gzipped or not
  std::string test_path;  // only with `path`: the file of the held-out records
  // Only with `path`. PUBLIC. Features with a larger index are left out of every record. The
  // largest index in the file would reveal whether a record with it exists.
  int feature_count = 0;
  std::string name;  // a known set: a9a, wdbc or breast-cancer, digits, german, w8a
  std::optional<double> positive_class;  // overrides the set's own
};

// Returns the request for a command line's `--data ARGUMENT`: a known name if it is one, else a
// path ("./a9a" is always a path). NOT_FOUND, with the known names, if it is neither a known name
// nor an existing path.
absl::StatusOr<DataRequest> ParseDataArgument(const std::string& argument);

// Where to look. An empty directory name is skipped.
struct DataPlaces {
  std::string data_directory;
  std::string cache_directory;    // downloads are kept here
  std::string package_directory;  // scikit-learn's bundled tables
  DownloadFunction download;      // empty: no download

  // data_directory from EPSLEDGER_DATA_DIR; the cache below XDG_CACHE_HOME or HOME/.cache; the
  // tables of Debian's python3-sklearn; Download.
  static DataPlaces FromEnvironment();
};

// Invariant: no record of the request's source is in both parts, and both have the same columns.
struct LocatedData {
  std::string name;
  LabeledRows train;  // private
  HeldOutRows held_out;
  // Sentences for the user: which set, from where, whether the content is the known one, what is
  // held out, and what was scaled by which public range. They hold the number of training records
  // only where the content is the known one.
  std::string description;
};

// Finds data in this order; the first place that has the files is used:
//   1. `path`, or for a name the data directory;
//   2. the set's public origin, by download. The parsed content must have the known SHA-256
//      (ContentSha256), in the cache too; anything else is not used;
//   3. the table in the Debian package python3-sklearn (wdbc, digits);
//   4. for a9a only: wdbc from that package, and the description begins by saying so.
// A file that exists but cannot be read is an error; the search does not continue. A file in the
// data directory whose content is not the known one is used, and the description says so. A set
// without a test file is split by SplitRecords; a path comes with its test file.
//
// Features of wdbc are min-max scaled to [-1, 1] by the ranges of the whole sample, which are
// treated as public; digits are divided by 16. Nothing else is scaled here: see ClipRowNorms.
//
// INVALID_ARGUMENT: the request, or a file's content (the message names file:line; it depends on
// private records and comes before anything is charged). NOT_FOUND: no place has the data; the
// message says what happened at each.
absl::StatusOr<LocatedData> FindData(const DataRequest& request, const DataPlaces& places);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_DATA_SOURCE_H_
