#include "server/backup_commands.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "accounting/event/status_macros.h"
#include "server/printable.h"
#include "server/statement/signing_key.h"
#include "server/storage/data_directory.h"
#include "server/storage/group_commit_ledger.h"
#include "server/storage/sqlite/backup.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace epsledger {
namespace {

// Checks the statement key. With a different key, heads of clients cannot prove a loss.
absl::Status CheckKey(const std::string& folder) {
  const std::string path = folder + "/statement.key";
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return statement::SigningKey::LoadOrCreate(path).status();
  }
  std::fprintf(stderr,
               "%s: has no statement.key: give the server the key that signed before "
               "(--statement-key), or heads of clients will not show what was lost\n",
               Printable(folder).c_str());
  return absl::OkStatus();
}

absl::Status BackUp(const BackupCommand& command) {
  ASSIGN_OR_RETURN(const auto copy, storage::BackUp(command.data_dir, command.to));
  RETURN_IF_ERROR(CheckKey(copy.folder));
  std::printf("%s\n", copy.folder.c_str());
  return absl::OkStatus();
}

absl::Status Restore(const BackupCommand& command) {
  RETURN_IF_ERROR(CheckKey(command.backup));
  ASSIGN_OR_RETURN(const auto restored, storage::Restore(command.backup, command.data_dir));
  std::printf("%s", Printable(storage::HeadLines(restored.ledgers)).c_str());
  std::fprintf(stderr,
               "restored as a new incarnation. What was charged after the backup was taken is not "
               "in it, and was spent all the same: see \"What a restored old copy means\" in "
               "OPERATIONS.md before trainers go on\n");
  return absl::OkStatus();
}

// Restores into a folder beside the backup, as a server would find it, and lets the ledger start.
absl::Status Drill(const BackupCommand& command) {
  RETURN_IF_ERROR(CheckKey(command.backup));
  std::string folder =
      std::filesystem::path(command.backup + "/.").lexically_normal().parent_path().string() +
      ".drill-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(folder + ": cannot be made");
  }
  const auto remove = absl::MakeCleanup([&] {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  });
  ASSIGN_OR_RETURN(const auto restored, storage::Restore(command.backup, folder));
  ASSIGN_OR_RETURN(auto store,
                   storage::SqliteStore::Open(storage::DatabaseIn(folder), {.anchored = true}));
  ASSIGN_OR_RETURN(const auto ledger, storage::GroupCommitLedger::Open(std::move(store), {}));
  RETURN_IF_ERROR(ledger->Health());
  std::printf("%s", Printable(storage::HeadLines(restored.ledgers)).c_str());
  std::fprintf(
      stderr,
      "the drill went well: %lld budgets and %lld entries were restored, verified and opened\n",
      static_cast<long long>(ledger->recovered_budget_count()),
      static_cast<long long>(ledger->recovered_entry_count()));
  return absl::OkStatus();
}

}  // namespace

absl::Status RunBackupCommand(const BackupCommand& command) {
  if (command.verb == BackupCommand::Verb::kBackUp) return BackUp(command);
  if (command.drill == !command.data_dir.empty()) {
    return absl::InvalidArgumentError("want one of --data-dir and --drill");
  }
  return command.drill ? Drill(command) : Restore(command);
}

}  // namespace epsledger
