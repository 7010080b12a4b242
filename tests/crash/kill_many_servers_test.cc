// Servers over one database, and the database itself, are killed with SIGKILL again and again while
// clients do everything that charges, each operation at any of the servers. Afterwards the stored
// ledger is held against what the clients were told.
//
// EPSLEDGER_CRASH_KILLS sets how many kills (default 10; the long form is 200).

#include "gtest/gtest.h"

#include <cstdlib>
#include <random>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/transport/grpc/health_probe.h"
#include "tests/crash/workload.h"
#include "tests/end_to_end/server_fleet.h"

namespace epsledger {
namespace {

constexpr int kServers = 3;
constexpr int kClients = 8;

bool ServesWithin(absl::Duration patience, const std::string& address) {
  const absl::Time deadline = absl::Now() + patience;
  while (!transport::ProbeHealth({.address = address}).ok()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return true;
}

TEST(Crash, KilledServersAndDatabasesLoseNothingChargeNothingTwiceAndKeepEveryCap) {
  const char* value = std::getenv("EPSLEDGER_CRASH_KILLS");
  const int kills = value == nullptr ? 10 : std::atoi(value);
  ServerFleet fleet(kServers);
  Workload workload(fleet.addresses(), {.workers = kClients, .seed = 20261123});
  workload.SetUp();
  workload.Start();
  std::mt19937 random(20261123);
  const auto below = [&](int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random);
  };
  int killed = 0;
  int killed_databases = 0;
  for (; killed < kills; ++killed) {
    if (!workload.WaitForMore(1 + below(60))) break;
    ServerProcess& server = *fleet.servers()[static_cast<size_t>(below(kServers))];
    // One of four kills is of the database, half of those with a server.
    const bool database = killed % 4 == 3;
    const bool both = database && below(2) == 0;
    if (!database || both) server.Kill();
    if (database) {
      ASSERT_TRUE(fleet.database().Kill9().ok());
      ++killed_databases;
      ASSERT_TRUE(fleet.database().Restart().ok()) << fleet.database().Log();
    }
    if (server.running()) continue;
    server.Restart();
    ASSERT_FALSE(server.address().empty()) << server.output();
  }
  workload.Finish();
  EXPECT_EQ(killed, kills);
  // A database that was killed a moment ago is back: every server finds it by itself, without a
  // call, and a server that ends while it has none says so with its exit status.
  for (const auto& server : fleet.servers()) {
    EXPECT_TRUE(ServesWithin(absl::Seconds(30), server->address())) << server->address();
    EXPECT_EQ(server->Stop(), 0) << server->output();
  }
  workload.Verify(*fleet.OpenStore());
  std::printf(
      "%d kills, %d of the database, %ld operations, %ld charges accepted, %ld refused, %ld "
      "unknown "
      "outcomes resolved\n",
      killed, killed_databases, static_cast<long>(workload.operations()),
      static_cast<long>(workload.accepted()), static_cast<long>(workload.refused()),
      static_cast<long>(workload.unknown_outcomes()));
}

}  // namespace
}  // namespace epsledger
