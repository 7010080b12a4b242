#include "server/storage/postgres/precautions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>

#include "absl/time/time.h"
#include "tests/server/storage/postgres/postgres_database.h"

namespace epsledger::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> MissingIn(const std::string& conninfo) {
  auto connection = PostgresConnection::Open(conninfo, "", absl::Seconds(30));
  EXPECT_TRUE(connection.ok()) << connection.status();
  return connection.ok() ? MissingPrecautions(**connection)
                         : std::vector<std::string>{"no session"};
}

TEST(MissingPrecautions, TellsOfASuperuserAndOfNoPlainRole) {
  const PostgresDatabase database;
  database.Sql("CREATE ROLE plain LOGIN");
  const std::string plain = " user=plain";  // what comes last counts
  for (const std::string& place : {database.cluster().ConnectionString(database.name()),
                                   database.cluster().SocketConnectionString(database.name())}) {
    SCOPED_TRACE(place);
    EXPECT_THAT(MissingIn(place), ElementsAre(HasSubstr("logs in as a superuser")));
    EXPECT_THAT(MissingIn(place + plain), IsEmpty());
  }
}

TEST(MissingPrecautions, LooksAtTheSocketForWhereTheServerIs) {
  const PostgresDatabase database;
  const auto by_network = PostgresConnection::Open(
      database.cluster().ConnectionString(database.name()), "", absl::Seconds(30));
  ASSERT_TRUE(by_network.ok()) << by_network.status();
  EXPECT_EQ((*by_network)->Address(), "127.0.0.1");
  EXPECT_FALSE((*by_network)->IsEncrypted());
  const auto by_socket = PostgresConnection::Open(
      database.cluster().SocketConnectionString(database.name()), "", absl::Seconds(30));
  ASSERT_TRUE(by_socket.ok()) << by_socket.status();
  EXPECT_EQ((*by_socket)->Address(), "");
}

TEST(IsLoopback, IsTrueOfThisMachinesOwnAddressesAlone) {
  for (const char* address : {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address : {"", "localhost", "0.0.0.0", "128.0.0.1", "10.0.0.127",
                              "::", "::ffff:10.0.0.1", "fe80::1", "2001:db8::7f00:1"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

}  // namespace
}  // namespace epsledger::storage
