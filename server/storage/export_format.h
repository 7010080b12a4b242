#ifndef EPSLEDGER_SERVER_STORAGE_EXPORT_FORMAT_H_
#define EPSLEDGER_SERVER_STORAGE_EXPORT_FORMAT_H_

// The lines of an export file (README.md). Every line has exactly one spelling: a parsed line
// formats to the same bytes again, so no byte of a file can change undetected.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/core/entry.h"

namespace epsledger::storage {

// The first line.
struct ExportHeader {
  std::string root_id;
};
// One line for each entry, in order.
struct ExportRow {
  int64_t sequence = 0;
  core::Hash hash{};
  std::string content;
};
// The last line. A file without it was cut off.
struct ExportTrailer {
  int64_t entry_count = 0;
  core::Hash hash{};
  core::Hash merkle_root{};
};

// Return a line without its final newline.
std::string Format(const ExportHeader& header);
std::string Format(const ExportRow& row);
std::string Format(const ExportTrailer& trailer);

// Return nothing if the line has another form. Never read beyond it.
std::optional<ExportHeader> ParseExportHeader(std::string_view line);
std::optional<ExportRow> ParseExportRow(std::string_view line);
std::optional<ExportTrailer> ParseExportTrailer(std::string_view line);

// Returns lower-case hexadecimal digits.
std::string ToHex(const core::Hash& hash);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_EXPORT_FORMAT_H_
