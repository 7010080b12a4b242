// The server dies by SIGKILL at each of its failpoints while clients charge, and is started again
// on the same data. At the end every acknowledged entry is there once, under its hash, and every
// outcome that was unknown has become known by repeating its key.
//
// EPSLEDGER_FAILPOINT_ROUNDS sets how often at each point (default 2; the long form is 20).

#include "server/storage/failpoint.h"

#include <signal.h>
#include "gtest/gtest.h"

#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "tests/crash/workload.h"
#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

constexpr int kKilledItself = 128 + SIGKILL;

int Rounds() {
  const char* value = std::getenv("EPSLEDGER_FAILPOINT_ROUNDS");
  return value == nullptr ? 2 : std::atoi(value);
}

std::vector<std::string> Armed(const std::string& point, int count) {
  return {"env", "EPSLEDGERD_FAILPOINT=" + point + ":" + std::to_string(count)};
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// How many passes a point may wait for: rare ones are waited for once.
int LargestCount(std::string_view point) {
  if (point == "checkpoint.before" || point == "checkpoint.after" ||
      point == "append.after_ledger" || point == "recovery.before" || point == "recovery.after" ||
      StartsWith(point, "drain.") || StartsWith(point, "checkpoint.")) {
    return 1;
  }
  return 20;
}

TEST(Failpoint, AServerThatDiesAtAnyPointOfAChargeLosesNothing) {
  const ScratchFolder folder;
  ServerProcess server(folder.path());
  ASSERT_FALSE(server.address().empty()) << server.output();
  Workload workload(server.address(), {.workers = 4, .seed = 7});
  workload.SetUp();
  workload.Start();
  std::mt19937 random(7);
  int deaths = 0;
  int points = 0;
  for (const char* point : storage::kFailpoints) {
    if (StartsWith(point, "schema.")) continue;  // below
    ++points;
    for (int round = 0; round < Rounds(); ++round) {
      SCOPED_TRACE(point);
      ASSERT_TRUE(workload.WaitForMore(5));
      ASSERT_EQ(server.Stop(), 0) << server.output();
      const int count = std::uniform_int_distribution<int>(1, LargestCount(point))(random);
      server.set_wrapper(Armed(point, count));
      server.Restart();  // it may die before it serves
      const bool at_the_end = StartsWith(point, "drain.");
      if (at_the_end) workload.WaitForMore(5);
      ASSERT_EQ(at_the_end ? server.Stop() : server.WaitForEnd(), kKilledItself) << server.output();
      ++deaths;
      server.set_wrapper({});
      server.Restart();
      ASSERT_FALSE(server.address().empty()) << server.output();
    }
  }
  workload.Finish();
  EXPECT_GE(points, 20);
  EXPECT_EQ(server.Stop(), 0) << server.output();
  workload.Verify(folder.path());
  std::printf(
      "%d deaths at %d points, %ld charges accepted, %ld refused, %ld unknown outcomes "
      "resolved\n",
      deaths, points, static_cast<long>(workload.accepted()), static_cast<long>(workload.refused()),
      static_cast<long>(workload.unknown_outcomes()));
}

TEST(Failpoint, AServerThatDiesWhileItMakesItsTablesMakesThemTheNextTime) {
  for (const char* point : {"schema.before_step", "schema.before_commit", "schema.after_step"}) {
    SCOPED_TRACE(point);
    const ScratchFolder folder;
    ServerProcess server(folder.path(), Armed(point, 1));
    ASSERT_TRUE(server.address().empty());
    EXPECT_EQ(server.WaitForEnd(), kKilledItself) << server.output();
    server.set_wrapper({});
    server.Restart();
    ASSERT_FALSE(server.address().empty()) << server.output();
    Workload workload(server.address(), {.workers = 2, .operations = 20});
    workload.SetUp();
    workload.Start();
    workload.Wait();
    EXPECT_EQ(server.Stop(), 0) << server.output();
    workload.Verify(folder.path());
  }
}

TEST(Failpoint, AnUnknownPointEndsTheServerAtOnce) {
  for (const char* value : {"commit.befor:1", "commit.before", "commit.before:0"}) {
    const ScratchFolder folder;
    ServerProcess server(folder.path(), {"env", std::string("EPSLEDGERD_FAILPOINT=") + value});
    EXPECT_TRUE(server.address().empty());
    EXPECT_EQ(server.WaitForEnd(), 2) << server.output();
  }
}

}  // namespace
}  // namespace epsledger
