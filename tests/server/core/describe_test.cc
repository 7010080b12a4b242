#include "server/core/describe.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Describe, SaysWhatHappenedInOneLine) {
  LedgerHarness harness;
  const SessionName session{"b", "s"};
  ASSERT_TRUE(harness.Run(CreateBudget{PureBudget("b", 1)}).ok());
  ASSERT_TRUE(harness.Run(CreateSession{AdaptiveSession("b", "s")}).ok());
  ASSERT_TRUE(harness.Run(OpenAttempt{session, "host 7", {}}).ok());
  harness.Decide(session, 1, "one", accounting::PureDp{0.5}, 2);
  harness.Decide(session, 1, "two", accounting::PureDp{0.5});
  ASSERT_TRUE(harness.Run(ChangeBudgetPhase{"b", BudgetPhase::kFrozen, "an audit"}).ok());
  ASSERT_TRUE(harness.Run(CloseSession{session, "done"}).ok());

  std::vector<std::string> lines;
  for (const Entry& entry : harness.entries) {
    lines.push_back(Describe(entry.body, harness.ledger));
  }
  EXPECT_THAT(lines, ::testing::ElementsAre(
                         "budget b created: 1-DP, add-or-remove-one, of \"person\"",
                         "session b/s created, ADAPTIVE", "b/s attempt 1 opened by \"host 7\"",
                         "b/s priced pureDp{epsilon: 0.5}",
                         "b/s attempt 1 charged 2 x pureDp{epsilon: 0.5} as \"one\"",
                         "b/s attempt 1 was refused 1 x pureDp{epsilon: 0.5} as \"two\": "
                         "BUDGET_EXHAUSTED by b, 0 would fit",
                         "budget b is FROZEN: \"an audit\"", "b/s closed: \"done\""));
}

TEST(Describe, KeepsHostileTextInItsQuotes) {
  LedgerHarness harness;
  ASSERT_TRUE(harness.Run(CreateBudget{PureBudget("b", 1)}).ok());
  ASSERT_TRUE(harness.Run(CreateSession{AdaptiveSession("b", "s")}).ok());
  const std::string line = Describe(
      AttemptOpened{
          .session_number = 1, .attempt = 1, .client_description = "x\"\nbudget b closed"},
      harness.ledger);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_THAT(line, HasSubstr("\"x\\\"\\nbudget b closed\""));
}

TEST(Describe, NamesWhatItDoesNotKnowByItsNumber) {
  EXPECT_EQ(Describe(ChargeDecided{.session_number = 3,
                                   .attempt = 2,
                                   .charge_id = "c",
                                   .event_index = 4,
                                   .count = 5,
                                   .decision = ChargeDecision::kAccepted},
                     Ledger()),
            "session 3 attempt 2 charged 5 x event 4 as \"c\"");
}

}  // namespace
}  // namespace epsledger::core
