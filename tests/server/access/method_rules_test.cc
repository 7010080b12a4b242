// The table of methods in server/access/README.md is that of the code.

#include "server/access/method_rules.h"

#include "gtest/gtest.h"

#include <fstream>
#include <string>
#include <vector>

namespace epsledger::access {
namespace {

const char* WordsOf(Subject subject) {
  switch (subject) {
    case Subject::kNothing:
      return "nothing that is stored";
    case Subject::kCaller:
      return "the caller or the server";
    case Subject::kNamed:
      return "the budget or session";
    case Subject::kParent:
      return "the parent";
    case Subject::kLedger:
      return "the whole ledger";
    case Subject::kVisibleBudgets:
      return "the granted budgets";
    case Subject::kTenant:
      return "the whole tenant";
  }
  return "";
}

// The rows below "| method | least role | about |".
std::vector<std::vector<std::string>> TableOfMethods() {
  std::ifstream in(EPSLEDGER_SOURCE_DIR "/server/access/README.md");
  std::vector<std::vector<std::string>> rows;
  bool in_table = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "| method | least role | about |") {
      in_table = true;
      std::getline(in, line);
      continue;
    }
    if (!in_table) continue;
    if (line.empty()) break;
    std::vector<std::string> cells;
    for (size_t at = 2; at < line.size();) {
      const size_t end = line.find(" |", at);
      cells.push_back(line.substr(at, end - at));
      at = end == line.npos ? line.size() : end + 3;
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

TEST(MethodRules, TheTableOfTheReadmeIsThatOfTheCode) {
  const std::vector<std::vector<std::string>> rows = TableOfMethods();
  EXPECT_GT(rows.size(), 50u);
  for (const std::vector<std::string>& row : rows) {
    ASSERT_EQ(row.size(), 3u);
    const MethodRule* rule = FindMethodRule("epsledger.v1." + row[0]);
    ASSERT_NE(rule, nullptr) << row[0];
    EXPECT_EQ(row[1], Name(rule->least)) << row[0];
    EXPECT_EQ(row[2], WordsOf(rule->subject)) << row[0];
  }
}

TEST(MethodRules, GrantsNameWhatIsAboutPartsOfATenant) {
  EXPECT_TRUE(IsGrantable("ChargeService.Charge"));
  EXPECT_TRUE(IsGrantable("AccountingService.Compute"));
  EXPECT_FALSE(IsGrantable("AccessService.CreateToken"));
  EXPECT_FALSE(IsGrantable("AccessService.GetCaller"));
  EXPECT_FALSE(IsGrantable("epsledger.v1.ChargeService.Charge"));
  EXPECT_FALSE(IsGrantable(""));
}

}  // namespace
}  // namespace epsledger::access
