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
  table.AddRow({"budgets/a", TableCell(1.0 / 3, Rounding::kUp)});
  table.AddRow({"b", int64_t{12}});
  return table;
}

TEST(Table, AlignsTextLeftAndNumbersRight) {
  std::ostringstream out;
  Sample().PrintAligned(out, {});
  EXPECT_EQ(out.str(),
            "NAME          SPENT\n"
            "budgets/a  0.333334\n"
            "b                12\n");
}

TEST(Table, CsvQuotesAndKeepsNumbersExact) {
  Table table({"name", "spent"});
  table.AddRow({"say \"a, b\"", TableCell(1.0 / 3, Rounding::kUp)});
  std::ostringstream out;
  table.PrintCsv(out);
  EXPECT_EQ(out.str(), "name,spent\r\n\"say \"\"a, b\"\"\",0.3333333333333333\r\n");
}

TEST(Table, DetailsLeaveOutEmptyCells) {
  Table table({"name", "parent", "state"});
  table.AddRow({"budgets/a", "", "ACTIVE"});
  std::ostringstream out;
  table.PrintDetails(out, {});
  EXPECT_EQ(out.str(), "name    budgets/a\nstate   ACTIVE\n");
}

TEST(Table, ControlCharactersDoNotReachTheTerminal) {
  Table table({"name"});
  table.AddRow({"red \033[31m\n"});
  std::ostringstream out;
  table.PrintAligned(out, {});
  EXPECT_EQ(out.str(), "NAME\nred ?[31m?\n");
}

TEST(Table, AlignsByCharactersAndNotByBytes) {
  Table table({"name", "of the cap", "state"});
  table.AddRow({"é", "█░", "a"});
  table.AddRow({"bb", "", ""});
  std::ostringstream out;
  table.PrintAligned(out, {});
  EXPECT_EQ(out.str(),
            "NAME  OF THE CAP  STATE\n"
            "é     █░          a\n"
            "bb\n");
}

TEST(Table, ShowsTonesAsColorsThatTakeNoRoom) {
  Table table({"state", "name"});
  table.AddRow({TableCell("CLOSED").In(Tone::kBad), "a"});
  table.AddRow({TableCell("x").In(Tone::kWarning), "b"});
  std::ostringstream colored;
  table.PrintAligned(colored, {.color = true});
  EXPECT_EQ(colored.str(),
            "\033[1mSTATE   NAME\033[0m\n"
            "\033[31mCLOSED\033[0m  a\n"
            "\033[33mx\033[0m       b\n");
  std::ostringstream plain;
  table.PrintAligned(plain, {});
  EXPECT_EQ(plain.str().find('\033'), std::string::npos);
}

Table Wide() {
  Table table({"name", "event", "accepted", "refused", "theorem"});
  table.OnlyWide({"theorem"}).IfRoom({"accepted", "refused"}).MayCut({"event"});
  table.AddRow({"adult", "an event with a long description", int64_t{12}, int64_t{3}, "Thm 1"});
  return table;
}

std::string Aligned(const Table& table, const TableStyle& style) {
  std::ostringstream out;
  table.PrintAligned(out, style);
  return out.str();
}

TEST(Table, LeavesOutWhatHasNoRoomAndThenCuts) {
  EXPECT_EQ(Aligned(Wide(), {}),
            "NAME   EVENT                             ACCEPTED  REFUSED\n"
            "adult  an event with a long description        12        3\n");
  EXPECT_EQ(Aligned(Wide(), {.width = 58}), Aligned(Wide(), {}));
  EXPECT_EQ(Aligned(Wide(), {.width = 57}),
            "NAME   EVENT                             ACCEPTED\n"
            "adult  an event with a long description        12\n");
  EXPECT_EQ(Aligned(Wide(), {.width = 39}),
            "NAME   EVENT\n"
            "adult  an event with a long description\n");
  EXPECT_EQ(Aligned(Wide(), {.width = 30}),
            "NAME   EVENT\n"
            "adult  an event with a long...\n");
  EXPECT_EQ(Aligned(Wide(), {.width = 30, .unicode = true}),
            "NAME   EVENT\n"
            "adult  an event with a long d…\n");
  // A name is never cut, and no text below twelve characters.
  EXPECT_EQ(Aligned(Wide(), {.width = 1}),
            "NAME   EVENT\n"
            "adult  an event ...\n");
}

TEST(Table, ShowsEverythingInTheWideStyle) {
  EXPECT_EQ(Aligned(Wide(), {.wide = true, .width = 20}),
            "NAME   EVENT                             ACCEPTED  REFUSED  THEOREM\n"
            "adult  an event with a long description        12        3  Thm 1\n");
  std::ostringstream csv;
  Wide().PrintCsv(csv);
  EXPECT_EQ(csv.str().substr(0, csv.str().find('\r')), "name,event,accepted,refused,theorem");
}

TEST(Table, DetailsGoOnBelowThemselves) {
  Table table({"name", "cap", "theorem"});
  table.OnlyWide({"theorem"});
  table.AddRow({"adult", "one two three four five six seven eight nine ten", "Thm 1"});
  std::ostringstream out;
  table.PrintDetails(out, {.width = 40});
  EXPECT_EQ(out.str(),
            "name  adult\n"
            "cap   one two three four five six seven\n"
            "      eight nine ten\n");
  std::ostringstream wide;
  table.PrintDetails(wide, {.wide = true});
  EXPECT_EQ(wide.str(),
            "name     adult\n"
            "cap      one two three four five six seven eight nine ten\n"
            "theorem  Thm 1\n");
}

TEST(TableCell, HasAFormForPeopleBesideTheExactOne) {
  const TableCell cell = TableCell("budgets/adult").ForPeople("adult");
  EXPECT_EQ(cell.for_people(), "adult");
  EXPECT_EQ(cell.exact(), "budgets/adult");
}

TEST(Table, JsonRowsHaveTheColumnsAsFields) {
  Table table({"name", "privacy unit", "epsilon at delta"});
  table.AddRow({"say \"a\"", int64_t{12}, TableCell(1.0 / 3, Rounding::kUp)});
  table.AddRow({"b", "", TableCell(std::numeric_limits<double>::infinity(), Rounding::kUp)});
  EXPECT_THAT(table.JsonRows(false),
              ::testing::ElementsAre(
                  R"({"name":"say \"a\"","privacyUnit":12,"epsilonAtDelta":0.3333333333333333})",
                  R"({"name":"b","privacyUnit":"","epsilonAtDelta":"Infinity"})"));
}

}  // namespace
}  // namespace epsledger::cli
