#ifndef EPSLEDGER_TESTS_POSTGRES_POSTGRES_CLUSTER_H_
#define EPSLEDGER_TESTS_POSTGRES_POSTGRES_CLUSTER_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/end_to_end/held_port.h"
#include "tests/postgres/postgres_programs.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {

struct PostgresClusterOptions {
  // Each "name=value", as in postgresql.conf but without quotes around the value.
  std::vector<std::string> settings = {};
};

struct PostgresStandbyOptions {
  // What the standby is called in pg_stat_replication of its primary and in
  // synchronous_standby_names. Letters, digits and underscores.
  std::string application_name = "standby";
  std::vector<std::string> settings = {};
};

// A real PostgreSQL server in a folder of its own, on 127.0.0.1 and on a socket in that folder.
//
// It has the defaults of PostgreSQL where durability is concerned (fsync, synchronous_commit and
// full_page_writes are on), the superuser "postgres" without a password, UTF8 and the C locale.
//
// 1. The port stays the same, and nobody else gets it while the server is down.
// 2. When a function that stops the server returns OK, no process of it is left.
// 3. No process of it outlives the process of the test, however that ends. (Its folder does, if
//    the test is killed.)
//
// Sql, ConnectionString, CreateDatabase and the waiting functions may be called by any thread at
// any time; the others by one thread at a time.
class PostgresCluster {
 public:
  // A new cluster that accepts connections. About a second. FailedPrecondition if PostgreSQL is not
  // installed; Internal with what PostgreSQL said.
  static absl::StatusOr<std::unique_ptr<PostgresCluster>> Start(
      const PostgresClusterOptions& options = {});

  // The one that the tests of a process share; each takes a database of its own. Started by the
  // first call, stopped at the end of the process. Not for tests that stop it or change its
  // settings. ctest runs every TEST() in a process of its own.
  static absl::StatusOr<PostgresCluster*> Shared();

  // Stops it at once, without writing what a shutdown writes, and removes the folder.
  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  // "host=127.0.0.1 port=... user=postgres dbname=...".
  std::string ConnectionString(const std::string& database) const;
  // The same over the Unix socket.
  std::string SocketConnectionString(const std::string& database) const;
  // Makes an empty database and returns its name. Never the same name twice.
  absl::StatusOr<std::string> CreateDatabase();
  // What psql -XAtq prints without the last newline: columns with | between them, a row a line.
  // Each of several statements is a transaction of its own; the first error ends them and is
  // returned as Internal. Waits for as long as the statements take.
  absl::StatusOr<std::string> Sql(const std::string& database, const std::string& statements) const;

  // SIGKILL to the postmaster. Waits until its children have noticed and are gone: meanwhile a
  // backend may still finish, and acknowledge, the commit that it is in. Those that have not
  // noticed after five seconds, as in a long computation, are killed.
  absl::Status Kill9();
  // Fast shutdown: sessions are ended, the rest is written. A primary waits until its streaming
  // standbys have all of it.
  absl::Status Stop();
  // Starts it after Kill9 or Stop and waits until it accepts connections, recovery included.
  // REQUIRES: !running().
  absl::Status Restart();
  // Changes settings ("name=value"). When it returns, every new session and every commit of a
  // running server follows those that need no restart; the others follow at the next Restart.
  absl::Status Configure(const std::vector<std::string>& settings);

  // A copy of this server that follows it by streaming replication, and that accepts connections
  // for reading. It replays asynchronously unless synchronous_standby_names of this one has its
  // name. Standbys have the settings of the primary but for synchronous_standby_names, which is
  // empty. Returns when it streams.
  //
  // A standby that lags: Stop() it, write to the primary, Kill9() that, Restart() and Promote().
  absl::StatusOr<std::unique_ptr<PostgresCluster>> StartStandby(
      const PostgresStandbyOptions& options = {});
  // Makes a standby a primary on a new timeline; returns when it takes writes.
  absl::Status Promote();
  // Waits until a standby of that name streams from this server. DeadlineExceeded after a minute.
  absl::Status WaitForStandby(const std::string& application_name) const;
  // Waits until this standby shows all that is on the disk of `primary` now. DeadlineExceeded after
  // a minute.
  absl::Status WaitForReplayOf(const PostgresCluster& primary) const;

  // Until a function that stops it was called, even if it ended by itself.
  bool running() const { return postmaster_ > 0; }
  // The process that Kill9 kills; -1 if it is not running.
  pid_t postmaster() const { return postmaster_; }
  int port() const { return port_.number(); }
  // PGDATA.
  std::string data_folder() const { return folder_.path() + "/data"; }
  // Where the Unix socket is; as a `host` of libpq.
  const std::string& socket_folder() const { return folder_.path(); }
  const PostgresPrograms& programs() const { return programs_; }
  // What the server wrote so far: all of it, all starts.
  std::string Log() const;

 private:
  explicit PostgresCluster(PostgresPrograms programs) : programs_(std::move(programs)) {}

  absl::Status Prepare();
  absl::Status WriteSettings(const std::vector<std::string>& settings) const;
  absl::Status WaitUntilReady();
  bool WaitUntilNoProcess(int timeout_ms) const;
  absl::Status End(int signal, int patience_ms);
  void KillLeftBehind() const;
  void RemoveSharedMemory() const;
  std::vector<std::string> PidFile() const;
  std::string LogTail() const;

  const PostgresPrograms programs_;
  ScratchFolder folder_;
  const HeldPort port_;
  std::atomic<int> databases_ = 0;

  pid_t postmaster_ = -1;
  // The other end is open in every process of the server and nowhere else.
  int alive_fd_ = -1;
  // Starts the postmaster and waits for its end: the kernel counts the end of the thread that
  // started a process as the death of its parent.
  std::thread parent_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_POSTGRES_POSTGRES_CLUSTER_H_
