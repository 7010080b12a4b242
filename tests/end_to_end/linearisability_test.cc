// Sixty-four clients at once, of a server that is killed on the way: what they were told is one
// order of commands, the one that is stored, and it respects real time.
//
// EPSLEDGER_LINEARISABILITY_OPERATIONS sets how many operations (default 5000; the long form is
// 100000).

#include "gtest/gtest.h"

#include <cstdlib>

#include "tests/crash/workload.h"
#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

constexpr int64_t kOperationsPerKill = 500;

TEST(Linearisability, SixtyFourClientsSeeOneOrderAcrossCrashes) {
  const char* value = std::getenv("EPSLEDGER_LINEARISABILITY_OPERATIONS");
  const int64_t operations = value == nullptr ? 5000 : std::atoll(value);
  const ScratchFolder folder;
  ServerProcess server(folder.path());
  ASSERT_FALSE(server.address().empty()) << server.output();
  Workload workload(server.address(), {.workers = 64, .seed = 64, .operations = operations});
  workload.SetUp();
  workload.Start();
  int kills = 0;
  while (workload.WaitForMore(kOperationsPerKill)) {
    server.Kill();
    server.Restart();
    ASSERT_FALSE(server.address().empty()) << server.output();
    ++kills;
  }
  workload.Wait();
  EXPECT_EQ(workload.operations(), operations);
  EXPECT_GE(kills, 1);
  EXPECT_EQ(server.Stop(), 0) << server.output();
  workload.Verify(folder.path());
  std::printf("%ld operations, %d kills, %ld charges accepted, %ld refused\n",
              static_cast<long>(operations), kills, static_cast<long>(workload.accepted()),
              static_cast<long>(workload.refused()));
}

}  // namespace
}  // namespace epsledger
