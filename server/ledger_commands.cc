#include "server/ledger_commands.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "server/core/access_ledger.h"
#include "server/core/tenant.h"
#include "server/heads/heads_file.h"
#include "server/printable.h"
#include "server/statement/signing_key.h"
#include "server/storage/data_directory.h"
#include "server/storage/export_format.h"
#include "server/storage/ledger_import.h"
#include "server/storage/ledger_migration.h"
#include "server/storage/postgres/inspection.h"
#include "server/storage/postgres/writer_rights.h"
#include "server/storage/sqlite/backup.h"
#include "server/storage/sqlite/inspection.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace epsledger {
namespace {

using storage::LedgerReport;

std::string NameOf(const std::string& root_id) {
  return root_id.empty() ? "the database" : storage::NameOfLedger(root_id);
}

// Prints the reports. Returns DATA_LOSS for the first one with a fault.
absl::Status Print(const std::vector<LedgerReport>& reports) {
  absl::Status status;
  for (const LedgerReport& report : reports) {
    const std::string name = NameOf(report.root_id);
    std::string line;
    if (!report.fault.has_value()) {
      line = absl::StrCat(name, ": verified, ", report.head.sequence, " entries, head ",
                          storage::ToHex(report.head.hash), ", Merkle root ",
                          storage::ToHex(report.merkle_root));
      if (report.proved_prices > 0) {
        absl::StrAppend(&line, ", ", report.proved_prices, " references and prices proved again");
      }
    } else if (report.fault->sequence > 0) {
      line = absl::StrCat(name, ": BAD at entry ", report.fault->sequence, ": ",
                          report.fault->problem);
    } else {
      line = absl::StrCat(name, ": BAD: ", report.fault->problem);
    }
    line = Printable(line);
    if (report.fault.has_value()) status.Update(absl::DataLossError(line));
    std::printf("%s\n", line.c_str());
  }
  if (reports.empty()) std::printf("no ledgers\n");
  return status;
}

// Prints to standard error: only the ledgers are compared with other machines.
void Print(const std::vector<core::Incarnation>& lives) {
  for (const core::Incarnation& life : lives) {
    const std::string line = absl::StrCat(
        "incarnation ", core::ToHex(life.id), " since ",
        absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixSeconds(life.begin_seconds),
                         absl::UTCTimeZone()),
        " UTC: ", life.reason);
    std::fprintf(stderr, "%s\n", Printable(line).c_str());
  }
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

// Compares published heads with the entries of ledgers as these are read.
class PublishedHeads {
 public:
  static absl::StatusOr<PublishedHeads> Read(const LedgerCommand& command) {
    PublishedHeads published;
    if (command.heads_file.empty()) return published;
    ASSIGN_OR_RETURN(std::vector<std::string> keys, PublicKeys(command));
    ASSIGN_OR_RETURN(const auto content, heads::HeadsFile(command.heads_file).Read(keys));
    if (content.is_cut_off) {
      return absl::DataLossError(command.heads_file + ": ends in the middle of a line");
    }
    if (content.entries.empty()) {
      return absl::NotFoundError(command.heads_file + ": there are no heads in it");
    }
    for (const core::NamedEntry& entry : content.entries) {
      published.missing_[entry.root_id].push_back(entry);
    }
    return published;
  }

  // `lives`: the incarnations of the store. Heads of other incarnations say nothing about it.
  void LeaveOut(const std::vector<core::Incarnation>& lives) {
    std::set<std::string> known = {""};
    for (const core::Incarnation& life : lives) known.insert(core::ShortId(life.id));
    if (!lives.empty()) present_ = core::ShortId(lives.back().id);
    for (auto& [root_id, entries] : missing_) {
      const auto is_foreign = [&](const core::NamedEntry& entry) {
        return known.count(entry.incarnation) == 0;
      };
      foreign_ += std::erase_if(entries, is_foreign);
    }
  }

  void Found(const std::string& root_id, const core::Entry& entry) {
    if (root_id == core::kAccessRootId) Follow(entry);
    const auto ledger = missing_.find(root_id);
    if (ledger != missing_.end()) {
      std::erase_if(ledger->second, [&](const core::NamedEntry& one) {
        return one.sequence == entry.sequence &&
               one.hash == std::string(entry.hash.begin(), entry.hash.end());
      });
    }
  }

  // Returns DATA_LOSS if a published head was not found.
  absl::Status Finish() const {
    absl::Status status;
    if (foreign_ > 0) {
      std::fprintf(stderr,
                   "%lld published heads are of incarnations that this store does not know, of a "
                   "copy of it or of a later life that was lost, and were not compared\n",
                   static_cast<long long>(foreign_));
    }
    for (const auto& [root_id, entries] : missing_) {
      const auto lost = access_.lost_entries().find(root_id);
      for (const core::NamedEntry& entry : entries) {
        const bool is_known = lost != access_.lost_entries().end() && !lost->second.in_quarantine &&
                              lost->second.Cover(entry.incarnation, entry.sequence, present_);
        const std::string line = Printable(absl::StrCat(
            NameOf(root_id), is_known ? ": " : ": BAD: ", "entry ", entry.sequence, " with hash ",
            absl::BytesToHexString(entry.hash), " was published, and is not in it",
            is_known ? ", and that was accepted" : ""));
        std::fprintf(is_known ? stderr : stdout, "%s\n", line.c_str());
        if (!is_known) status.Update(absl::DataLossError(line));
      }
    }
    return status;
  }

 private:
  static absl::StatusOr<std::vector<std::string>> PublicKeys(const LedgerCommand& command) {
    constexpr size_t kBytes = 32;
    std::vector<std::string> keys;
    for (const std::string& digits : command.public_keys) {
      keys.push_back(absl::HexStringToBytes(digits));
      if (digits.size() == 2 * kBytes && keys.back().size() == kBytes) continue;
      return absl::InvalidArgumentError("--public-key: want 64 hexadecimal digits");
    }
    if (!keys.empty()) return keys;
    const std::string path = command.place.data_dir + "/statement.key";
    std::error_code error;
    if (command.place.data_dir.empty() || !std::filesystem::exists(path, error)) {
      return absl::InvalidArgumentError("--public-key: is missing, and there is no " + path);
    }
    ASSIGN_OR_RETURN(const statement::SigningKey key, statement::SigningKey::LoadOrCreate(path));
    return std::vector<std::string>{key.public_key()};
  }

  // Prints who lifted a ledger's quarantine, and why.
  void Follow(const core::Entry& entry) {
    if (!access_.Apply(entry).ok()) return;
    const auto* lifted = std::get_if<core::QuarantineLifted>(&entry.body);
    if (lifted == nullptr) return;
    const std::string line =
        absl::StrCat(NameOf(lifted->root_id), ": out of quarantine since ",
                     absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixMicros(entry.time_micros),
                                      absl::UTCTimeZone()),
                     " UTC by ", lifted->principal, ": ", lifted->reason);
    std::fprintf(stderr, "%s\n", Printable(line).c_str());
  }

  std::map<std::string, std::vector<core::NamedEntry>> missing_;  // by ledger
  core::AccessLedger access_;
  std::string present_;  // the store's incarnation
  size_t foreign_ = 0;
};

absl::Status Verify(const LedgerCommand& command) {
  const StorePlace& place = command.place;
  if (command.file.empty() == (place.data_dir.empty() && place.postgres.empty())) {
    return absl::InvalidArgumentError("want one of an export file, --data-dir and --postgres");
  }
  const core::PriceCheck prices =
      command.prices ? core::PriceCheck::kProved : core::PriceCheck::kStored;
  if (!command.file.empty()) {
    if (!command.heads_file.empty()) {
      return absl::InvalidArgumentError(
          "--heads: is of all ledgers, and an export file has one; want --data-dir or --postgres");
    }
    ASSIGN_OR_RETURN(std::ifstream file, OpenExport(command.file));
    return Print(storage::ReadExport(
        file, [](const std::string&, const core::Entry&) { return absl::OkStatus(); }, prices));
  }
  ASSIGN_OR_RETURN(PublishedHeads published, PublishedHeads::Read(command));
  if (place.postgres.empty()) {
    ASSIGN_OR_RETURN(const auto lives,
                     storage::SqliteIncarnations(storage::DatabaseIn(place.data_dir)));
    Print(lives);
    published.LeaveOut(lives);
  } else {
    ASSIGN_OR_RETURN(const auto lives, storage::PostgresIncarnations(PostgresOf(place)));
    Print(lives);
    published.LeaveOut(lives);
  }
  const auto found = [&](const std::string& root_id, const core::Entry& entry) {
    published.Found(root_id, entry);
  };
  ASSIGN_OR_RETURN(const auto reports,
                   place.postgres.empty()
                       ? storage::VerifySqlite(storage::DatabaseIn(place.data_dir), prices, found)
                       : storage::VerifyPostgres(PostgresOf(place), prices, found));
  absl::Status status = Print(reports);
  status.Update(published.Finish());
  return status;
}

absl::Status Import(const LedgerCommand& command) {
  ASSIGN_OR_RETURN(std::ifstream file, OpenExport(command.file));
  RETURN_IF_ERROR(storage::MakeDataDirectory(command.place.data_dir));
  return Print(storage::ImportToSqlite(file, storage::DatabaseIn(command.place.data_dir)));
}

absl::Status Export(const LedgerCommand& command) {
  if (command.place.data_dir.empty() && command.place.postgres.empty()) {
    return absl::InvalidArgumentError("want one of --data-dir and --postgres");
  }
  const std::string unfinished = command.file + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  if (!file) return absl::UnavailableError(command.file + ": cannot be written");
  const std::string root_id(absl::StripPrefix(command.budget, "budgets/"));
  const StorePlace& place = command.place;
  const absl::StatusOr<LedgerReport> report =
      place.postgres.empty()
          ? storage::ExportSqlite(storage::DatabaseIn(place.data_dir), root_id, file)
          : storage::ExportPostgres(PostgresOf(place), root_id, file);
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

absl::Status AcceptLoss(const LedgerCommand& command) {
  const bool blank = command.reason.find_first_not_of(' ') == std::string::npos;
  if (blank || Printable(command.reason) != command.reason || command.reason.size() > 256 ||
      command.reason.find('\n') != std::string::npos) {
    return absl::InvalidArgumentError("--reason: want one line of 1 to 256 bytes of text");
  }
  const std::string path = storage::DatabaseIn(command.place.data_dir);
  {
    ASSIGN_OR_RETURN(const auto store,
                     storage::SqliteStore::Open(
                         path, {.create = false, .anchored = true, .accept_loss = command.reason}));
    if (store->accepted_loss().empty()) {
      std::printf("nothing is missing, and nothing was changed\n");
    } else {
      std::printf("accepted, as a new incarnation: %s\n", store->accepted_loss().c_str());
    }
  }
  return Verify(command);
}

absl::Status Migrate(const LedgerCommand& command) {
  const auto progress = [](int64_t entry_count) {
    std::fprintf(stderr, "%lld entries\n", static_cast<long long>(entry_count));
  };
  const bool to_postgres = command.to == "postgres";
  ASSIGN_OR_RETURN(
      const storage::MigrationReport report,
      to_postgres
          ? storage::MigrateToPostgres(command.place.data_dir, PostgresOf(command.place), progress)
          : storage::MigrateToSqlite(PostgresOf(command.place), command.place.data_dir, progress));
  for (const auto& [root_id, head] : report.heads) {
    std::printf("%s: %lld entries, head %s\n", NameOf(root_id).c_str(),
                static_cast<long long>(head.sequence), storage::ToHex(head.hash).c_str());
  }
  std::printf("moved %lld entries, %lld of them now. %s\n",
              static_cast<long long>(report.entry_count),
              static_cast<long long>(report.copied_count),
              to_postgres ? "Start servers with --postgres and with the folder's statement.key as "
                            "--statement-key"
                          : "Start the server with --data-dir, and with the statement key of the "
                            "servers before it");
  return absl::OkStatus();
}

absl::Status Prepare(const LedgerCommand& command) {
  RETURN_IF_ERROR(storage::PreparePostgres(PostgresOf(command.place), command.writer));
  std::printf("The tables are there; \"%s\" may append to them. Start servers as that role\n",
              Printable(command.writer).c_str());
  return absl::OkStatus();
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
    case LedgerCommand::Verb::kAcceptLoss:
      return AcceptLoss(command);
    case LedgerCommand::Verb::kMigrate:
      return Migrate(command);
    case LedgerCommand::Verb::kPrepare:
      return Prepare(command);
    case LedgerCommand::Verb::kNone:
      break;
  }
  return absl::InternalError("no such verb");
}

}  // namespace epsledger
