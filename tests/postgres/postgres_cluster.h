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
  // Each is "name=value", as in postgresql.conf but without quotes around the value.
  std::vector<std::string> settings = {};
};

struct PostgresStandbyOptions {
  // The name of the standby in pg_stat_replication of its primary and in synchronous_standby_names.
  // Letters, digits and underscores.
  std::string application_name = "standby";
  std::vector<std::string> settings = {};
};

// A real PostgreSQL server in a folder of its own, on 127.0.0.1 and on a socket in that folder.
//
// It has PostgreSQL's defaults for durability (fsync, synchronous_commit and full_page_writes are
// on), the superuser "postgres" without a password, UTF8 and the C locale.
//
// 1. The port stays the same, and nobody else gets it while the server is down.
// 2. When a function that stops the server returns OK, no process of the server is left.
// 3. No process of the server outlives the process of the test, however that ends. (Its folder
//    does, if the test is killed.)
//
// Sql, ConnectionString, CreateDatabase and the waiting functions may be called by any thread at
// any time; the others by one thread at a time.
class PostgresCluster {
 public:
  // Returns a new cluster that accepts connections. Takes about a second. FailedPrecondition if
  // PostgreSQL is not installed; Internal with PostgreSQL's own message.
  static absl::StatusOr<std::unique_ptr<PostgresCluster>> Start(
      const PostgresClusterOptions& options = {});

  // Returns the cluster that the tests of a process share; each test uses a database of its own.
  // The first call starts it, and the end of the process stops it. Not for tests that stop the
  // cluster or change its settings. ctest runs every TEST() in a process of its own.
  static absl::StatusOr<PostgresCluster*> Shared();

  // Stops the server immediately, without the writes of a shutdown, and removes the folder.
  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  // "host=127.0.0.1 port=... user=postgres dbname=...".
  std::string ConnectionString(const std::string& database) const;
  // The same over the Unix socket.
  std::string SocketConnectionString(const std::string& database) const;
  // Creates an empty database and returns its name. Never returns the same name twice.
  absl::StatusOr<std::string> CreateDatabase();
  // Returns what psql -XAtq prints without the last newline: columns with | between them, one row
  // per line. Each of several statements is a transaction of its own. The first error ends them and
  // is returned as Internal. Waits for as long as the statements take.
  absl::StatusOr<std::string> Sql(const std::string& database, const std::string& statements) const;

  // Sends SIGKILL to the postmaster. Waits until its children have noticed and ended: in the
  // meantime a backend may still finish, and acknowledge, its current commit. Children that have
  // not noticed after five seconds, for example in a long computation, are killed.
  absl::Status Kill9();
  // Fast shutdown: ends sessions and writes the rest. A primary waits until its streaming standbys
  // have everything.
  absl::Status Stop();
  // Starts the server after Kill9 or Stop and waits until it accepts connections, recovery
  // included.
  // REQUIRES: !running().
  absl::Status Restart();
  // Changes settings ("name=value"). When this returns, every new session and every commit of a
  // running server uses the settings that need no restart. The others take effect at the next
  // Restart.
  absl::Status Configure(const std::vector<std::string>& settings);

  // Returns a copy of this server that follows it by streaming replication, and that accepts
  // connections for reading. It replays asynchronously unless synchronous_standby_names of this
  // server has its name. A standby has the settings of the primary except
  // synchronous_standby_names, which is empty. Returns when the standby streams.
  //
  // To make a standby that lags: Stop() it, write to the primary, Kill9() the primary, Restart()
  // and Promote() the standby.
  absl::StatusOr<std::unique_ptr<PostgresCluster>> StartStandby(
      const PostgresStandbyOptions& options = {});
  // Turns a standby into a primary on a new timeline; returns when it takes writes.
  absl::Status Promote();
  // Waits until a standby of that name streams from this server. DeadlineExceeded after a minute.
  absl::Status WaitForStandby(const std::string& application_name) const;
  // Waits until this standby shows everything that is on the disk of `primary` now.
  // DeadlineExceeded after a minute.
  absl::Status WaitForReplayOf(const PostgresCluster& primary) const;

  // True until a function that stops the server is called, even if the server ended by itself.
  bool running() const { return postmaster_ > 0; }
  // The process that Kill9 kills; -1 if the server is not running.
  pid_t postmaster() const { return postmaster_; }
  int port() const { return port_.number(); }
  // PGDATA.
  std::string data_folder() const { return folder_.path() + "/data"; }
  // The folder of the Unix socket, to use as a `host` of libpq.
  const std::string& socket_folder() const { return folder_.path(); }
  const PostgresPrograms& programs() const { return programs_; }
  // Returns everything that the server has written so far, in all starts.
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
  // Starts the postmaster and waits for its end. The kernel treats the end of the thread that
  // started a process as the death of its parent, so this thread must live as long as the
  // postmaster.
  std::thread parent_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_POSTGRES_POSTGRES_CLUSTER_H_
