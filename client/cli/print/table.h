#ifndef EPSLEDGER_CLIENT_CLI_PRINT_TABLE_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_TABLE_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "epsledger/rounded_number.h"

namespace epsledger::cli {

// Marks what a reader should see first, where colors are shown.
enum class Tone { kPlain, kGood, kWarning, kBad };

// One cell, with a form for people and an exact one for programs.
class Cell {
 public:
  // NOLINTBEGIN(google-explicit-constructor): rows are written as lists of values.
  Cell(std::string text);
  Cell(const char* text);
  Cell(int64_t number);
  // NOLINTEND(google-explicit-constructor)
  Cell(double number, Rounding rounding, int digits = kUsualDigits);

  // The same cell in this tone.
  Cell In(Tone tone) const;

  const std::string& for_people() const { return for_people_; }
  const std::string& exact() const { return exact_; }
  bool is_number() const { return is_number_; }
  Tone tone() const { return tone_; }

 private:
  std::string for_people_;
  std::string exact_;
  bool is_number_ = false;
  Tone tone_ = Tone::kPlain;
};

// Rows under named columns. Every row has as many cells as there are columns.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void AddRow(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  // Aligned columns under upper-case headings; numbers to the right. With `color`, the headings are
  // bold and tones are shown.
  void PrintAligned(std::ostream& out, bool color) const;
  // One "column  value" line for each cell of the only row. REQUIRES: one row.
  void PrintDetails(std::ostream& out, bool color) const;
  // RFC 4180 with a header line and exact numbers.
  void PrintCsv(std::ostream& out) const;
  // A JSON object for each row, its fields named after the columns: "privacy unit" is privacyUnit.
  // Numbers are exact; infinities and NaN are the texts of proto3 JSON.
  std::vector<std::string> JsonRows(bool indented) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_TABLE_H_
