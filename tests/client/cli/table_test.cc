#include "client/cli/print/table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>

namespace epsledger::cli {
namespace {

Table Sample() {
  Table table({"name", "spent"});
  table.AddRow({"budgets/a", Cell(1.0 / 3, Rounding::kUp)});
  table.AddRow({"b", int64_t{12}});
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

TEST(Table, AlignsByCharactersAndNotByBytes) {
  Table table({"name", "of the cap", "state"});
  table.AddRow({"é", "█░", "a"});
  table.AddRow({"bb", "", ""});
  std::ostringstream out;
  table.PrintAligned(out, false);
  EXPECT_EQ(out.str(),
            "NAME  OF THE CAP  STATE\n"
            "é     █░          a\n"
            "bb\n");
}

TEST(Table, ShowsTonesAsColorsThatTakeNoRoom) {
  Table table({"state", "name"});
  table.AddRow({Cell("CLOSED").In(Tone::kBad), "a"});
  table.AddRow({Cell("x").In(Tone::kWarning), "b"});
  std::ostringstream colored;
  table.PrintAligned(colored, true);
  EXPECT_EQ(colored.str(),
            "\033[1mSTATE   NAME\033[0m\n"
            "\033[31mCLOSED\033[0m  a\n"
            "\033[33mx\033[0m       b\n");
  std::ostringstream plain;
  table.PrintAligned(plain, false);
  EXPECT_EQ(plain.str().find('\033'), std::string::npos);
}

TEST(Table, JsonRowsHaveTheColumnsAsFields) {
  Table table({"name", "privacy unit", "epsilon at delta"});
  table.AddRow({"say \"a\"", int64_t{12}, Cell(1.0 / 3, Rounding::kUp)});
  table.AddRow({"b", "", Cell(std::numeric_limits<double>::infinity(), Rounding::kUp)});
  EXPECT_THAT(table.JsonRows(false),
              ::testing::ElementsAre(
                  R"({"name":"say \"a\"","privacyUnit":12,"epsilonAtDelta":0.3333333333333333})",
                  R"({"name":"b","privacyUnit":"","epsilonAtDelta":"Infinity"})"));
}

}  // namespace
}  // namespace epsledger::cli
