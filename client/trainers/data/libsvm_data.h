#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_LIBSVM_DATA_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_LIBSVM_DATA_H_

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_rows.h"

namespace epsledger::trainers {

// The largest feature index that is read. A typo must not allocate gigabytes.
inline constexpr int kMaxFeatureCount = 1 << 20;
// The most bytes of text, after decompression, that are read from one file.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 30;

// The records of a file: row i comes from the i-th record of the text, in LIBSVM files from line i
// + 1.
struct ParsedRecords {
  SparseRows features;     // explicit zeros of the text are dropped
  Eigen::VectorXd labels;  // any finite numbers
  std::string name;        // for messages
};

// Parses LIBSVM text: one record a line, `label index:value index:value ...`, separated by blanks,
// indices from 1 and increasing within a line, numbers decimal and finite. A line may end in blanks
// and a carriage return; empty lines and comments are errors. A record without entries is allowed.
//
// `feature_count` is the number of columns, and an index above it is an error; 0 means the largest
// index in the text (an explicit zero counts). That number then depends on the records: set it
// where it is known.
//
// INVALID_ARGUMENT "name:line: what it got, what it wants", for the first error. O(text).
absl::StatusOr<ParsedRecords> ParseLibsvm(std::string_view text, const std::string& name,
                                          int feature_count = 0);

// ParseLibsvm of the file at `path`, gzipped or not (detected by its first bytes, not by its name).
// NOT_FOUND if it cannot be opened; DATA_LOSS if it is truncated or corrupt; OUT_OF_RANGE above
// kMaxFileBytes; otherwise as ParseLibsvm.
absl::StatusOr<ParsedRecords> ReadLibsvm(const std::string& path, int feature_count = 0);

// Maps labels to {0, 1}. With `positive_class`: 1 where the label equals it, else 0; at least one
// label must be equal. Without: the labels must be -1 and +1, or 0 and 1 (1 is class 1).
// INVALID_ARGUMENT "name:line: ..." at the first label that does not fit.
absl::StatusOr<LabeledRows> ToTwoClasses(const ParsedRecords& data,
                                         std::optional<double> positive_class);

// Returns the whole text of a file, gzipped or not. Status codes as ReadLibsvm.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_LIBSVM_DATA_H_
