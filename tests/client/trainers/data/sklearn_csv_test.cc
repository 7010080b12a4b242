#include "client/trainers/data/sklearn_csv.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace epsledger::trainers {
namespace {

TEST(ParseSklearnCsv, ReadsATableWithAHeader) {
  const absl::StatusOr<ParsedRecords> records =
      ParseSklearnCsv("2,3,malignant,benign\n1.5,0,-2,0\n0,1e1,0,1\n", "t.csv");
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(Eigen::MatrixXd(records->features),
            (Eigen::MatrixXd(2, 3) << 1.5, 0, -2, 0, 10, 0).finished());
  EXPECT_EQ(records->labels, Eigen::Vector2d(0, 1));
}

TEST(ParseSklearnCsv, ReadsAHeaderThatIsPaddedWithCommas) {
  EXPECT_TRUE(ParseSklearnCsv("1,5,malignant,benign,,\n1,2,3,4,5,0\n", "t.csv").ok());
}

TEST(ParseSklearnCsv, ReadsATableWithoutAHeader) {
  const absl::StatusOr<ParsedRecords> records = ParseSklearnCsv(
      "0.000000000000000000e+00,5.000000000000000000e+00,7.000000000000000000e+00\r\n", "t.csv");
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(Eigen::MatrixXd(records->features), (Eigen::MatrixXd(1, 2) << 0, 5).finished());
  EXPECT_EQ(records->labels[0], 7);
}

struct ErrorCase {
  std::string text;
  std::string message;
};

TEST(ParseSklearnCsv, SaysWhereWhatItGotAndWhatItWants) {
  const std::vector<ErrorCase> cases = {
      {"", "t.csv:1: got no records, want at least one"},
      {"2,1,a,b\n", "t.csv:1: got no records, want at least one"},
      {"2,1,a,b\n1,0\n", "t.csv:1: got a header that promises 2 records, want the 1 that follow"},
      {"1,2,3\n1,2\n", "t.csv:2: got 2 fields, want 3"},
      {"1\n", "t.csv:1: got 1 fields, want 2"},
      {"1,2,3\n1,x,3\n", "t.csv:2: got \"x\" in field 2, want a finite number"},
      {"1,2,3\n1,nan,3\n", "t.csv:2: got \"nan\" in field 2, want a finite number"},
      {"1,2,3\n1,,3\n", "t.csv:2: got \"\" in field 2, want a finite number"}};
  for (const ErrorCase& c : cases) {
    const absl::Status status = ParseSklearnCsv(c.text, "t.csv").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()), c.message);
  }
}

}  // namespace
}  // namespace epsledger::trainers
