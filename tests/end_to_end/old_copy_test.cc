// A server that is started on yesterday's copy of its data has forgotten charges. It cannot know;
// a client that saw a newer head does, and from then on the ledger writes nothing more.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <string>

#include "epsledger/client.h"
#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

using ::testing::HasSubstr;

class OldCopy : public ::testing::Test {
 protected:
  OldCopy() {
    EXPECT_FALSE(server_.address().empty()) << server_.output();
    BudgetOptions budget;
    budget.id = "b";
    budget.cap = PureEpsilonCap{100};
    budget.neighboring_relation = NeighboringRelation::kAddOrRemoveOne;
    budget.privacy_unit = "person";
    EXPECT_TRUE(Connect().CreateBudget(budget).ok());
  }

  Client Connect() { return *Client::Connect({.address = server_.address()}); }
  Session Open(Client& client, const std::string& id) {
    auto session = client.OpenSession(
        {.budget = "b",
         .session = id,
         .create = NewSession{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                              .no_own_cap = true}});
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }
  static absl::Status Charge(Session& session) {
    return session.Charge(Mechanism::PureDp(1)).status();
  }

  void CopyData(const std::string& from, const std::string& to) {
    std::filesystem::remove_all(to);
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  }

  const ScratchFolder folder_;
  const std::string data_ = folder_.path() + "/data";
  const std::string copy_ = folder_.path() + "/yesterday";
  ServerProcess server_{data_};
};

TEST_F(OldCopy, IsFoundByTheClientThatSawTodaysHead) {
  Client client = Connect();
  Session session = Open(client, "s");
  ASSERT_TRUE(Charge(session).ok());
  server_.Kill();
  CopyData(data_, copy_);
  server_.Restart();
  ASSERT_FALSE(server_.address().empty()) << server_.output();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Charge(session).ok());

  server_.Kill();
  CopyData(copy_, data_);
  server_.Restart();
  ASSERT_FALSE(server_.address().empty()) << server_.output();
  const absl::Status found = Charge(session);
  EXPECT_EQ(found.code(), absl::StatusCode::kDataLoss) << found;
  EXPECT_THAT(std::string(found.message()), HasSubstr("restored from an old backup"));

  // Nobody is told a charge any more, not even who saw nothing.
  Client other = Connect();
  const auto fresh = other.OpenSession({.budget = "b", .session = "s"});
  EXPECT_EQ(fresh.status().code(), absl::StatusCode::kDataLoss) << fresh.status();
  const auto budget = other.GetBudget("b");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->cells.at(0).spent, 1);
}

// Nothing is missing in the copy of today. But it may serve beside its original: who was there is
// told, nobody is stopped, and a client that is started anew goes on.
TEST_F(OldCopy, OfThisVeryMomentIsAnotherIncarnation) {
  Client client = Connect();
  Session session = Open(client, "s");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Charge(session).ok());
  server_.Kill();
  CopyData(data_, copy_);
  CopyData(copy_, data_);
  server_.Restart();
  ASSERT_FALSE(server_.address().empty()) << server_.output();
  const absl::Status told = Charge(session);
  EXPECT_EQ(told.code(), absl::StatusCode::kFailedPrecondition) << told;
  EXPECT_THAT(std::string(told.message()), HasSubstr("another file than the one that was served"));
  Client other = Connect();
  EXPECT_EQ(other.GetBudget("b")->cells.at(0).spent, 5);
  Session fresh = Open(other, "s");
  EXPECT_TRUE(Charge(fresh).ok());
}

// The negative control: a restart, and a folder that was away and is back, are no copies.
TEST_F(OldCopy, AFolderThatIsBackInItsPlaceIsNoCopy) {
  Client client = Connect();
  Session session = Open(client, "s");
  ASSERT_TRUE(Charge(session).ok());
  server_.Kill();
  std::filesystem::rename(data_, copy_);
  std::filesystem::rename(copy_, data_);
  server_.Restart();
  ASSERT_FALSE(server_.address().empty()) << server_.output();
  EXPECT_TRUE(Charge(session).ok());
}

}  // namespace
}  // namespace epsledger
