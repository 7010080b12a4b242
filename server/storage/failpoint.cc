#include "server/storage/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"

namespace epsledger::storage {
namespace internal {

std::atomic<bool> failpoint_armed{false};

namespace {

struct Armed {
  std::string name;
  std::atomic<int64_t> passes_left{0};
};

Armed& ArmedPoint() {
  static Armed* const armed = new Armed;  // outlives every thread
  return *armed;
}

// Reads the environment once, before main.
const bool read_environment = [] {
  const char* value = std::getenv("EPSLEDGERD_FAILPOINT");
  if (value == nullptr || *value == '\0') return false;
  const std::string_view text(value);
  const size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  int64_t count = 0;
  const bool known = std::any_of(std::begin(kFailpoints), std::end(kFailpoints),
                                 [&](const char* point) { return name == point; });
  if (!known || colon == text.npos || !absl::SimpleAtoi(value + colon + 1, &count) || count < 1) {
    std::fprintf(stderr, "EPSLEDGERD_FAILPOINT: got \"%s\", want name:n of a known point\n", value);
    std::_Exit(2);
  }
  ArmedPoint().name = name;
  ArmedPoint().passes_left = count;
  failpoint_armed = true;
  return true;
}();

}  // namespace

void PassFailpoint(const char* name) {
  Armed& armed = ArmedPoint();
  if (armed.name != name || armed.passes_left.fetch_sub(1) != 1) return;
  kill(getpid(), SIGKILL);
}

}  // namespace internal

namespace {

// The methods of a file, with failpoints around them.
struct File {
  const sqlite3_io_methods* own = nullptr;
  sqlite3_io_methods with_points{};
};
File log_file;
File database_file;

int WriteLog(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  Failpoint("log.before_write");
  return log_file.own->xWrite(file, data, size, offset);
}
int SyncLog(sqlite3_file* file, int flags) {
  Failpoint("log.before_sync");
  const int result = log_file.own->xSync(file, flags);
  Failpoint("log.after_sync");
  return result;
}
int WriteDatabase(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  Failpoint("checkpoint.before_write");
  return database_file.own->xWrite(file, data, size, offset);
}
int SyncDatabase(sqlite3_file* file, int flags) {
  Failpoint("checkpoint.before_sync");
  const int result = database_file.own->xSync(file, flags);
  Failpoint("checkpoint.after_sync");
  return result;
}

using WriteMethod = decltype(sqlite3_io_methods::xWrite);
using SyncMethod = decltype(sqlite3_io_methods::xSync);

void Replace(sqlite3* database, int which, WriteMethod write, SyncMethod sync, File* file) {
  sqlite3_file* opened = nullptr;
  sqlite3_file_control(database, "main", which, &opened);
  if (opened == nullptr || opened->pMethods == nullptr) return;
  file->own = opened->pMethods;
  file->with_points = *file->own;
  file->with_points.xWrite = write;
  file->with_points.xSync = sync;
  opened->pMethods = &file->with_points;
}

}  // namespace

void PassFailpointsInFiles(sqlite3* database) {
  if (!internal::failpoint_armed || log_file.own != nullptr) return;  // one store per process
  Replace(database, SQLITE_FCNTL_JOURNAL_POINTER, WriteLog, SyncLog, &log_file);
  Replace(database, SQLITE_FCNTL_FILE_POINTER, WriteDatabase, SyncDatabase, &database_file);
}

}  // namespace epsledger::storage
