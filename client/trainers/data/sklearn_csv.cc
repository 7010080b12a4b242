#include "client/trainers/data/sklearn_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers {
namespace {

std::vector<std::string_view> SplitFields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class Number>
bool ParseWhole(std::string_view field, Number* number) {
  const char* const end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, *number);
  return error == std::errc() && stop == end;
}

struct Header {
  int64_t records = -1;  // -1: no header
  int64_t features = -1;
};

Header ParseHeader(const std::vector<std::string_view>& fields) {
  Header header;
  double third = 0;
  if (fields.size() < 3 || ParseWhole(fields[2], &third) ||
      !ParseWhole(fields[0], &header.records) || !ParseWhole(fields[1], &header.features)) {
    return {};
  }
  return header;
}

}  // namespace

absl::StatusOr<ParsedRecords> ParseSklearnCsv(std::string_view text, const std::string& name) {
  Header header;
  size_t field_count = 0;
  std::vector<double> labels;
  std::vector<Eigen::Triplet<double>> entries;
  const auto error = [&name](int64_t line_number, const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(name, ":", line_number, ": ", what));
  };
  int64_t line_number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::vector<std::string_view> fields = SplitFields(line);
    if (line_number == 1) {
      header = ParseHeader(fields);
      if (header.features >= 0) {
        field_count = static_cast<size_t>(header.features) + 1;
        continue;
      }
    }
    if (field_count == 0) field_count = fields.size();
    if (fields.size() != field_count || field_count < 2) {
      return error(line_number, absl::StrCat("got ", fields.size(), " fields, want ",
                                             std::max<size_t>(field_count, 2)));
    }
    for (size_t column = 0; column < field_count; ++column) {
      double number = 0;
      if (!ParseWhole(fields[column], &number) || !std::isfinite(number)) {
        return error(line_number,
                     absl::StrCat("got \"", std::string(fields[column].substr(0, 40)),
                                  "\" in field ", column + 1, ", want a finite number"));
      }
      if (column + 1 == field_count) {
        labels.push_back(number);
      } else if (number != 0) {
        entries.emplace_back(static_cast<int>(labels.size()), static_cast<int>(column), number);
      }
    }
  }
  const auto record_count = static_cast<Eigen::Index>(labels.size());
  if (labels.empty()) return error(1, "got no records, want at least one");
  if (header.records >= 0 && header.records != record_count) {
    return error(1, absl::StrCat("got a header that promises ", header.records,
                                 " records, want the ", record_count, " that follow"));
  }
  ParsedRecords records;
  records.features.resize(record_count, static_cast<Eigen::Index>(field_count) - 1);
  records.features.setFromTriplets(entries.begin(), entries.end());
  records.features.makeCompressed();
  records.labels = Eigen::Map<const Eigen::VectorXd>(labels.data(), record_count);
  records.name = name;
  return records;
}

absl::StatusOr<ParsedRecords> ReadSklearnCsv(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadTextFile(path));
  return ParseSklearnCsv(text, path);
}

}  // namespace epsledger::trainers
