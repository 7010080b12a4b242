#include "client/cli/table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>

namespace epsledger::cli {
namespace {

Table Sample() {
  Table table({"name", "spent"});
  table.AddRow({"budgets/a", Cell(1.0 / 3, Rounding::kUp)});
  table.AddRow({"b", std::int64_t{12}});
  return table;
}

TEST(Table, AlignsTextLeftAndNumbersRight) {
  std::ostringstream out;
  Sample().PrintAligned(out, false);
  EXPECT_EQ(out.str(),
            "NAME          SPENT\n"
            "budgets/a  0.333334\n"
            "b                12\n");
}

TEST(Table, CsvQuotesAndKeepsNumbersExact) {
  Table table({"name", "spent"});
  table.AddRow({"say \"a, b\"", Cell(1.0 / 3, Rounding::kUp)});
  std::ostringstream out;
  table.PrintCsv(out);
  EXPECT_EQ(out.str(), "name,spent\r\n\"say \"\"a, b\"\"\",0.3333333333333333\r\n");
}

TEST(Table, DetailsLeaveOutEmptyCells) {
  Table table({"name", "parent", "state"});
  table.AddRow({"budgets/a", "", "ACTIVE"});
  std::ostringstream out;
  table.PrintDetails(out, false);
  EXPECT_EQ(out.str(), "name    budgets/a\nstate   ACTIVE\n");
}

TEST(Table, ControlCharactersDoNotReachTheTerminal) {
  Table table({"name"});
  table.AddRow({"red \033[31m\n"});
  std::ostringstream out;
  table.PrintAligned(out, false);
  EXPECT_EQ(out.str(), "NAME\nred ?[31m?\n");
}

}  // namespace
}  // namespace epsledger::cli
