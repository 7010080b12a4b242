#include "server/transport/sockets/connection_counts.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace epsledger::transport {
namespace {

using boost::asio::ip::make_address;

// How many connections of the peers, in turn, are taken before the first one that is not.
int Taken(ConnectionCounts& counts, const std::vector<std::string>& peers) {
  for (int taken = 0;; ++taken) {
    if (!counts.Add(make_address(peers[static_cast<size_t>(taken) % peers.size()]))) return taken;
  }
}

TEST(ConnectionCounts, OnePeerHasItsShareAndAnotherOneIsServed) {
  ConnectionCounts counts({.all = 100, .of_peer = 10, .reserved = 5});
  EXPECT_EQ(Taken(counts, {"192.0.2.1"}), 10);
  EXPECT_EQ(Taken(counts, {"192.0.2.2"}), 10);
  // Written as IPv6, it is the same peer.
  EXPECT_EQ(Taken(counts, {"::ffff:192.0.2.1"}), 0);
  // All IPv6 addresses of one household are one peer; those of the next one are another.
  EXPECT_EQ(Taken(counts, {"2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3"}), 10);
  EXPECT_EQ(Taken(counts, {"2001:db8:0:1::1"}), 10);
  counts.Remove(make_address("192.0.2.1"));
  counts.Remove(make_address("::ffff:192.0.2.1"));
  EXPECT_EQ(Taken(counts, {"192.0.2.1"}), 2);
}

TEST(ConnectionRate, IsOfTheDoorUnlessItIsSaid) {
  EXPECT_EQ(ConnectionRate(0, true).per_second, 100);
  EXPECT_EQ(ConnectionRate(0, true).burst, 1024);
  EXPECT_EQ(ConnectionRate(0, false).per_second, 1000);
  EXPECT_EQ(ConnectionRate(0, false).burst, 10'000);
  EXPECT_EQ(ConnectionRate(5, true).per_second, 5);
  EXPECT_EQ(ConnectionRate(5, true).burst, 1024);
  EXPECT_EQ(ConnectionRate(5000, true).burst, 50'000);
}

TEST(ConnectionCounts, AReserveIsKeptForThisMachine) {
  ConnectionCounts counts({.all = 100, .of_peer = 10, .reserved = 5});
  std::vector<std::string> crowd;
  for (int i = 0; i < 250; ++i) crowd.push_back("198.51.100." + std::to_string(i));
  EXPECT_EQ(Taken(counts, crowd), 95);
  EXPECT_EQ(Taken(counts, {"127.0.0.1", "::1", "::ffff:127.0.0.1"}), 5);
  // What has gone makes room, for others only above the reserve.
  for (int i = 0; i < 7; ++i) counts.Remove(make_address(crowd[static_cast<size_t>(i)]));
  EXPECT_EQ(Taken(counts, crowd), 2);
  EXPECT_EQ(Taken(counts, {"127.0.0.1"}), 5);
}

TEST(ConnectionCounts, ThisMachineMayUseAllButNotMore) {
  ConnectionCounts counts({.all = 20, .of_peer = 3, .reserved = 5});
  EXPECT_EQ(Taken(counts, {"127.0.0.1"}), 20);
  EXPECT_EQ(Taken(counts, {"192.0.2.1"}), 0);
}

}  // namespace
}  // namespace epsledger::transport
