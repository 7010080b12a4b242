// Deadlines shorter than the calls, requests that arrive twice and again later, processes that
// start again from old checkpoints, zombies that go on charging, and clocks that jump. Nothing is
// ever under-counted, and no decision depends on a clock (I12).
//
// EPSLEDGER_HOSTILE_OPERATIONS sets how many operations (default 500; the long form is 10000).

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "server/storage/sqlite_store.h"
#include "tests/crash/workload.h"
#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

int64_t Operations() {
  const char* value = std::getenv("EPSLEDGER_HOSTILE_OPERATIONS");
  return value == nullptr ? 500 : std::atoll(value);
}

TEST(HostileNetwork, HastyDeadlinesDuplicatesAndZombiesNeverUnderCount) {
  const ScratchFolder folder;
  ServerProcess server(folder.path());
  ASSERT_FALSE(server.address().empty()) << server.output();
  Workload workload(server.address(),
                    {.workers = 8, .seed = 3, .operations = Operations(), .hostility = 0.6});
  workload.SetUp();
  workload.Start();
  workload.Wait();
  EXPECT_EQ(server.Stop(), 0);
  workload.Verify(folder.path());
  EXPECT_GT(workload.unknown_outcomes(), 0);
  EXPECT_GT(workload.rollbacks(), 0);
  std::printf("%ld operations, %ld outcomes unknown at first, %ld processes started again\n",
              static_cast<long>(workload.operations()),
              static_cast<long>(workload.unknown_outcomes()),
              static_cast<long>(workload.rollbacks()));
}

constexpr const char* kFakeTime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

// A server whose clock a test sets: libfaketime reads the offset from a file at every look.
class SkewedServer {
 public:
  explicit SkewedServer(const std::string& offset)
      : server_((SetOffset(offset), folder_.path()),
                {"env", std::string("LD_PRELOAD=") + kFakeTime,
                 "FAKETIME_TIMESTAMP_FILE=" + OffsetFile(), "FAKETIME_NO_CACHE=1",
                 "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}) {}

  void SetOffset(const std::string& offset) const {
    const std::string unfinished = OffsetFile() + ".unfinished";
    std::ofstream(unfinished) << offset << "\n";
    std::filesystem::rename(unfinished, OffsetFile());  // seen whole or not at all
  }
  ServerProcess& process() { return server_; }
  const std::string& folder() const { return folder_.path(); }

 private:
  std::string OffsetFile() const { return folder_.path() + "/clock"; }

  const ScratchFolder folder_;
  ServerProcess server_;
};

// Years between the newest stored entry and now, as the server saw the time.
double YearsAhead(const std::string& folder) {
  auto store = storage::SqliteStore::Open(folder + "/ledger.sqlite");
  if (!store.ok()) return NAN;
  int64_t newest_micros = 0;
  const absl::Status read = (*store)->ReadAll([&](const std::string&, core::Entry entry) {
    newest_micros = entry.time_micros;
    return absl::OkStatus();
  });
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return read.ok() ? static_cast<double>(newest_micros - now.count()) / 1e6 / 86400 / 365 : NAN;
}

// One client, so that the order of commands is always the same; the clock jumps on the way.
std::map<int64_t, std::string> DecisionsUnder(const std::vector<std::string>& offsets,
                                              double years_ahead_at_the_end) {
  SkewedServer server(offsets[0]);
  EXPECT_FALSE(server.process().address().empty()) << server.process().output();
  if (::testing::Test::HasFailure()) return {};
  const int64_t operations = Operations() / 5;
  Workload workload(server.process().address(),
                    {.workers = 1, .seed = 11, .operations = operations, .hostility = 0});
  workload.SetUp();
  workload.Start();
  for (size_t i = 1; i < offsets.size(); ++i) {
    workload.WaitForMore(operations / static_cast<int64_t>(offsets.size()));
    server.SetOffset(offsets[i]);
  }
  workload.Wait();
  EXPECT_EQ(server.process().Stop(), 0);
  workload.Verify(server.folder());
  EXPECT_NEAR(YearsAhead(server.folder()), years_ahead_at_the_end, 0.1);  // the clock was moved
  return workload.Decisions();
}

TEST(HostileClock, NoDecisionDependsOnTheClock) {
  if (!std::filesystem::exists(kFakeTime)) GTEST_SKIP() << "libfaketime is not installed";
  const auto steady = DecisionsUnder({"+0"}, 0);
  ASSERT_FALSE(steady.empty());
  EXPECT_EQ(DecisionsUnder({"+10y"}, 10), steady);
  EXPECT_EQ(DecisionsUnder({"-10y"}, -10), steady);
  // A jump while a call waits may end the call, whose age is wall-clock time; an attempt that is
  // then opened again is one more. The ledger itself is verified as always.
  EXPECT_FALSE(DecisionsUnder({"+0", "+1h", "-1h", "+10y", "-1h", "-10y"}, -10).empty());
}

}  // namespace
}  // namespace epsledger
