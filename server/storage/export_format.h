#ifndef EPSLEDGER_SERVER_STORAGE_EXPORT_FORMAT_H_
#define EPSLEDGER_SERVER_STORAGE_EXPORT_FORMAT_H_

// The lines of an export file (README.md). Every line has exactly one spelling: what parses formats
// to the same bytes again, so that no byte of a file can change unseen.

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
// The last line: without it the file was cut off.
struct ExportTrailer {
  int64_t entry_count = 0;
  core::Hash hash{};
  core::Hash merkle_root{};
};

// Each without the newline that ends it.
std::string Format(const ExportHeader& header);
std::string Format(const ExportRow& row);
std::string Format(const ExportTrailer& trailer);

// Nothing if the line is no such line. Never reads beyond it.
std::optional<ExportHeader> ParseExportHeader(std::string_view line);
std::optional<ExportRow> ParseExportRow(std::string_view line);
std::optional<ExportTrailer> ParseExportTrailer(std::string_view line);

// Lower-case hexadecimal digits.
std::string ToHex(const core::Hash& hash);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_EXPORT_FORMAT_H_
