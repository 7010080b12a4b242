#ifndef EPSLEDGER_CLIENT_CLI_PRINT_TABLE_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epsledger/rounded_number.h"

namespace epsledger::cli {

// Marks what a reader should see first, where colors are shown.
enum class Tone { kPlain, kGood, kWarning, kBad };

// One cell, with a form for people and an exact one for programs.
class TableCell {
 public:
  // NOLINTBEGIN(google-explicit-constructor): rows are written as lists of values.
  TableCell(std::string text);
  TableCell(const char* text);
  TableCell(int64_t number);
  // NOLINTEND(google-explicit-constructor)
  TableCell(double number, Rounding rounding, int digits = kUsualDigits);

  // The same cell in this tone.
  TableCell In(Tone tone) const;
  // The same cell with this form for people.
  TableCell ForPeople(const std::string& text) const;

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

// How a table looks to people.
struct TableStyle {
  bool color = false;    // headings are bold, and tones are shown
  bool wide = false;     // every column, however long the lines get
  int width = 0;         // of a line, in characters; 0: as long as it gets
  bool unicode = false;  // cut texts end with one character instead of three dots
};

// Rows under named columns. Every row has as many cells as there are columns.
class Table {
 public:
  explicit Table(std::vector<std::string> columns)
      : columns_(std::move(columns)), places_(columns_.size()) {}

  // Shows these columns to people only in the wide style. csv and json always have all columns.
  Table& OnlyWide(const std::vector<std::string>& columns);
  // Leaves out these columns of aligned rows where the lines are too long, the last one first.
  Table& IfRoom(const std::vector<std::string>& columns);
  // Cuts the texts of these columns of aligned rows if the lines are too long after that. For texts
  // that nobody types again.
  Table& MayCut(const std::vector<std::string>& columns);

  void AddRow(std::vector<TableCell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  // Aligned columns under upper-case headings; numbers to the right.
  void PrintAligned(std::ostream& out, const TableStyle& style) const;
  // One "column  value" line for each cell of the only row that is not empty. A long value goes on
  // below itself. REQUIRES: one row.
  void PrintDetails(std::ostream& out, const TableStyle& style) const;
  // RFC 4180 with a header line and exact numbers.
  void PrintCsv(std::ostream& out) const;
  // A JSON object for each row, its fields named after the columns: "privacy unit" is privacyUnit.
  // Numbers are exact; infinities and NaN are the texts of proto3 JSON.
  std::vector<std::string> JsonRows(bool indented) const;

 private:
  enum class Place { kAlways, kIfRoom, kOnlyWide };
  struct Column {
    Place place = Place::kAlways;
    bool may_cut = false;
  };
  // A column as it is printed.
  struct Shown {
    size_t column = 0;
    size_t width = 0;
    bool is_right = false;
  };

  Column& Find(const std::string& name);
  // Returns the columns that the style shows, with widths that fit its lines if they can.
  std::vector<Shown> Fit(const TableStyle& style) const;

  std::vector<std::string> columns_;
  std::vector<Column> places_;
  std::vector<std::vector<TableCell>> rows_;
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_TABLE_H_
