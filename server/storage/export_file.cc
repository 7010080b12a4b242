#include "server/storage/export_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/core/codec.h"
#include "server/storage/export_format.h"

namespace epsledger::storage {
namespace {

// The lines of a file. A last line without its newline does not count: the file was cut off there.
class Lines {
 public:
  explicit Lines(std::istream& in) : in_(in) {}

  bool Next(std::string* line) {
    if (!std::getline(in_, *line) || in_.eof()) return false;
    ++number_;
    return true;
  }
  bool AtEnd() { return in_.peek() == std::istream::traits_type::eof(); }
  int64_t number() const { return number_; }

 private:
  std::istream& in_;
  int64_t number_ = 0;
};

std::optional<core::LedgerFault> CheckTrailer(const ExportTrailer& trailer,
                                              const core::Ledger& ledger) {
  const core::LedgerHead& head = ledger.head();
  const auto wrong = [&](const char* what) {
    return core::LedgerFault{
        head.sequence, absl::StrCat("the last line does not follow from the entries: ", what)};
  };
  if (head.sequence == 0) return core::LedgerFault{1, "the file holds no entry"};
  if (trailer.entry_count != head.sequence) return wrong("entryCount");
  if (trailer.hash != head.hash) return wrong("hash");
  if (trailer.merkle_root != ledger.merkle().Root()) return wrong("merkleRoot");
  return std::nullopt;
}

// Checks one row; sets `entry` to its entry if the row is right.
std::optional<core::LedgerFault> CheckRow(const ExportRow& row, const std::string& root_id,
                                          core::LedgerVerifier& verifier, core::Entry* entry) {
  const int64_t want = verifier.next_sequence();
  if (auto fault = verifier.Check(row.content, row.hash)) return fault;
  if (row.sequence != want) {
    return core::LedgerFault{
        want, absl::StrCat("the line of entry ", want, " says sequence ", row.sequence)};
  }
  if (!verifier.NameFits()) {
    return core::LedgerFault{
        want, absl::StrCat("the file says it is the ledger of budgets/", root_id,
                           ", its entries are of budgets/", verifier.ledger().root_id())};
  }
  *entry = *core::DecodeEntry(row.content, row.hash);
  return std::nullopt;
}

}  // namespace

ExportWriter::ExportWriter(std::ostream& out, const std::string& root_id) : out_(out) {
  out_ << Format(ExportHeader{root_id}) << "\n";
}

void ExportWriter::Add(const core::Entry& entry) {
  out_ << Format(ExportRow{entry.sequence, entry.hash, entry.content}) << "\n";
}

absl::Status ExportWriter::Finish(const core::LedgerHead& head, const core::Hash& merkle_root) {
  out_ << Format(ExportTrailer{head.sequence, head.hash, merkle_root}) << "\n";
  out_.flush();
  if (!out_) return absl::UnavailableError("the export cannot be written: is the disk full?");
  return absl::OkStatus();
}

absl::StatusOr<LedgerReport> ReadExport(
    std::istream& in,
    absl::FunctionRef<absl::Status(const std::string& root_id, const core::Entry&)> visit,
    core::PriceCheck prices) {
  LedgerReport report;
  Lines lines(in);
  std::string line;
  const bool has_first = lines.Next(&line);
  const std::optional<ExportHeader> header =
      has_first ? ParseExportHeader(line) : std::optional<ExportHeader>();
  if (!header.has_value()) {
    report.fault = {1, "line 1 is not the first line of an export of this version"};
    return report;
  }
  report.root_id = header->root_id;
  core::LedgerVerifier verifier(header->root_id, prices);
  const auto finish = [&](std::optional<core::LedgerFault> fault) {
    report.head = verifier.head();
    report.merkle_root = verifier.merkle_root();
    report.proved_prices = verifier.proved_prices();
    report.fault = std::move(fault);
    return std::move(report);
  };
  while (lines.Next(&line)) {
    if (const std::optional<ExportTrailer> trailer = ParseExportTrailer(line)) {
      if (!lines.AtEnd()) {
        return finish(core::LedgerFault{verifier.next_sequence(),
                                        "something follows the line that says it is the last"});
      }
      return finish(CheckTrailer(*trailer, verifier.ledger()));
    }
    const std::optional<ExportRow> row = ParseExportRow(line);
    if (!row.has_value()) {
      return finish(
          core::LedgerFault{verifier.next_sequence(),
                            absl::StrCat("line ", lines.number(), " is not a line of an export")});
    }
    core::Entry entry;
    if (auto fault = CheckRow(*row, report.root_id, verifier, &entry)) return finish(fault);
    RETURN_IF_ERROR(visit(report.root_id, entry));
  }
  return finish(
      core::LedgerFault{verifier.next_sequence(), "the file is cut off: its last line is missing"});
}

}  // namespace epsledger::storage
