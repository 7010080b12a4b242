// Deadlines shorter than the calls, requests that arrive twice and again later, processes that
// start again from old checkpoints, zombies that go on charging, and clocks that jump. Nothing is
// ever under-counted, and no decision depends on a clock (I12).
//
// EPSLEDGER_HOSTILE_OPERATIONS sets how many operations (default 500; the long form is 10000).

#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/storage/sqlite/sqlite_store.h"
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
  EXPECT_EQ(server.Stop(), 0) << server.output();
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

// Hours between every stored entry and now, as the server saw the time; whole ones.
std::set<int64_t> HoursAhead(const std::string& folder) {
  auto store = storage::SqliteStore::Open(folder + "/ledger.sqlite");
  if (!store.ok()) return {};
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::set<int64_t> hours;
  const absl::Status read = (*store)->ReadAll([&](const std::string&, core::Entry entry) {
    hours.insert(std::llround(static_cast<double>(entry.time_micros - now.count()) / 3.6e9));
    return absl::OkStatus();
  });
  return read.ok() ? hours : std::set<int64_t>();
}

struct Offset {
  std::string text;  // of libfaketime
  int64_t hours;
};
constexpr int64_t kTenYears = 10 * 365 * 24;

// One client, so that the order of commands is always the same; the clock jumps on the way. Sets
// `clock_followed` if the server saw every jump: libfaketime now and then misses one.
std::map<int64_t, std::string> DecisionsUnder(const std::vector<Offset>& offsets,
                                              bool* clock_followed) {
  SkewedServer server(offsets[0].text);
  EXPECT_FALSE(server.process().address().empty()) << server.process().output();
  if (::testing::Test::HasFailure()) return {};
  const int64_t operations = Operations() / 5;
  Workload workload(server.process().address(),
                    {.workers = 1,
                     .seed = 11,
                     .operations = operations,
                     .hostility = 0,
                     .after_operation = [&](int64_t done) {
                       const int64_t each = operations / static_cast<int64_t>(offsets.size());
                       const auto next = static_cast<size_t>(done / each);
                       if (done % each == 0 && next < offsets.size()) {
                         server.SetOffset(offsets[next].text);
                       }
                     }});
  workload.SetUp();
  workload.Start();
  workload.Wait();
  EXPECT_EQ(server.process().Stop(), 0);
  workload.Verify(server.folder());
  std::set<int64_t> hours;
  for (const Offset& offset : offsets) hours.insert(offset.hours);
  *clock_followed = HoursAhead(server.folder()) == hours;
  return workload.Decisions();
}

TEST(HostileClock, NoDecisionDependsOnTheClock) {
  if (!std::filesystem::exists(kFakeTime)) GTEST_SKIP() << "libfaketime is not installed";
  bool clock_followed = false;
  const auto steady = DecisionsUnder({{"+0", 0}}, &clock_followed);
  ASSERT_FALSE(steady.empty());
  const std::vector<std::vector<Offset>> clocks = {
      {{"+10y", kTenYears}},
      {{"-10y", -kTenYears}},
      {{"+0", 0}, {"+1h", 1}, {"-1h", -1}, {"+10y", kTenYears}, {"-1h", -1}, {"-10y", -kTenYears}}};
  for (const std::vector<Offset>& clock : clocks) {
    clock_followed = false;
    for (int attempt = 0; attempt < 5 && !clock_followed; ++attempt) {
      EXPECT_EQ(DecisionsUnder(clock, &clock_followed), steady);
    }
    EXPECT_TRUE(clock_followed);
  }
}

}  // namespace
}  // namespace epsledger
