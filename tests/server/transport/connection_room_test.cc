#include "server/transport/sockets/connection_room.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace epsledger::transport {
namespace {

using boost::asio::ip::make_address;
using Id = ConnectionRoom::Id;

class Room : public ::testing::Test {
 protected:
  std::optional<ConnectionRoom::Entry> Enter(const std::string& peer) {
    return room_.Enter(make_address(peer));
  }
  // REQUIRES: there is room without anybody leaving.
  Id Free(const std::string& peer) {
    const auto entry = Enter(peer);
    EXPECT_TRUE(entry.has_value() && !entry->ended.has_value()) << peer;
    return entry.has_value() ? entry->id : 0;
  }
  // Who leaves for the peer; 0: nobody, and it is let in; nullopt: it is not let in.
  std::optional<Id> LeavesFor(const std::string& peer) {
    const auto entry = Enter(peer);
    if (!entry.has_value()) return std::nullopt;
    return entry->ended.value_or(0);
  }

  ConnectionRoom room_{{.all = 6, .of_peer = 3, .reserved = 1}};
};

TEST_F(Room, TheOldestOfTheSamePeerThatSendsNothingLeaves) {
  const Id first = Free("192.0.2.1");
  const Id second = Free("192.0.2.1");
  const Id third = Free("192.0.2.1");
  EXPECT_EQ(LeavesFor("192.0.2.1"), first);
  room_.Work(second);
  EXPECT_EQ(LeavesFor("192.0.2.1"), third);
  // Those that have made a request come after those that have not.
  room_.Wait(second);
  const auto entry = Enter("192.0.2.1");
  ASSERT_TRUE(entry.has_value());
  EXPECT_NE(*entry->ended, second);
  // Who had to leave has nothing to leave, and nothing to wait for.
  room_.Leave(first);
  room_.Wait(first);
  room_.Work(first);
}

TEST_F(Room, WhoWorksStays) {
  std::vector<Id> working;
  for (const char* peer : {"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"}) {
    working.push_back(Free(peer));
    room_.Work(working.back());
  }
  EXPECT_EQ(LeavesFor("192.0.2.6"), std::nullopt);
  EXPECT_EQ(LeavesFor("127.0.0.1"), 0u);  // reserved
  room_.Wait(working[2]);
  room_.Wait(working[1]);
  // The probe, which waits too, leaves for nobody of another machine.
  EXPECT_EQ(LeavesFor("192.0.2.6"), working[2]);
  EXPECT_EQ(LeavesFor("127.0.0.1"), 7u);
}

TEST_F(Room, ThousandsThatSendNothingKeepNobodyOut) {
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_TRUE(Enter("198.51.100." + std::to_string(i % 200)).has_value()) << i;
    if (i % 100 != 0) continue;
    const auto entry = Enter("192.0.2.1");
    ASSERT_TRUE(entry.has_value()) << i;
    room_.Work(entry->id);
    ASSERT_TRUE(Enter("127.0.0.1").has_value()) << i;
    room_.Leave(entry->id);
  }
}

}  // namespace
}  // namespace epsledger::transport
