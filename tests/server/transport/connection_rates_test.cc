#include "server/transport/sockets/connection_rates.h"

#include <gtest/gtest.h>

#include <string>

namespace epsledger::transport {
namespace {

using boost::asio::ip::make_address;
using Clock = ConnectionRates::Clock;
using std::chrono::milliseconds;

constexpr Clock::time_point kStart{std::chrono::hours(1)};

// How many of `tries` connections of the peer are taken at once.
int Taken(ConnectionRates& rates, const std::string& peer, Clock::time_point now,
          int tries = 1'000) {
  int taken = 0;
  for (int i = 0; i < tries; ++i) taken += rates.Take(make_address(peer), now);
  return taken;
}

TEST(ConnectionRates, APeerHasABurstAndThenItsRateAndAnotherOneItsOwn) {
  ConnectionRates rates({.burst = 10, .per_second = 4, .peers = 100});
  EXPECT_EQ(Taken(rates, "192.0.2.1", kStart), 10);
  EXPECT_EQ(Taken(rates, "::ffff:192.0.2.1", kStart), 0);
  EXPECT_EQ(Taken(rates, "192.0.2.2", kStart), 10);
  EXPECT_EQ(Taken(rates, "192.0.2.1", kStart + milliseconds(1'000)), 4);
  EXPECT_EQ(Taken(rates, "192.0.2.1", kStart + milliseconds(1'249)), 0);
  EXPECT_EQ(Taken(rates, "192.0.2.1", kStart + milliseconds(1'251)), 1);
  EXPECT_EQ(Taken(rates, "192.0.2.1", kStart + std::chrono::hours(1)), 10);
  // A household with IPv6 has one allowance.
  EXPECT_EQ(Taken(rates, "2001:db8::1", kStart + std::chrono::hours(1)), 10);
  EXPECT_EQ(Taken(rates, "2001:db8::2", kStart + std::chrono::hours(1)), 0);
  // So has this machine: a flood from it is a flood.
  EXPECT_EQ(Taken(rates, "127.0.0.1", kStart + std::chrono::hours(1)), 10);
}

TEST(ConnectionRates, ManyPeersNeedABoundedMemoryAndThoseBeyondShare) {
  ConnectionRates rates({.burst = 10, .per_second = 1, .peers = 50});
  int taken = 0;
  for (int i = 0; i < 50; ++i) taken += Taken(rates, "198.51.100." + std::to_string(i), kStart);
  EXPECT_EQ(taken, 500);
  taken = 0;
  for (int i = 0; i < 200; ++i) taken += Taken(rates, "203.0.113." + std::to_string(i), kStart);
  EXPECT_EQ(taken, 10);
  // Who was there keeps an allowance of its own.
  EXPECT_EQ(Taken(rates, "198.51.100.7", kStart + std::chrono::seconds(3)), 3);
  // Peers that were not seen for so long are forgotten, and make room.
  const Clock::time_point later = kStart + std::chrono::seconds(30);
  taken = 0;
  for (int i = 0; i < 40; ++i) taken += Taken(rates, "203.0.113." + std::to_string(i), later);
  EXPECT_EQ(taken, 400);
}

}  // namespace
}  // namespace epsledger::transport
