#include "client/alerts/delivery/outbox.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace epsledger::alerts {
namespace {

using ::testing::ElementsAre;

Alert Numbered(int number) {
  return {.id = "id-" + std::to_string(number),
          .kind = AlertKind::kRefusal,
          .rule = "refusals",
          .time_micros = number,
          .title = "title\n\"" + std::to_string(number),
          .text = "text \xc3\xa9",
          .budget = "budgets/people",
          .labels = {{"team", "vision"}},
          .facts = {{"requested", "0.1"}, {"sequence", "7"}},
          .page = "budgets/people"};
}

std::vector<std::string> Ids(const Outbox& outbox) {
  std::vector<std::string> ids;
  for (const Alert& alert : outbox.Waiting("officer")) ids.push_back(alert.id);
  return ids;
}

TEST(Outbox, KeepsTheOrder) {
  Outbox outbox({"officer", "pager"}, 10);
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(outbox.Add("officer", Numbered(i)));
  EXPECT_THAT(Ids(outbox), ElementsAre("id-1", "id-2", "id-3"));
  EXPECT_FALSE(outbox.Remove("officer", "id-2").has_value());
  EXPECT_FALSE(outbox.Remove("officer", "id-2").has_value());
  EXPECT_THAT(Ids(outbox), ElementsAre("id-1", "id-3"));
  EXPECT_TRUE(outbox.Waiting("pager").empty());
}

TEST(Outbox, IsBoundedAndTellsHowManyWereNotSent) {
  Outbox outbox({"officer"}, 2);
  EXPECT_TRUE(outbox.Add("officer", Numbered(1)));
  EXPECT_TRUE(outbox.Add("officer", Numbered(2)));
  for (int i = 3; i <= 9; ++i) EXPECT_FALSE(outbox.Add("officer", Numbered(i)));
  EXPECT_THAT(Ids(outbox), ElementsAre("id-1", "id-2"));
  EXPECT_FALSE(outbox.Remove("officer", "id-1").has_value());
  const std::optional<Alert> told = outbox.Remove("officer", "id-2");
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->kind, AlertKind::kDropped);
  EXPECT_EQ(told->title, "7 alerts were not sent");
  EXPECT_EQ(told->time_micros, 3);
  EXPECT_THAT(Ids(outbox), ElementsAre(told->id));
  EXPECT_FALSE(outbox.Remove("officer", told->id).has_value());
}

TEST(Outbox, ContinuesFromItsState) {
  Outbox outbox({"officer", "gone"}, 1);
  outbox.Add("officer", Numbered(1));
  outbox.Add("officer", Numbered(2));
  outbox.Add("gone", Numbered(3));
  Outbox next({"officer", "new"}, 1);
  ASSERT_TRUE(next.Restore(nlohmann::ordered_json::parse(outbox.State().dump())).ok());
  ASSERT_THAT(Ids(next), ElementsAre("id-1"));
  const Alert& restored = next.Waiting("officer").front();
  EXPECT_EQ(ToState(restored).dump(), ToState(Numbered(1)).dump());
  const std::optional<Alert> told = next.Remove("officer", "id-1");
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->title, "1 alerts were not sent");
}

TEST(Outbox, RefusesAStateThatItDidNotWrite) {
  for (const char* text : {"7", R"({"officer": []})", R"({"officer": {"waiting": [{}]}})"}) {
    Outbox outbox({"officer"}, 1);
    EXPECT_EQ(outbox.Restore(nlohmann::ordered_json::parse(text)).code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace epsledger::alerts
