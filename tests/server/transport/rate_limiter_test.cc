#include "server/transport/rates/rate_limiter.h"

#include "gtest/gtest.h"

#include <string>

#include "boost/asio/ip/address.hpp"
#include "server/transport/sockets/peer_key.h"

namespace epsledger::transport {
namespace {

using Clock = RateLimiter::Clock;
using boost::asio::ip::make_address;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Clock::time_point kStart{std::chrono::hours(1)};

// How many of so many tries are taken at once.
int Taken(RateLimiter& rates, const std::string& key, Clock::time_point now, double amount = 1) {
  int taken = 0;
  for (int i = 0; i < 1'000; ++i) taken += rates.Take(key, now, amount);
  return taken;
}

TEST(RateLimiter, EachHasABurstAndThenItsRateAndAnotherOneItsOwn) {
  RateLimiter rates({.burst = 10, .per_second = 4});
  EXPECT_EQ(Taken(rates, "a", kStart), 10);
  EXPECT_EQ(Taken(rates, "b", kStart), 10);
  EXPECT_EQ(Taken(rates, "a", kStart + milliseconds(1'000)), 4);
  EXPECT_EQ(Taken(rates, "a", kStart + milliseconds(1'249)), 0);
  EXPECT_EQ(Taken(rates, "a", kStart + milliseconds(1'251)), 1);
  EXPECT_EQ(Taken(rates, "a", kStart + std::chrono::hours(1)), 10);
}

// A batch as large as a batch may be is taken by who has taken nothing lately, and paid off.
TEST(RateLimiter, MoreThanTheBurstIsPaidOffAfterwards) {
  RateLimiter rates({.burst = 10, .per_second = 5});
  EXPECT_EQ(Taken(rates, "a", kStart, 4), 2);
  EXPECT_EQ(Taken(rates, "a", kStart, 25), 0);
  const Clock::time_point whole = kStart + seconds(10);
  EXPECT_EQ(Taken(rates, "a", whole, 25), 1);
  EXPECT_EQ(Taken(rates, "a", whole + milliseconds(3'100)), 0);  // 15 were owed
  EXPECT_EQ(Taken(rates, "a", whole + milliseconds(3'300)), 1);
}

// What is known only when it was taken: how large an answer is.
TEST(RateLimiter, WhatIsCountedAfterwardsIsPaidOffToo) {
  RateLimiter rates({.burst = 10, .per_second = 5});
  EXPECT_TRUE(rates.HasPaid("a", kStart));
  rates.Count("a", kStart, 10);
  EXPECT_TRUE(rates.HasPaid("a", kStart));
  rates.Count("a", kStart, 20);
  EXPECT_FALSE(rates.HasPaid("a", kStart + milliseconds(3'990)));
  EXPECT_TRUE(rates.HasPaid("a", kStart + milliseconds(4'010)));
  EXPECT_TRUE(rates.HasPaid("b", kStart));
  // A caller who is not remembered is charged what all such callers took.
  RateLimiter few({.burst = 10, .per_second = 1, .keys = 1});
  few.Count("a", kStart, 1);
  few.Count("b", kStart, 15);
  EXPECT_TRUE(few.HasPaid("a", kStart));
  EXPECT_FALSE(few.HasPaid("c", kStart));
}

TEST(RateLimiter, ManyNeedABoundedMemoryAndThoseBeyondShare) {
  RateLimiter rates({.burst = 10, .per_second = 1, .keys = 50});
  int taken = 0;
  for (int i = 0; i < 50; ++i) taken += Taken(rates, "early-" + std::to_string(i), kStart);
  EXPECT_EQ(taken, 500);
  taken = 0;
  for (int i = 0; i < 200; ++i) taken += Taken(rates, "late-" + std::to_string(i), kStart);
  EXPECT_EQ(taken, 10);
  // Who was there keeps an allowance of its own.
  EXPECT_EQ(Taken(rates, "early-7", kStart + seconds(3)), 3);
  // Those that were not seen for so long are forgotten, and make room.
  taken = 0;
  for (int i = 0; i < 40; ++i) {
    taken += Taken(rates, "late-" + std::to_string(i), kStart + seconds(30));
  }
  EXPECT_EQ(taken, 400);
}

TEST(RateLimiter, TellsWhenWhatWasTakenIsPaidOff) {
  RateLimiter rates({.burst = 10, .per_second = 2, .keys = 1});
  EXPECT_EQ(rates.TimeToPay("a", kStart), seconds(0));
  rates.Count("a", kStart, 10);
  EXPECT_EQ(rates.TimeToPay("a", kStart), seconds(0));
  rates.Count("a", kStart, 8);
  EXPECT_EQ(rates.TimeToPay("a", kStart), seconds(4));
  EXPECT_EQ(rates.TimeToPay("a", kStart + seconds(3)), seconds(1));
  EXPECT_EQ(rates.TimeToPay("a", kStart + seconds(9)), seconds(0));
  // One of those who share an allowance.
  rates.Count("b", kStart, 12);
  EXPECT_EQ(rates.TimeToPay("c", kStart), seconds(1));
}

TEST(PeerKey, IsAnIPv4AddressOrAHouseholdWithIPv6) {
  const auto key = [](const char* address) { return PeerKeyOf(make_address(address)); };
  EXPECT_EQ(key("192.0.2.1"), key("::ffff:192.0.2.1"));
  EXPECT_NE(key("192.0.2.1"), key("192.0.2.2"));
  EXPECT_EQ(key("2001:db8::1"), key("2001:db8::2:0:0:1"));
  EXPECT_NE(key("2001:db8::1"), key("2001:db8:0:1::1"));
}

}  // namespace
}  // namespace epsledger::transport
