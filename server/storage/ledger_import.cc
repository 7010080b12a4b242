#include "server/storage/ledger_import.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/storage/data_directory.h"
#include "server/storage/sqlite/lost_commits.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace epsledger::storage {
namespace {

// Entries per transaction.
constexpr int64_t kImportedPerCommit = 10'000;

void RemoveDatabase(const std::string& path) {
  std::error_code ignored;
  for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(path + ending, ignored);
}

absl::StatusOr<LedgerReport> ImportInto(std::istream& in, SqliteStore& store) {
  int64_t pending = 0;
  absl::StatusOr<LedgerReport> report =
      ReadExport(in, [&](const std::string& root_id, const core::Entry& entry) {
        absl::Status status = pending == 0 ? store.Begin() : absl::OkStatus();
        if (status.ok()) status = store.Append(root_id, entry);
        if (status.ok() && ++pending == kImportedPerCommit) {
          pending = 0;
          status = store.Commit();
        }
        return status;
      });
  if (report.ok() && pending > 0) {
    RETURN_IF_ERROR(store.Commit());
  }
  return report;
}

// Gives the file its name in one step and never replaces another file. The name is then durable.
absl::Status Publish(const std::string& from, const std::string& path) {
  if (link(from.c_str(), path.c_str()) != 0) {
    if (errno == EEXIST) return absl::AlreadyExistsError(path + ": there is a ledger already");
    return absl::UnavailableError(absl::StrCat(path, ": cannot be made: ", std::strerror(errno)));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return SyncDirectory(folder.empty() ? "." : folder);
}

}  // namespace

absl::StatusOr<LedgerReport> ImportToSqlite(std::istream& in, const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return absl::AlreadyExistsError(path + ": there is a ledger already; import into a new folder");
  }
  RETURN_IF_ERROR(CheckForLostDatabase(path));
  const std::string unfinished = path + ".importing";
  RemoveDatabase(unfinished);
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteStore> store, SqliteStore::Open(unfinished));
  absl::StatusOr<LedgerReport> report = ImportInto(in, *store);
  store.reset();  // the log is gone into the file
  if (report.ok() && !report->fault.has_value()) {
    if (absl::Status status = Publish(unfinished, path); !status.ok()) report = status;
  }
  RemoveDatabase(unfinished);
  return report;
}

}  // namespace epsledger::storage
