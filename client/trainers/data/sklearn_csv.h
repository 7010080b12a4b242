#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_SKLEARN_CSV_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_SKLEARN_CSV_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/trainers/data/libsvm_data.h"

namespace epsledger::trainers {

// Parses a table as scikit-learn ships its bundled sets: one record a line, numbers separated by
// commas, the target last. A first line that begins "records,features," and has a field that is not
// a number (class names; some versions pad it with commas) is a header, and its two counts must be
// correct. Zeros become absent entries.
// INVALID_ARGUMENT "name:line: what it got, what it wants": not a finite number, a line with a
// different number of fields, counts that differ from the header's, no records.
absl::StatusOr<ParsedRecords> ParseSklearnCsv(std::string_view text, const std::string& name);

// ParseSklearnCsv of the file at `path`, gzipped or not. Status codes as ReadLibsvm.
absl::StatusOr<ParsedRecords> ReadSklearnCsv(const std::string& path);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_SKLEARN_CSV_H_
