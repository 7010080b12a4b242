#include "client/trainers/data/libsvm_data.h"

#include <zlib.h>
#include "gtest/gtest.h"

#include <fstream>
#include <string>
#include <vector>

namespace epsledger::trainers {
namespace {

std::string TemporaryPath(const std::string& name) { return testing::TempDir() + "/" + name; }

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void WriteGzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

TEST(ParseLibsvm, ReadsRecordsLabelsAndDropsExplicitZeros) {
  const absl::StatusOr<ParsedRecords> records =
      ParseLibsvm("+1 1:0.5 3:-2e-3\n-1 2:7\t4:0 \r\n-1\n", "f");
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(Eigen::MatrixXd(records->features),
            (Eigen::MatrixXd(3, 4) << 0.5, 0, -2e-3, 0, 0, 7, 0, 0, 0, 0, 0, 0).finished());
  EXPECT_EQ(records->labels, Eigen::Vector3d(1, -1, -1));
  EXPECT_EQ(records->features.nonZeros(), 3);
}

TEST(ParseLibsvm, TakesALastLineWithoutAnEnd) {
  EXPECT_EQ(ParseLibsvm("1 1:1\n1 1:1", "f")->labels.size(), 2);
}

TEST(ParseLibsvm, GivesTheFeatureCountThatWasAskedFor) {
  EXPECT_EQ(ParseLibsvm("1 2:1\n", "f", 9)->features.cols(), 9);
  EXPECT_EQ(ParseLibsvm("1 2:1\n", "f", -1).status().code(), absl::StatusCode::kInvalidArgument);
}

struct ErrorCase {
  std::string text;
  std::string message;
};

TEST(ParseLibsvm, SaysWhereWhatItGotAndWhatItWants) {
  const std::vector<ErrorCase> cases = {
      {"", "a.txt:1: got an empty file, want at least one record"},
      {"1 1:1\n\n1 1:1\n", "a.txt:2: got an empty line, want a label"},
      {"  \n", "a.txt:1: got an empty line, want a label"},
      {"yes 1:1\n", "a.txt:1: got label \"yes\", want a finite number"},
      {"nan 1:1\n", "a.txt:1: got label \"nan\", want a finite number"},
      {"+-1 1:1\n", "a.txt:1: got label \"+-1\", want a finite number"},
      {"1:1 2:1\n", "a.txt:1: got label \"1:1\", want a finite number"},
      {"# note\n", "a.txt:1: got label \"#\", want a finite number"},
      {"1 1:1\n1 2\n", "a.txt:2: got \"2\", want index:value"},
      {"1 x:1\n", "a.txt:1: got index \"x\", want an integer"},
      {"1 :1\n", "a.txt:1: got index \"\", want an integer"},
      {"1 1.5:1\n", "a.txt:1: got index \"1.5\", want an integer"},
      {"1 0:1\n", "a.txt:1: got index \"0\", want one in [1, 10]"},
      {"1 -3:1\n", "a.txt:1: got index \"-3\", want one in [1, 10]"},
      {"1 11:1\n", "a.txt:1: got index \"11\", want one in [1, 10]"},
      {"1 99999999999999999999:1\n",
       "a.txt:1: got index \"99999999999999999999\", want one in [1, 10]"},
      {"1 3:1 3:1\n", "a.txt:1: got index 3 after 3, want increasing indices"},
      {"1 3:1 2:1\n", "a.txt:1: got index 2 after 3, want increasing indices"},
      {"1 1:\n", "a.txt:1: got value \"\" at index 1, want a finite number"},
      {"1 1:NaN\n", "a.txt:1: got value \"NaN\" at index 1, want a finite number"},
      {"1 1:inf\n", "a.txt:1: got value \"inf\" at index 1, want a finite number"},
      {"1 1:1e999\n", "a.txt:1: got value \"1e999\" at index 1, want a finite number"},
      {"1 1:0x1\n", "a.txt:1: got value \"0x1\" at index 1, want a finite number"},
      {"1 1:2:3\n", "a.txt:1: got value \"2:3\" at index 1, want a finite number"},
      {"1 1:" + std::string(100, '9') + "x\n",
       "a.txt:1: got value \"" + std::string(40, '9') + "...\" at index 1, want a finite number"}};
  for (const ErrorCase& c : cases) {
    const absl::Status status = ParseLibsvm(c.text, "a.txt", 10).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()), c.message);
  }
}

TEST(ReadLibsvm, ReadsPlainAndGzippedFilesAlike) {
  const std::string text = "+1 1:1\n-1 2:1\n";
  WriteFile(TemporaryPath("plain.txt"), text);
  WriteGzip(TemporaryPath("packed.gz"), text);
  const absl::StatusOr<ParsedRecords> plain = ReadLibsvm(TemporaryPath("plain.txt"));
  const absl::StatusOr<ParsedRecords> packed = ReadLibsvm(TemporaryPath("packed.gz"));
  ASSERT_TRUE(plain.ok()) << plain.status();
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_EQ(Eigen::MatrixXd(plain->features), Eigen::MatrixXd(packed->features));
  EXPECT_EQ(plain->labels, packed->labels);
}

TEST(ReadLibsvm, NamesTheFileThatCannotBeOpened) {
  const absl::Status status = ReadLibsvm(TemporaryPath("absent")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(status.message()).find("absent: No such file"), std::string::npos);
}

TEST(ReadLibsvm, TellsACutOrCorruptGzipFileFromAShortOne) {
  const std::string path = TemporaryPath("whole.gz");
  std::string text;
  for (int line = 0; line < 2000; ++line) {
    text += "1 1:" + std::to_string(line * line % 7919) + "\n";
  }
  WriteGzip(path, text);
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  WriteFile(TemporaryPath("cut.gz"), bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(ReadLibsvm(TemporaryPath("cut.gz")).status().code(), absl::StatusCode::kDataLoss);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  WriteFile(TemporaryPath("corrupt.gz"), bytes);
  EXPECT_EQ(ReadLibsvm(TemporaryPath("corrupt.gz")).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ReadLibsvm, ADirectoryIsAnError) { EXPECT_FALSE(ReadLibsvm(testing::TempDir()).ok()); }

absl::StatusOr<LabeledRows> TwoClasses(const std::string& text,
                                       std::optional<double> positive_class = std::nullopt) {
  return ToTwoClasses(*ParseLibsvm(text, "a.txt"), positive_class);
}

TEST(ToTwoClasses, MapsPlusMinusOneAndZeroOne) {
  EXPECT_EQ(TwoClasses("+1 1:1\n-1 1:1\n")->labels, Eigen::Vector2d(1, 0));
  EXPECT_EQ(TwoClasses("0 1:1\n1 1:1\n")->labels, Eigen::Vector2d(0, 1));
}

TEST(ToTwoClasses, MapsOneClassAgainstTheRest) {
  EXPECT_EQ(TwoClasses("3 1:1\n7 1:1\n0 1:1\n", 7)->labels, Eigen::Vector3d(0, 1, 0));
}

TEST(ToTwoClasses, NamesTheLineOfALabelThatDoesNotFit) {
  EXPECT_EQ(std::string(TwoClasses("1 1:1\n2 1:1\n").status().message()),
            "a.txt:2: got label 2, want labels -1 and +1, or 0 and 1; for other labels say which "
            "is the positive class");
  EXPECT_EQ(std::string(TwoClasses("-1 1:1\n1 1:1\n0 1:1\n").status().message()).substr(0, 24),
            "a.txt:3: got label 0, wa");
  EXPECT_EQ(std::string(TwoClasses("1 1:1\n", 5).status().message()),
            "a.txt: got no record with label 5, want at least one of the positive class");
}

}  // namespace
}  // namespace epsledger::trainers
