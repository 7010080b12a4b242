#include "client/cli/table.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace epsledger::cli {
namespace {

constexpr char kBold[] = "\033[1m";
constexpr char kPlain[] = "\033[0m";

// Control characters in a stored name must not reach the terminal.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

std::string Padded(const std::string& text, std::size_t width, bool right) {
  const std::string spaces(width > text.size() ? width - text.size() : 0, ' ');
  return right ? spaces + text : text + spaces;
}

std::string Bold(const std::string& text, bool color) {
  return color ? absl::StrCat(kBold, text, kPlain) : text;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace

Cell::Cell(std::string text) : for_people_(Printable(text)), exact_(std::move(text)) {}
Cell::Cell(const char* text) : Cell(std::string(text)) {}
Cell::Cell(std::int64_t number)
    : for_people_(absl::StrCat(number)), exact_(for_people_), is_number_(true) {}
Cell::Cell(double number, Rounding rounding, int digits)
    : for_people_(RoundedNumber(number, rounding, digits)),
      exact_(ExactNumber(number)),
      is_number_(true) {}

void Table::PrintAligned(std::ostream& out, bool color) const {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::size_t width = columns_[column].size();
    bool numbers = !rows_.empty();
    for (const std::vector<Cell>& row : rows_) {
      width = std::max(width, row[column].for_people().size());
      numbers = numbers && (row[column].is_number() || row[column].for_people().empty());
    }
    widths.push_back(width);
    right.push_back(numbers);
  }
  const auto print = [&](const auto& text_of) {
    std::string line;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      absl::StrAppend(&line, column == 0 ? "" : "  ",
                      Padded(text_of(column), widths[column], right[column]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  out << Bold(print([&](std::size_t i) { return absl::AsciiStrToUpper(columns_[i]); }), color)
      << "\n";
  for (const std::vector<Cell>& row : rows_) {
    out << print([&](std::size_t i) { return row[i].for_people(); }) << "\n";
  }
}

void Table::PrintDetails(std::ostream& out, bool color) const {
  std::size_t width = 0;
  for (const std::string& column : columns_) width = std::max(width, column.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (rows_[0][i].for_people().empty()) continue;
    out << Bold(Padded(columns_[i], width, false), color) << "  " << rows_[0][i].for_people()
        << "\n";
  }
}

void Table::PrintCsv(std::ostream& out) const {
  const auto print = [&](const auto& text_of) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out << (i == 0 ? "" : ",") << CsvField(text_of(i));
    }
    out << "\r\n";
  };
  print([&](std::size_t i) { return columns_[i]; });
  for (const std::vector<Cell>& row : rows_) print([&](std::size_t i) { return row[i].exact(); });
}

}  // namespace epsledger::cli
