#include "client/cli/print/table.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/convert/printable.h"

namespace epsledger::cli {
namespace {

constexpr char kBold[] = "\033[1m";
constexpr char kReset[] = "\033[0m";

const char* CodeOf(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\033[32m";
    case Tone::kWarning:
      return "\033[33m";
    case Tone::kBad:
      return "\033[31m";
    case Tone::kPlain:
      break;
  }
  return "";
}

// Returns the width in characters of UTF-8, each of which is taken to be one wide.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Padding(const std::string& text, size_t width) {
  const size_t taken = WidthOf(text);
  return std::string(width > taken ? width - taken : 0, ' ');
}

std::string Bold(const std::string& text, bool color) {
  return color ? absl::StrCat(kBold, text, kReset) : text;
}

std::string Toned(const Cell& cell, bool color) {
  if (!color || cell.tone() == Tone::kPlain) return cell.for_people();
  return absl::StrCat(CodeOf(cell.tone()), cell.for_people(), kReset);
}

// Returns "privacyUnit" for "privacy unit".
std::string FieldName(const std::string& column) {
  std::string name;
  for (const absl::string_view word : absl::StrSplit(column, ' ')) {
    absl::StrAppend(&name, word);
    if (name.size() > word.size()) {
      char& initial = name[name.size() - word.size()];
      initial = absl::ascii_toupper(static_cast<unsigned char>(initial));
    }
  }
  return name;
}

nlohmann::ordered_json JsonValue(const Cell& cell) {
  if (!cell.is_number()) return cell.exact();
  if (cell.exact() == "inf") return "Infinity";
  if (cell.exact() == "-inf") return "-Infinity";
  if (cell.exact() == "nan") return "NaN";
  return nlohmann::ordered_json::parse(cell.exact());
}

std::string CsvField(const std::string& exact) {
  const std::string text = convert::Printable(exact);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace

// Keeps control characters of stored texts away from the terminal.
Cell::Cell(std::string text) : for_people_(convert::Printable(text)), exact_(std::move(text)) {}
Cell::Cell(const char* text) : Cell(std::string(text)) {}
Cell::Cell(int64_t number)
    : for_people_(absl::StrCat(number)), exact_(for_people_), is_number_(true) {}
Cell::Cell(double number, Rounding rounding, int digits)
    : for_people_(RoundedNumber(number, rounding, digits)),
      exact_(ExactNumber(number)),
      is_number_(true) {}

Cell Cell::In(Tone tone) const {
  Cell cell = *this;
  cell.tone_ = tone;
  return cell;
}

void Table::PrintAligned(std::ostream& out, bool color) const {
  std::vector<size_t> widths;
  std::vector<bool> right;
  for (size_t column = 0; column < columns_.size(); ++column) {
    size_t width = WidthOf(columns_[column]);
    bool numbers = !rows_.empty();
    for (const std::vector<Cell>& row : rows_) {
      width = std::max(width, WidthOf(row[column].for_people()));
      numbers = numbers && (row[column].is_number() || row[column].for_people().empty());
    }
    widths.push_back(width);
    right.push_back(numbers);
  }
  // `shown` is `text` with its colors, which take no width. Nothing is printed after the last text.
  const auto print = [&](const auto& text_of, const auto& shown_of) {
    std::string line;
    std::string gap;
    for (size_t column = 0; column < columns_.size(); ++column) {
      const std::string text = text_of(column);
      const std::string padding = Padding(text, widths[column]);
      if (right[column]) absl::StrAppend(&gap, padding);
      if (!text.empty()) {
        absl::StrAppend(&line, gap, shown_of(column));
        gap.clear();
      }
      absl::StrAppend(&gap, right[column] ? "" : padding, "  ");
    }
    return line;
  };
  const auto heading = [&](size_t i) { return absl::AsciiStrToUpper(columns_[i]); };
  out << Bold(print(heading, heading), color) << "\n";
  for (const std::vector<Cell>& row : rows_) {
    out << print([&](size_t i) { return row[i].for_people(); },
                 [&](size_t i) { return Toned(row[i], color); })
        << "\n";
  }
}

void Table::PrintDetails(std::ostream& out, bool color) const {
  size_t width = 0;
  for (const std::string& column : columns_) width = std::max(width, WidthOf(column));
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (rows_[0][i].for_people().empty()) continue;
    out << Bold(columns_[i] + Padding(columns_[i], width), color) << "  "
        << Toned(rows_[0][i], color) << "\n";
  }
}

void Table::PrintCsv(std::ostream& out) const {
  const auto print = [&](const auto& text_of) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      out << (i == 0 ? "" : ",") << CsvField(text_of(i));
    }
    out << "\r\n";
  };
  print([&](size_t i) { return columns_[i]; });
  for (const std::vector<Cell>& row : rows_) print([&](size_t i) { return row[i].exact(); });
}

std::vector<std::string> Table::JsonRows(bool indented) const {
  std::vector<std::string> objects;
  for (const std::vector<Cell>& row : rows_) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < columns_.size(); ++i) {
      object[FieldName(columns_[i])] = JsonValue(row[i]);
    }
    objects.push_back(
        object.dump(indented ? 1 : -1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return objects;
}

}  // namespace epsledger::cli
