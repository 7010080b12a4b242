#include "server/ledger_commands.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/storage/export_format.h"
#include "server/storage/ledger_import.h"
#include "server/storage/sqlite_inspection.h"

namespace epsledger {
namespace {

using storage::LedgerReport;

std::string DatabaseIn(const std::string& data_dir) { return data_dir + "/ledger.sqlite"; }

// DATA_LOSS for the first report with a fault.
absl::Status Print(const std::vector<LedgerReport>& reports) {
  absl::Status status;
  for (const LedgerReport& report : reports) {
    const std::string name = report.root_id.empty() ? "the database" : "budgets/" + report.root_id;
    std::string line;
    if (!report.fault.has_value()) {
      line = absl::StrCat(name, ": verified, ", report.head.sequence, " entries, head ",
                          storage::ToHex(report.head.hash), ", Merkle root ",
                          storage::ToHex(report.merkle_root));
    } else if (report.fault->sequence > 0) {
      line = absl::StrCat(name, ": BAD at entry ", report.fault->sequence, ": ",
                          report.fault->problem);
    } else {
      line = absl::StrCat(name, ": BAD: ", report.fault->problem);
    }
    if (report.fault.has_value()) status.Update(absl::DataLossError(line));
    std::printf("%s\n", line.c_str());
  }
  if (reports.empty()) std::printf("no ledgers\n");
  return status;
}

absl::Status Print(const absl::StatusOr<LedgerReport>& report) {
  if (!report.ok()) return report.status();
  return Print(std::vector<LedgerReport>{*report});
}

absl::StatusOr<std::ifstream> OpenExport(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(path + ": cannot be read");
  return file;
}

absl::Status Verify(const LedgerCommand& command) {
  if (command.file.empty() == command.data_dir.empty()) {
    return absl::InvalidArgumentError("want one of an export file and --data-dir");
  }
  if (!command.data_dir.empty()) {
    const auto reports = storage::VerifySqlite(DatabaseIn(command.data_dir));
    return reports.ok() ? Print(*reports) : reports.status();
  }
  absl::StatusOr<std::ifstream> file = OpenExport(command.file);
  if (!file.ok()) return file.status();
  return Print(storage::ReadExport(
      *file, [](const std::string&, const core::Entry&) { return absl::OkStatus(); }));
}

absl::Status Import(const LedgerCommand& command) {
  absl::StatusOr<std::ifstream> file = OpenExport(command.file);
  if (!file.ok()) return file.status();
  std::error_code error;
  if (std::filesystem::create_directories(command.data_dir, error) && !error) {
    // Nobody else has business in a ledger.
    std::filesystem::permissions(command.data_dir, std::filesystem::perms::owner_all, error);
  }
  if (error) {
    return absl::UnavailableError(command.data_dir + ": cannot be made: " + error.message());
  }
  return Print(storage::ImportToSqlite(*file, DatabaseIn(command.data_dir)));
}

absl::Status Export(const LedgerCommand& command) {
  const std::string unfinished = command.file + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  if (!file) return absl::UnavailableError(command.file + ": cannot be written");
  const std::string root_id(absl::StripPrefix(command.budget, "budgets/"));
  const absl::StatusOr<LedgerReport> report =
      storage::ExportSqlite(DatabaseIn(command.data_dir), root_id, file);
  file.close();
  absl::Status status = Print(report);
  std::error_code error;
  if (status.ok()) std::filesystem::rename(unfinished, command.file, error);
  if (status.ok() && error) {
    status = absl::UnavailableError(command.file + ": cannot be written: " + error.message());
  }
  std::filesystem::remove(unfinished, error);
  return status;
}

}  // namespace

absl::Status RunLedgerCommand(const LedgerCommand& command) {
  switch (command.verb) {
    case LedgerCommand::Verb::kVerify:
      return Verify(command);
    case LedgerCommand::Verb::kImport:
      return Import(command);
    case LedgerCommand::Verb::kExport:
      return Export(command);
    case LedgerCommand::Verb::kNone:
      break;
  }
  return absl::InternalError("no such verb");
}

}  // namespace epsledger
