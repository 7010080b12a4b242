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
  std::string test_path;  // with `path`, and only then: the file that is held out
  // With `path`, and only then: PUBLIC. Features above are left out of every record. The largest
  // index in the file would tell whether a record is there that has it.
  int feature_count = 0;
  std::string name;  // a known set: a9a, wdbc or breast-cancer, digits, german, w8a
  std::optional<double> positive_class;  // overrides the set's own
};

// The request that a command line's `--data ARGUMENT` means: a known name if it is one, else a path
// ("./a9a" is always one). NOT_FOUND, with the known names, if it is no name and nothing is there.
absl::StatusOr<DataRequest> ParseDataArgument(const std::string& argument);

// Where to look. An empty directory is not looked at.
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

// Finds data, in this order; the first place that has the files is taken:
//   1. `path`; or for a name: the data directory;
//   2. the set's public origin, by download. The parsed content must have the known SHA-256
//      (ContentSha256), in the cache too; anything else is not used;
//   3. the table in the Debian package python3-sklearn (wdbc, digits);
//   4. for a9a alone: wdbc from that package, and the description begins by saying so.
// A file that is there and cannot be read is an error, not a reason to look further. A file in the
// data directory with another content than the known one is taken, and the description says so. A
// set without a test file is split by SplitRecords; a path comes with its test file.
//
// Features of wdbc are min-max scaled to [-1, 1] by the ranges of the whole sample, which are
// treated as public; digits are divided by 16. Nothing else is scaled here: see ClipRowNorms.
//
// INVALID_ARGUMENT: the request, or a file's content (file:line; of private records, and so before
// anything is charged). NOT_FOUND: none of the places has
// it; the message says what happened at each.
absl::StatusOr<LocatedData> FindData(const DataRequest& request, const DataPlaces& places);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_DATA_SOURCE_H_
