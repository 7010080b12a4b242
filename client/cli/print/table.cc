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
#include "client/cli/print/wrapped.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {
namespace {

constexpr char kBold[] = "\033[1m";
constexpr char kReset[] = "\033[0m";
constexpr size_t kGap = 2;  // between columns
// A text is cut to no fewer characters.
constexpr size_t kShortestCut = 12;

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

std::string Padding(const std::string& text, size_t width) {
  const size_t taken = WidthOf(text);
  return std::string(width > taken ? width - taken : 0, ' ');
}

std::string Bold(const std::string& text, bool color) {
  return color ? absl::StrCat(kBold, text, kReset) : text;
}

// Returns the text of a cell, which may be cut or broken, in the cell's tone.
std::string Toned(const std::string& text, Tone tone, bool color) {
  if (!color || tone == Tone::kPlain) return text;
  return absl::StrCat(CodeOf(tone), text, kReset);
}

// Returns the first `width` characters; if that is not all of them, the last ones are the mark.
std::string CutTo(const std::string& text, size_t width, bool unicode) {
  if (WidthOf(text) <= width) return text;
  const std::string mark = unicode ? "…" : "...";
  const size_t kept = width - WidthOf(mark);
  size_t end = 0;
  for (size_t characters = 0; end < text.size(); ++end) {
    const bool begins_character = (text[end] & 0xC0) != 0x80;
    if (begins_character && characters++ == kept) break;
  }
  return text.substr(0, end) + mark;
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

nlohmann::ordered_json JsonValue(const TableCell& cell) {
  if (!cell.is_number()) return cell.exact();
  if (cell.exact() == "inf") return "Infinity";
  if (cell.exact() == "-inf") return "-Infinity";
  if (cell.exact() == "nan") return "NaN";
  return nlohmann::ordered_json::parse(cell.exact());
}

std::string CsvField(const std::string& exact) {
  const std::string text = bridge::Printable(exact);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace

// Keeps control characters of stored texts away from the terminal.
TableCell::TableCell(std::string text)
    : for_people_(bridge::Printable(text)), exact_(std::move(text)) {}
TableCell::TableCell(const char* text) : TableCell(std::string(text)) {}
TableCell::TableCell(int64_t number)
    : for_people_(absl::StrCat(number)), exact_(for_people_), is_number_(true) {}
TableCell::TableCell(double number, Rounding rounding, int digits)
    : for_people_(RoundedNumber(number, rounding, digits)),
      exact_(ExactNumber(number)),
      is_number_(true) {}

TableCell TableCell::In(Tone tone) const {
  TableCell cell = *this;
  cell.tone_ = tone;
  return cell;
}

TableCell TableCell::ForPeople(const std::string& text) const {
  TableCell cell = *this;
  cell.for_people_ = bridge::Printable(text);
  return cell;
}

Table::Column& Table::Find(const std::string& name) {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  return places_[static_cast<size_t>(found - columns_.begin())];
}

Table& Table::OnlyWide(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) Find(column).place = Place::kOnlyWide;
  return *this;
}

Table& Table::IfRoom(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) Find(column).place = Place::kIfRoom;
  return *this;
}

Table& Table::MayCut(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) Find(column).may_cut = true;
  return *this;
}

std::vector<Table::Shown> Table::Fit(const TableStyle& style) const {
  std::vector<Shown> shown;
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (places_[column].place == Place::kOnlyWide && !style.wide) continue;
    Shown one = {.column = column, .width = WidthOf(columns_[column]), .is_right = !rows_.empty()};
    for (const std::vector<TableCell>& row : rows_) {
      one.width = std::max(one.width, WidthOf(row[column].for_people()));
      one.is_right = one.is_right && (row[column].is_number() || row[column].for_people().empty());
    }
    shown.push_back(one);
  }
  if (style.wide || style.width == 0) return shown;
  const auto excess = [&] {
    size_t length = 0;
    for (const Shown& one : shown) length += one.width + (length == 0 ? 0 : kGap);
    const auto most = static_cast<size_t>(style.width);
    return length > most ? length - most : 0;
  };
  for (size_t i = shown.size(); i-- > 0 && excess() > 0;) {
    if (places_[shown[i].column].place != Place::kIfRoom) continue;
    shown.erase(shown.begin() + static_cast<ptrdiff_t>(i));
  }
  while (const size_t over = excess()) {
    Shown* widest = nullptr;
    for (Shown& one : shown) {
      if (!places_[one.column].may_cut || one.width <= kShortestCut) continue;
      if (widest == nullptr || one.width > widest->width) widest = &one;
    }
    if (widest == nullptr) break;
    widest->width = std::max(kShortestCut, widest->width - std::min(over, widest->width));
  }
  return shown;
}

void Table::PrintAligned(std::ostream& out, const TableStyle& style) const {
  const std::vector<Shown> shown = Fit(style);
  // `toned` is the text with its colors, which take no width. Nothing is printed after the last
  // text.
  const auto print = [&](const auto& text_of, const auto& toned) {
    std::string line;
    std::string gap;
    for (const Shown& one : shown) {
      const std::string text = CutTo(text_of(one.column), one.width, style.unicode);
      const std::string padding = Padding(text, one.width);
      if (one.is_right) absl::StrAppend(&gap, padding);
      if (!text.empty()) {
        absl::StrAppend(&line, gap, toned(text, one.column));
        gap.clear();
      }
      absl::StrAppend(&gap, one.is_right ? "" : padding, std::string(kGap, ' '));
    }
    return line;
  };
  out << Bold(print([&](size_t i) { return absl::AsciiStrToUpper(columns_[i]); },
                    [](const std::string& text, size_t) { return text; }),
              style.color)
      << "\n";
  for (const std::vector<TableCell>& row : rows_) {
    out << print([&](size_t i) { return row[i].for_people(); },
                 [&](const std::string& text, size_t i) {
                   return Toned(text, row[i].tone(), style.color);
                 })
        << "\n";
  }
}

void Table::PrintDetails(std::ostream& out, const TableStyle& style) const {
  const auto is_shown = [&](size_t i) {
    return style.wide || places_[i].place != Place::kOnlyWide;
  };
  size_t width = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (is_shown(i)) width = std::max(width, WidthOf(columns_[i]));
  }
  const std::string indentation(width + kGap, ' ');
  const size_t room =
      style.width > 0 ? std::max(static_cast<size_t>(style.width), width + 30) - width - kGap : 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const TableCell& cell = rows_[0][i];
    if (!is_shown(i) || cell.for_people().empty()) continue;
    const std::string text = room > 0 ? Wrapped(cell.for_people(), room) : cell.for_people();
    out << Bold(columns_[i] + Padding(columns_[i], width), style.color) << std::string(kGap, ' ')
        << Toned(absl::StrReplaceAll(text, {{"\n", "\n" + indentation}}), cell.tone(), style.color)
        << "\n";
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
  for (const std::vector<TableCell>& row : rows_) print([&](size_t i) { return row[i].exact(); });
}

std::vector<std::string> Table::JsonRows(bool indented) const {
  std::vector<std::string> objects;
  for (const std::vector<TableCell>& row : rows_) {
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
