#include "server/storage/export_format.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/core/limits.h"

namespace epsledger::storage {
namespace {

// Parses a line from the left. After a failure it takes nothing more.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : rest_(line) {}

  Scanner& Literal(std::string_view text) {
    failed_ = failed_ || rest_.substr(0, text.size()) != text;
    if (!failed_) rest_.remove_prefix(text.size());
    return *this;
  }
  // Takes the text up to the next quotation mark.
  Scanner& Text(std::string* text) {
    const size_t end = std::min(rest_.find('"'), rest_.size());
    *text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return *this;
  }
  Scanner& Number(int64_t* number) {
    const size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::string digits(rest_.substr(0, end));
    failed_ = failed_ || !absl::SimpleAtoi(digits, number);
    rest_.remove_prefix(end);
    return *this;
  }
  Scanner& Hex(std::string* bytes) {
    std::string digits;
    Text(&digits);
    failed_ = failed_ || digits.size() % 2 != 0 ||
              digits.find_first_not_of("0123456789abcdef") != digits.npos;
    if (!failed_) *bytes = absl::HexStringToBytes(digits);
    return *this;
  }
  Scanner& Hex(core::Hash* hash) {
    std::string bytes;
    Hex(&bytes);
    failed_ = failed_ || bytes.size() != hash->size();
    if (!failed_) std::copy(bytes.begin(), bytes.end(), hash->begin());
    return *this;
  }
  bool Done() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// Returns the parsed value if the line has its one spelling.
template <class Line>
std::optional<Line> IfCanonical(const Scanner& scanner, Line parsed, std::string_view line) {
  if (!scanner.Done() || Format(parsed) != line) return std::nullopt;
  return parsed;
}

bool IsBudgetId(std::string_view id) {
  return !id.empty() && static_cast<int64_t>(id.size()) <= core::kMaxIdBytes &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == id.npos;
}

}  // namespace

std::string ToHex(const core::Hash& hash) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

std::string Format(const ExportHeader& header) {
  return absl::StrCat(R"({"epsledgerExport":1,"rootBudget":"budgets/)", header.root_id, R"("})");
}

std::string Format(const ExportRow& row) {
  return absl::StrCat(R"({"sequence":)", row.sequence, R"(,"hash":")", ToHex(row.hash),
                      R"(","content":")", absl::BytesToHexString(row.content), R"("})");
}

std::string Format(const ExportTrailer& trailer) {
  return absl::StrCat(R"({"entryCount":)", trailer.entry_count, R"(,"hash":")", ToHex(trailer.hash),
                      R"(","merkleRoot":")", ToHex(trailer.merkle_root), R"("})");
}

std::optional<ExportHeader> ParseExportHeader(std::string_view line) {
  ExportHeader header;
  Scanner scanner(line);
  scanner.Literal(R"({"epsledgerExport":1,"rootBudget":"budgets/)")
      .Text(&header.root_id)
      .Literal(R"("})");
  if (!IsBudgetId(header.root_id)) return std::nullopt;
  return IfCanonical(scanner, std::move(header), line);
}

std::optional<ExportRow> ParseExportRow(std::string_view line) {
  ExportRow row;
  Scanner scanner(line);
  scanner.Literal(R"({"sequence":)")
      .Number(&row.sequence)
      .Literal(R"(,"hash":")")
      .Hex(&row.hash)
      .Literal(R"(","content":")")
      .Hex(&row.content)
      .Literal(R"("})");
  return IfCanonical(scanner, std::move(row), line);
}

std::optional<ExportTrailer> ParseExportTrailer(std::string_view line) {
  ExportTrailer trailer;
  Scanner scanner(line);
  scanner.Literal(R"({"entryCount":)")
      .Number(&trailer.entry_count)
      .Literal(R"(,"hash":")")
      .Hex(&trailer.hash)
      .Literal(R"(","merkleRoot":")")
      .Hex(&trailer.merkle_root)
      .Literal(R"("})");
  return IfCanonical(scanner, std::move(trailer), line);
}

}  // namespace epsledger::storage
