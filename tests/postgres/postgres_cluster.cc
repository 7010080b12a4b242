#include "tests/postgres/postgres_cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace epsledger {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDeadline(60);
constexpr int kDeadlineMs = 60'000;
constexpr int kNoticeMs = 5'000;  // in which a backend sees that its postmaster is gone
constexpr int kPollMs = 5;

const std::vector<std::string>& BaseSettings() {
  static const auto* const settings = new std::vector<std::string>{
      "max_connections=300",
      // A standby that was down finds what it missed, and asks for it at once.
      "wal_keep_size=512MB",
      "wal_retrieve_retry_interval=100ms",
      // In the data folder, so that it is removed with it when the server was killed.
      "dynamic_shared_memory_type=mmap",
      "log_line_prefix=%m [%p] %a ",
  };
  return *settings;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresCluster>> PostgresCluster::Start(
    const PostgresClusterOptions& options) {
  absl::StatusOr<PostgresPrograms> programs = PostgresPrograms::Find();
  if (!programs.ok()) return programs.status();
  std::unique_ptr<PostgresCluster> cluster(new PostgresCluster(*std::move(programs)));
  if (absl::Status status = cluster->Prepare(); !status.ok()) return status;
  // Only the making of the cluster is not synced; the server syncs what it writes.
  const absl::StatusOr<std::string> made =
      cluster->programs_.Run("initdb",
                             {"--pgdata=" + cluster->data_folder(), "--username=postgres",
                              "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"},
                             cluster->folder_.path());
  if (!made.ok()) return made.status();
  if (absl::Status status = cluster->WriteSettings(BaseSettings()); !status.ok()) return status;
  if (absl::Status status = cluster->WriteSettings(options.settings); !status.ok()) return status;
  if (absl::Status status = cluster->Restart(); !status.ok()) return status;
  return cluster;
}

absl::StatusOr<PostgresCluster*> PostgresCluster::Shared() {
  static const absl::StatusOr<std::unique_ptr<PostgresCluster>> shared = Start();
  if (!shared.ok()) return shared.status();
  return shared->get();
}

PostgresCluster::~PostgresCluster() {
  // An immediate shutdown, which also returns the shared memory.
  if (running()) End(SIGQUIT, kNoticeMs).IgnoreError();
  RemoveSharedMemory();
}

absl::Status PostgresCluster::Prepare() {
  if (folder_.path().empty()) return absl::InternalError("no scratch folder");
  if (absl::Status status = programs_.Give(folder_.path()); !status.ok()) return status;
  return port() > 0 ? absl::OkStatus() : absl::InternalError("no free port of 127.0.0.1");
}

std::string PostgresCluster::ConnectionString(const std::string& database) const {
  return absl::StrCat("host=127.0.0.1 port=", port(), " user=postgres dbname=", database);
}

std::string PostgresCluster::SocketConnectionString(const std::string& database) const {
  return absl::StrCat("host=", socket_folder(), " port=", port(),
                      " user=postgres dbname=", database);
}

absl::StatusOr<std::string> PostgresCluster::CreateDatabase() {
  const std::string name = absl::StrCat("test_", ++databases_);
  const absl::StatusOr<std::string> made = Sql("postgres", "CREATE DATABASE " + name);
  if (!made.ok()) return made.status();
  return name;
}

absl::StatusOr<std::string> PostgresCluster::Sql(const std::string& database,
                                                 const std::string& statements) const {
  absl::StatusOr<std::string> output = programs_.Run(
      "psql", {"-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-", "-d", ConnectionString(database)},
      folder_.path(), statements);
  if (output.ok() && !output->empty() && output->back() == '\n') output->pop_back();
  return output;
}

absl::Status PostgresCluster::Kill9() { return End(SIGKILL, kNoticeMs); }

absl::Status PostgresCluster::Stop() { return End(SIGINT, kDeadlineMs); }

absl::Status PostgresCluster::Restart() {
  if (running()) return absl::FailedPreconditionError("the PostgreSQL server is running");
  int alive[2];
  if (pipe2(alive, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  const std::string log_file = folder_.path() + "/log";
  const int log = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  std::promise<absl::StatusOr<pid_t>> started;
  parent_ = std::thread([this, &started, log, end = alive[1]] {
    PostgresPrograms::Setting setting;
    setting.folder = folder_.path();
    setting.output = log;
    setting.errors = log;
    setting.inherited = end;
    setting.death_signal = SIGQUIT;  // an immediate shutdown
    const absl::StatusOr<pid_t> pid = programs_.Spawn(
        "postgres",
        {"-D", data_folder(), "-h", "127.0.0.1", "-p", absl::StrCat(port()), "-k", socket_folder()},
        setting);
    started.set_value(pid);
    // Not taken from the kernel before join(), so that the number is not another process meanwhile.
    siginfo_t info;
    while (pid.ok() && waitid(P_PID, static_cast<id_t>(*pid), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
  });
  const absl::StatusOr<pid_t> pid = started.get_future().get();
  close(alive[1]);
  if (log >= 0) close(log);
  if (!pid.ok()) {
    parent_.join();
    close(alive[0]);
    return pid.status();
  }
  postmaster_ = *pid;
  alive_fd_ = alive[0];
  return WaitUntilReady();
}

absl::Status PostgresCluster::WaitUntilReady() {
  const Clock::time_point deadline = Clock::now() + kDeadline;
  while (Clock::now() < deadline) {
    // After a kill the file of the killed one is still there.
    const std::vector<std::string> lines = PidFile();
    if (lines.size() >= 8 && lines[0] == absl::StrCat(postmaster_) &&
        (lines[7] == "ready" || lines[7] == "standby")) {
      return absl::OkStatus();
    }
    if (WaitUntilNoProcess(kPollMs)) {
      End(SIGKILL, 0).IgnoreError();
      return absl::InternalError("PostgreSQL ended while it started: " + LogTail());
    }
  }
  End(SIGKILL, 0).IgnoreError();
  return absl::DeadlineExceededError("PostgreSQL is not ready: " + LogTail());
}

bool PostgresCluster::WaitUntilNoProcess(int timeout_ms) const {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ends = {alive_fd_, 0, 0};
    if (poll(&ends, 1, left > 0 ? static_cast<int>(left) : 0) > 0) return true;
    if (left <= 0) return false;
  }
}

absl::Status PostgresCluster::End(int signal, int patience_ms) {
  if (!running()) return absl::OkStatus();
  kill(postmaster_, signal);
  absl::Status status = absl::OkStatus();
  if (!WaitUntilNoProcess(patience_ms)) {
    if (signal == SIGINT)
      status = absl::DeadlineExceededError("PostgreSQL does not stop: " + LogTail());
    kill(postmaster_, SIGKILL);
    KillLeftBehind();
    if (!WaitUntilNoProcess(kDeadlineMs)) {
      status = absl::DeadlineExceededError("processes of PostgreSQL survive SIGKILL");
    }
  }
  parent_.join();
  waitpid(postmaster_, nullptr, 0);
  close(alive_fd_);
  postmaster_ = -1;
  alive_fd_ = -1;
  return status;
}

// They are children of nobody we know, and each is the leader of a session, but all of them work in
// the data folder.
void PostgresCluster::KillLeftBehind() const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    int pid;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid) &&
        std::filesystem::equivalent(entry.path() / "cwd", data_folder(), ignored)) {
      kill(pid, SIGKILL);
    }
  }
}

// A server that was killed leaves a segment of System V; the next start removes it, if there is
// one. REQUIRES: no process of the server is left.
void PostgresCluster::RemoveSharedMemory() const {
  const std::vector<std::string> lines = PidFile();
  if (lines.size() < 7) return;
  const std::vector<std::string> key_and_id = absl::StrSplit(lines[6], ' ', absl::SkipEmpty());
  int id;
  if (key_and_id.size() == 2 && absl::SimpleAtoi(key_and_id[1], &id)) {
    shmctl(id, IPC_RMID, nullptr);
  }
}

absl::Status PostgresCluster::WriteSettings(const std::vector<std::string>& settings) const {
  std::ofstream file(data_folder() + "/postgresql.conf", std::ios::app);  // the last one counts
  for (const std::string& setting : settings) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    file << parts.first << " = '" << absl::StrReplaceAll(parts.second, {{"'", "''"}}) << "'\n";
  }
  file.close();
  return file ? absl::OkStatus() : absl::InternalError("cannot write postgresql.conf");
}

absl::Status PostgresCluster::Configure(const std::vector<std::string>& settings) {
  if (absl::Status status = WriteSettings(settings); !status.ok()) return status;
  if (!running()) return absl::OkStatus();
  // The postmaster tells its children before it accepts another session, and the checkpointer,
  // which tells committers whom to wait for, hears of it before it begins a checkpoint.
  const absl::StatusOr<std::string> told = Sql("postgres", "SELECT pg_reload_conf()");
  return told.ok() ? Sql("postgres", "CHECKPOINT").status() : told.status();
}

absl::StatusOr<std::unique_ptr<PostgresCluster>> PostgresCluster::StartStandby(
    const PostgresStandbyOptions& options) {
  std::unique_ptr<PostgresCluster> standby(new PostgresCluster(programs_));
  if (absl::Status status = standby->Prepare(); !status.ok()) return status;
  const absl::StatusOr<std::string> copied = programs_.Run(
      "pg_basebackup",
      {"--pgdata=" + standby->data_folder(), "--dbname=" + ConnectionString("postgres"),
       "--wal-method=stream", "--checkpoint=fast", "--no-sync"},
      standby->folder_.path());
  if (!copied.ok()) return copied.status();
  // Not by --write-recovery-conf: the copying would have the name of the standby, and it streams
  // too.
  const std::string signal = standby->data_folder() + "/standby.signal";
  std::ofstream{signal}.close();
  if (absl::Status status = programs_.Give(signal); !status.ok()) return status;
  std::vector<std::string> settings = {
      "synchronous_standby_names=",
      absl::StrCat("primary_conninfo=", ConnectionString("postgres"),
                   " application_name=", options.application_name),
  };
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  if (absl::Status status = standby->WriteSettings(settings); !status.ok()) return status;
  if (absl::Status status = standby->Restart(); !status.ok()) return status;
  if (absl::Status status = WaitForStandby(options.application_name); !status.ok()) return status;
  return standby;
}

absl::Status PostgresCluster::Promote() {
  const absl::StatusOr<std::string> promoted = Sql("postgres", "SELECT pg_promote(true, 60)");
  if (!promoted.ok()) return promoted.status();
  if (*promoted != "t") return absl::DeadlineExceededError("not promoted: " + LogTail());
  return absl::OkStatus();
}

absl::Status PostgresCluster::WaitForStandby(const std::string& application_name) const {
  const Clock::time_point deadline = Clock::now() + kDeadline;
  while (Clock::now() < deadline) {
    const absl::StatusOr<std::string> count =
        Sql("postgres",
            absl::StrCat("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' "
                         "AND application_name = '",
                         application_name, "'"));
    if (!count.ok()) return count.status();
    if (*count != "0") return absl::OkStatus();
  }
  return absl::DeadlineExceededError("no standby of this name streams: " + application_name);
}

absl::Status PostgresCluster::WaitForReplayOf(const PostgresCluster& primary) const {
  const absl::StatusOr<std::string> written =
      primary.Sql("postgres", "SELECT pg_current_wal_flush_lsn()");
  if (!written.ok()) return written.status();
  const Clock::time_point deadline = Clock::now() + kDeadline;
  while (Clock::now() < deadline) {
    const absl::StatusOr<std::string> done =
        Sql("postgres", absl::StrCat("SELECT pg_last_wal_replay_lsn() >= '", *written, "'"));
    if (!done.ok()) return done.status();
    if (*done == "t") return absl::OkStatus();
  }
  return absl::DeadlineExceededError("the standby does not replay: " + LogTail());
}

std::vector<std::string> PostgresCluster::PidFile() const {
  std::ifstream file(data_folder() + "/postmaster.pid");
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(file, line)) lines.emplace_back(absl::StripAsciiWhitespace(line));
  return lines;
}

std::string PostgresCluster::Log() const {
  std::ifstream file(folder_.path() + "/log");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string PostgresCluster::LogTail() const {
  const std::string log = Log();
  return log.size() <= 2000 ? log : log.substr(log.size() - 2000);
}

}  // namespace epsledger
