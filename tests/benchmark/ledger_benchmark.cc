// The embedded ledger without a network: opening it beside a bare scan of the same rows, and the
// memory of sessions and of steps. Prints Markdown.
//
//   ledger_benchmark [--charges=100000] [--sessions=10000] [--data-dir=DIR]
//
// Times are of the processor; the memory is the growth of the resident set less that of SQLite.

#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/benchmark/raw_rows.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger {
namespace {

using storage::GroupCommitLedger;
using storage::SqliteStore;

constexpr int64_t kBatch = 1000;

double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Without what SQLite holds, which is bounded by its cache.
double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  long size = 0;
  long resident = 0;
  file >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) -
         static_cast<double>(sqlite3_memory_used());
}

std::unique_ptr<GroupCommitLedger> OpenLedger(const std::string& path) {
  auto store = SqliteStore::Open(path);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
    std::exit(1);
  }
  auto ledger = GroupCommitLedger::Open(*std::move(store), {});
  if (!ledger.ok()) {
    std::fprintf(stderr, "%s\n", ledger.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(ledger);
}

void Must(const absl::StatusOr<core::Outcome>& outcome) {
  if (outcome.ok()) return;
  std::fprintf(stderr, "%s\n", outcome.status().ToString().c_str());
  std::exit(1);
}

// Charges ids first, first + 1, ... with `uses` uses of one event each.
void ChargeBatch(WaitingClient& client, const core::SessionName& session, int64_t first,
                 int64_t charges, int64_t uses) {
  core::Charge charge{.session = session, .attempt = 1, .items = {}};
  for (int64_t i = 0; i < charges; ++i) {
    charge.items.push_back({std::to_string(first + i), accounting::Gaussian{1000}, uses});
  }
  Must(client.Run(std::move(charge)));
}

void MakeBudget(WaitingClient& client) {
  Must(client.Run(core::CreateBudget{
      {.id = "hot", .cap = core::GaussianDpCap{1e6}, .privacy_unit = "person"}}));
}

void MeasureSteps(const std::string& path, int64_t charges) {
  double growth = 0;
  {
    const auto ledger = OpenLedger(path);
    WaitingClient client(*ledger);
    MakeBudget(client);
    const core::SessionName run = client.CreateSession("hot", "run");
    client.OpenAttempt(run);
    ChargeBatch(client, run, 0, kBatch, 100);
    const double before = ResidentBytes();
    for (int64_t i = kBatch; i < charges; i += kBatch) ChargeBatch(client, run, i, kBatch, 100);
    growth = ResidentBytes() - before;
  }
  std::printf("| a session of %lld charges, %lld steps of one event | grew by %.1f MB |\n",
              static_cast<long long>(charges), static_cast<long long>(100 * charges), growth / 1e6);
}

void MeasureColdStart(const std::string& path) {
  double start = ProcessorSeconds();
  const int64_t entries = ScanEntries(path);
  const double scan = ProcessorSeconds() - start;
  start = ProcessorSeconds();
  OpenLedger(path);
  const double open = ProcessorSeconds() - start;
  const double per_entry = 1e6 / static_cast<double>(entries);
  std::printf(
      "| opening %lld entries | %.2f s, %.2f us an entry |\n| a bare scan of them | %.2f s, "
      "%.2f us an entry |\n| opening / scan | %.1f |\n",
      static_cast<long long>(entries), open, open * per_entry, scan, scan * per_entry, open / scan);
}

void MeasureSessions(const std::string& path, int64_t sessions) {
  const auto ledger = OpenLedger(path);
  WaitingClient client(*ledger);
  MakeBudget(client);
  const double before = ResidentBytes();
  std::vector<std::future<absl::StatusOr<core::Outcome>>> waiting;
  const auto settle = [&] {
    for (auto& outcome : waiting) Must(outcome.get());
    waiting.clear();
  };
  for (int64_t i = 0; i < sessions; ++i) {
    const core::SessionName name{.budget_id = "hot", .session_id = "run-" + std::to_string(i)};
    waiting.push_back(
        client.Submit(core::CreateSession{{.budget_id = "hot", .id = name.session_id}}));
    waiting.push_back(client.Submit(core::OpenAttempt{name, ""}));
    waiting.push_back(
        client.Submit(WaitingClient::MakeCharge(name, 1, "0", accounting::Gaussian{1000})));
    if (static_cast<int64_t>(waiting.size()) > kBatch) settle();
  }
  settle();
  const double growth = ResidentBytes() - before;
  std::printf("| %lld sessions, one charge each | %.0f bytes a session |\n",
              static_cast<long long>(sessions), growth / static_cast<double>(sessions));
}

int Main(int64_t charges, int64_t sessions, std::string data_dir) {
  const ScratchFolder scratch;
  if (data_dir.empty()) data_dir = scratch.path();
  std::printf("| what | |\n|---|---|\n");
  MeasureSteps(data_dir + "/steps.sqlite", charges);
  MeasureColdStart(data_dir + "/steps.sqlite");
  MeasureSessions(data_dir + "/sessions.sqlite", sessions);
  return 0;
}

}  // namespace
}  // namespace epsledger

int main(int argc, char** argv) {
  long long charges = 100'000;
  long long sessions = 10'000;
  std::string data_dir;
  for (int i = 1; i < argc; ++i) {
    if (std::sscanf(argv[i], "--charges=%lld", &charges) == 1 && charges >= 1000) continue;
    if (std::sscanf(argv[i], "--sessions=%lld", &sessions) == 1 && sessions >= 1) continue;
    if (std::strncmp(argv[i], "--data-dir=", 11) == 0) {
      data_dir = argv[i] + 11;
      continue;
    }
    std::fprintf(stderr, "usage: %s [--charges=N] [--sessions=N] [--data-dir=DIR]\n", argv[0]);
    return 2;
  }
  return epsledger::Main(charges, sessions, data_dir);
}
