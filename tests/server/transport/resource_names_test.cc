#include "server/transport/grpc/converters/resource_names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ResourceNames, ComeBackAsTheyWere) {
  EXPECT_EQ(*ParseBudgetName("name", "budgets/adult.2024_v-1"), "adult.2024_v-1");
  const auto session = ParseSessionName("name", "budgets/b/sessions/0");
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(FormatSessionName(*session), "budgets/b/sessions/0");
  const auto attempt =
      ParseAttemptName("attempt", "budgets/b/sessions/s/attempts/9223372036854775807");
  ASSERT_TRUE(attempt.ok());
  EXPECT_EQ(FormatAttemptName(*attempt), "budgets/b/sessions/s/attempts/9223372036854775807");
  const auto charge = ParseChargeName("name", "budgets/b/sessions/s/attempts/1/charges/A:z_9.-");
  ASSERT_TRUE(charge.ok());
  EXPECT_EQ(FormatChargeName(charge->attempt, charge->charge_id),
            "budgets/b/sessions/s/attempts/1/charges/A:z_9.-");
}

TEST(ResourceNames, HaveOneSpelling) {
  for (const char* name :
       {"", "budgets", "budgets/", "budgets//", "/budgets/b", "budgets/b/", "Budgets/b",
        "budgets/B", "budgets/-b", "budgets/.b", "budgets/b b", "budgets/b/sessions",
        "budgets/\xce\xb5",
        "budgets/abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd", "b", "*"}) {
    EXPECT_FALSE(ParseBudgetName("name", name).ok()) << name;
  }
  for (const char* name :
       {"budgets/b", "budgets/b/sessions/", "budgets/b/sessions/s/", "budgets/b/session/s",
        "budgets//sessions/s", "sessions/s", "budgets/b/sessions/s/attempts/1"}) {
    EXPECT_FALSE(ParseSessionName("name", name).ok()) << name;
  }
  for (const char* number : {"", "0", "-1", "01", "+1", "1 ", "1x", "9223372036854775808", "a"}) {
    EXPECT_FALSE(
        ParseAttemptName("name", std::string("budgets/b/sessions/s/attempts/") + number).ok())
        << number;
  }
  for (const std::string& id : {std::string(), std::string("a/b"), std::string("a b"),
                                std::string(65, 'a'), std::string("\xce\xb5")}) {
    EXPECT_FALSE(ParseChargeName("name", "budgets/b/sessions/s/attempts/1/charges/" + id).ok())
        << id;
  }
}

RC_GTEST_PROP(ResourceNames, WhatParsesFormatsToTheSame, (const std::string& text)) {
  for (const std::string& name : {text, "budgets/" + text}) {
    const auto budget = ParseBudgetName("name", name);
    if (budget.ok()) RC_ASSERT(FormatBudgetName(*budget) == name);
  }
  const std::string name = "budgets/b/sessions/s/attempts/1/charges/" + text;
  const auto charge = ParseChargeName("name", name);
  if (charge.ok()) RC_ASSERT(FormatChargeName(charge->attempt, charge->charge_id) == name);
}

TEST(ResourceNames, ErrorsAreShortAndPrintableWhateverCame) {
  const std::string long_name = "budgets/" + std::string(1 << 16, 'a');
  EXPECT_THAT(std::string(ParseBudgetName("name", long_name).status().message()),
              StartsWith("name: got \"budgets/aaaa"));
  EXPECT_THAT(std::string(ParseBudgetName("name", long_name).status().message()),
              HasSubstr("...\" (65544 bytes), want budgets/{budget}"));
  EXPECT_THAT(std::string(ParseBudgetName("name", "a\n\xff\"").status().message()),
              StartsWith("name: got \"a\\n\\xff\\\"\", want budgets/{budget}"));
  for (const std::string& text : {long_name, std::string(1 << 16, '\xff')}) {
    const std::string message(CheckResourceId("budgetId", text).message());
    EXPECT_LT(message.size(), 400u);
    for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
  }
}

}  // namespace
}  // namespace epsledger::transport
