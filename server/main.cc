// epsledgerd: the privacy accounting server. Wiring only: flags, the ledger, its transport, and
// an orderly end.

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/flags.h"
#include "server/storage/group_commit_ledger.h"
#include "server/storage/sqlite_store.h"
#include "server/transport/grpc/health_probe.h"
#include "server/transport/grpc/server.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace {

using epsledger::Flags;
using epsledger::ReadFlags;
using epsledger::storage::GroupCommitLedger;
using epsledger::storage::SqliteStore;
using epsledger::transport::ProbeHealth;
using epsledger::transport::Server;

// How long a stop waits for calls that are being answered.
constexpr absl::Duration kDrainPatience = absl::Seconds(10);

// Readers see the whole file or none.
absl::Status WriteAddressFile(const std::string& path, const std::vector<std::string>& addresses) {
  const std::string unfinished = path + ".unfinished";
  std::ofstream(unfinished) << absl::StrJoin(addresses, "\n") << "\n";
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) return absl::UnavailableError(path + ": cannot be written: " + error.message());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<GroupCommitLedger>> OpenLedger(const std::string& data_dir) {
  if (data_dir.empty()) {
    return absl::InvalidArgumentError(
        "--data-dir is missing: a ledger that is not kept protects nobody");
  }
  std::error_code error;
  if (std::filesystem::create_directories(data_dir, error) && !error) {
    // Nobody else has business in a ledger.
    std::filesystem::permissions(data_dir, std::filesystem::perms::owner_all, error);
  }
  if (error) return absl::UnavailableError(data_dir + ": cannot be made: " + error.message());
  auto store = SqliteStore::Open(data_dir + "/ledger.sqlite");
  if (!store.ok()) return store.status();
  return GroupCommitLedger::Open(*std::move(store), GroupCommitLedger::Options());
}

// Serves until `stop_signals` come.
absl::Status Serve(const Flags& flags, const sigset_t& stop_signals) {
  auto ledger = OpenLedger(flags.data_dir);
  if (!ledger.ok()) return ledger.status();
  auto server = Server::Start(flags.server, **ledger);
  if (!server.ok()) return server.status();
  if (!flags.address_file.empty()) {
    absl::Status status = WriteAddressFile(flags.address_file, (*server)->addresses());
    if (!status.ok()) return status;
  }
  spdlog::info("serving on {} from {}, {} budgets and {} entries recovered",
               absl::StrJoin((*server)->addresses(), ", "), flags.data_dir,
               (*ledger)->recovered_budget_count(), (*ledger)->recovered_entry_count());
  int signal = 0;
  sigwait(&stop_signals, &signal);
  spdlog::info("stopping on signal {}: no new calls, open ones are answered", signal);
  (*server)->Drain(kDrainPatience);
  spdlog::info("stopped");
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
#ifdef NDEBUG
  // Some packages of absl look for lock cycles at every lock, in builds for production too.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  // Before the first thread, which all inherit it: the signals wait for sigwait.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);

  Flags flags;
  if (const std::optional<int> exit_code = ReadFlags(argc, argv, &flags)) return *exit_code;

  spdlog::set_default_logger(spdlog::stderr_logger_mt("epsledgerd"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  spdlog::set_level(spdlog::level::from_str(flags.log_level));

  const absl::Status status =
      flags.healthcheck ? ProbeHealth(flags.probe) : Serve(flags, stop_signals);
  if (status.ok()) return 0;
  const std::string message(status.message());
  std::fprintf(stderr, "epsledgerd: %s\n", message.c_str());
  return 1;
}
