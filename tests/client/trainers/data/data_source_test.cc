#include "client/trainers/data/data_source.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/trainers/data/content_hash.h"
#include "client/trainers/data/known_data.h"

namespace epsledger::trainers {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Three directories of its own and a download that never leaves the process.
class FindDataTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string root = testing::TempDir() + "/find_data_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root);
    places_.data_directory = root + "/data";
    places_.cache_directory = root + "/cache";
    places_.package_directory = root + "/package";
    std::filesystem::create_directories(places_.data_directory);
    std::filesystem::create_directories(places_.package_directory);
    places_.download = [this](const std::string& url, const std::string& destination) {
      urls_.push_back(url);
      if (body_.empty()) return absl::UnavailableError("curl exited with 6");
      std::ofstream(destination) << body_;
      return absl::OkStatus();
    };
  }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  // A table like scikit-learn's: record i has i in its first column.
  static std::string WdbcTable(int records) {
    std::string text = std::to_string(records) + ",30,malignant,benign\n";
    for (int record = 0; record < records; ++record) {
      text += std::to_string(record);
      for (int column = 1; column < 30; ++column) text += ",1";
      text += record % 2 == 0 ? ",0\n" : ",1\n";
    }
    return text;
  }

  absl::StatusOr<LocatedData> FindName(const std::string& name) {
    DataRequest request;
    request.name = name;
    return FindData(request, places_);
  }

  DataPlaces places_;
  std::vector<std::string> urls_;
  std::string body_;
};

TEST_F(FindDataTest, TakesTheDataDirectoryBeforeEverythingElse) {
  Write(places_.data_directory + "/a9a", "+1 1:1\n-1 2:1\n");
  Write(places_.data_directory + "/a9a.t", "-1 3:1\n");
  Write(places_.package_directory + "/breast_cancer.csv", WdbcTable(8));
  const absl::StatusOr<LocatedData> data = FindName("a9a");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->name, "a9a");
  EXPECT_EQ(data->train.labels.size(), 2);
  EXPECT_EQ(data->held_out.rows.labels.size(), 1);
  EXPECT_EQ(data->train.features.cols(), 123);
  EXPECT_EQ(data->held_out.rows.features.cols(), 123);
  EXPECT_THAT(data->description, HasSubstr("its content is NOT the known one"));
  EXPECT_THAT(data->description, HasSubstr("Held out for evaluation: the 1 records of"));
  EXPECT_TRUE(urls_.empty());
}

// One record less moves no other record to the other part.
TEST_F(FindDataTest, WithoutATestFileARecordOfUnknownContentDecidesForItselfWhereItIs) {
  std::vector<std::string> lines;
  for (int record = 0; record < 400; ++record) {
    lines.push_back((record % 2 == 0 ? "+1 1:" : "-1 1:") + std::to_string(record + 1) + "\n");
  }
  const auto parts = [&] {
    std::string text;
    for (const std::string& line : lines) text += line;
    Write(places_.data_directory + "/a9a", text);
    const absl::StatusOr<LocatedData> data = FindName("a9a");
    EXPECT_TRUE(data.ok()) << data.status();
    EXPECT_THAT(data->description, HasSubstr("they have no guarantee"));
    EXPECT_THAT(data->description, HasSubstr("Trained on: its records of 123 features"));
    std::map<double, bool> is_trained;
    for (int row = 0; row < data->train.features.rows(); ++row) {
      EXPECT_TRUE(is_trained.emplace(data->train.features.coeff(row, 0), true).second);
    }
    for (int row = 0; row < data->held_out.rows.features.rows(); ++row) {
      EXPECT_TRUE(is_trained.emplace(data->held_out.rows.features.coeff(row, 0), false).second);
    }
    return is_trained;
  };
  std::map<double, bool> all = parts();
  EXPECT_EQ(all.size(), 400u);
  const auto trained =
      std::count_if(all.begin(), all.end(), [](auto& part) { return part.second; });
  EXPECT_NEAR(static_cast<double>(trained), 300, 50);
  lines.erase(lines.begin() + 1);
  all.erase(2);
  EXPECT_EQ(parts(), all);
}

TEST_F(FindDataTest, AFileThatCannotBeReadIsAnErrorAndNotAReasonToLookFurther) {
  Write(places_.data_directory + "/a9a", "+1 1:1\n+1 200:1\n");
  Write(places_.package_directory + "/breast_cancer.csv", WdbcTable(8));
  const absl::Status status = FindName("a9a").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a9a:2: got index \"200\", want one in [1, 123]"));
  EXPECT_TRUE(urls_.empty());
}

TEST_F(FindDataTest, DownloadsBeforeItTakesAPackage) {
  Write(places_.package_directory + "/breast_cancer.csv", WdbcTable(8));
  const absl::StatusOr<LocatedData> data = FindName("a9a");
  EXPECT_THAT(urls_, testing::ElementsAre(
                         "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/a9a"));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->name, "wdbc");
  EXPECT_THAT(data->description, StartsWith("This is NOT a9a but another, much smaller data set"));
  EXPECT_THAT(data->description, HasSubstr("curl exited with 6"));
}

TEST_F(FindDataTest, ADownloadWithOtherContentIsNotUsedAndNotKept) {
  body_ = "+1 1:1\n-1 2:1\n";
  const absl::Status status = FindName("german").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the content does not have the known SHA-256"));
  EXPECT_TRUE(std::filesystem::is_empty(places_.cache_directory));
}

TEST_F(FindDataTest, AnInterruptedDownloadIsNotKept) {
  body_ = "+1 1:1\n-1 2";
  EXPECT_EQ(FindName("german").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(places_.cache_directory));
}

TEST_F(FindDataTest, ACachedFileOfOtherContentIsNotUsed) {
  std::filesystem::create_directories(places_.cache_directory);
  Write(places_.cache_directory + "/german.numer_scale", "+1 1:1\n-1 2:1\n");
  EXPECT_EQ(FindName("german").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(urls_.size(), 1u);
}

TEST_F(FindDataTest, SaysWhatHappenedAtEveryPlace) {
  const std::string message(FindName("a9a").status().message());
  EXPECT_THAT(message, HasSubstr("a9a could not be had"));
  EXPECT_THAT(message, HasSubstr("has no a9a or a9a.gz"));
  EXPECT_THAT(message, HasSubstr("binary/a9a failed: curl exited with 6"));
  EXPECT_THAT(message, HasSubstr("python3-sklearn is not installed"));
  places_.data_directory.clear();
  EXPECT_THAT(std::string(FindName("wdbc").status().message()),
              HasSubstr("EPSLEDGER_DATA_DIR is not set; it has no origin"));
}

TEST_F(FindDataTest, ScalesTheRawTableToTheUnitCubeAndMakesMalignantClassOne) {
  Write(places_.package_directory + "/breast_cancer.csv", WdbcTable(9));
  const absl::StatusOr<LocatedData> data = FindName("breast-cancer");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->name, "wdbc");
  // From -1 to 1 in the first column, 0 where all values are equal; malignant is 1.
  std::map<double, double> labels;
  for (const LabeledRows* part : {&data->train, &data->held_out.rows}) {
    for (int row = 0; row < part->labels.size(); ++row) {
      labels[part->features.coeff(row, 0)] = part->labels[row];
      EXPECT_EQ(part->features.coeff(row, 1), 0);
    }
  }
  EXPECT_EQ(
      labels,
      (std::map<double, double>{
          {-1, 1}, {-.75, 0}, {-.5, 1}, {-.25, 0}, {0, 1}, {.25, 0}, {.5, 1}, {.75, 0}, {1, 1}}));
  EXPECT_THAT(data->description,
              HasSubstr("ranges of the whole sample, which are treated as public"));
  EXPECT_THAT(data->description, HasSubstr("Debian package python3-sklearn"));
}

TEST_F(FindDataTest, DividesDigitsByTheRangeOfTheirFormat) {
  std::string text;
  for (const char* label : {"8", "3", "8", "1", "0"}) {
    for (int column = 0; column < 64; ++column) text += column == 5 ? "16," : "0,";
    text += std::string(label) + "\n";
  }
  Write(places_.package_directory + "/digits.csv.gz", text);
  DataRequest request;
  request.name = "digits";
  const auto positives = [&] {
    const absl::StatusOr<LocatedData> data = FindData(request, places_);
    EXPECT_TRUE(data.ok()) << data.status();
    for (const LabeledRows* part : {&data->train, &data->held_out.rows}) {
      for (int row = 0; row < part->labels.size(); ++row) {
        EXPECT_EQ(part->features.coeff(row, 5), 1);
      }
    }
    return std::pair(data->train.labels.sum() + data->held_out.rows.labels.sum(),
                     data->description);
  };
  EXPECT_EQ(positives().first, 2);
  EXPECT_THAT(positives().second, HasSubstr("Class 1 is label 8"));
  request.positive_class = 3;
  EXPECT_EQ(positives().first, 1);
}

TEST_F(FindDataTest, APathComesWithItsTestFileAndItsFeatures) {
  const std::string train = places_.data_directory + "/mine";
  const std::string test = places_.data_directory + "/mine.t";
  Write(train, "1 1:1\n0 2:1 9:1\n");
  Write(test, "0 5:1\n");
  DataRequest request;
  request.path = train;
  request.feature_count = 5;
  EXPECT_THAT(std::string(FindData(request, places_).status().message()),
              HasSubstr("DataRequest.test_path: not given"));
  request.test_path = test;
  const absl::StatusOr<LocatedData> data = FindData(request, places_);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train.labels.size(), 2);
  // Whether a record has a feature above does not show.
  EXPECT_EQ(data->train.features.cols(), 5);
  EXPECT_EQ(data->train.features.nonZeros(), 2);
  EXPECT_EQ(data->held_out.rows.features.cols(), 5);
  EXPECT_EQ(data->held_out.rows.features.coeff(0, 4), 1);
  EXPECT_THAT(data->description, HasSubstr("Trained on: its records of 5 features"));
  request.feature_count = 0;
  EXPECT_THAT(std::string(FindData(request, places_).status().message()),
              HasSubstr("DataRequest.feature_count: got 0, want a PUBLIC one"));
  request.feature_count = 7;
  const absl::StatusOr<LocatedData> wider = FindData(request, places_);
  ASSERT_TRUE(wider.ok()) << wider.status();
  EXPECT_EQ(wider->train.features.cols(), 7);
  request.test_path = train;
  EXPECT_THAT(std::string(FindData(request, places_).status().message()),
              HasSubstr("want others to hold out"));
}

TEST_F(FindDataTest, RefusesARequestThatIsNotOne) {
  DataRequest request;
  EXPECT_EQ(FindData(request, places_).status().code(), absl::StatusCode::kInvalidArgument);
  request.name = "a9a";
  request.path = "x";
  EXPECT_EQ(FindData(request, places_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(FindName("adult").status().message()),
            "DataRequest.name: got \"adult\", want one of a9a, wdbc, digits, german, w8a");
}

TEST(ParseDataArgument, IsANameIfItIsKnownAndElseAPath) {
  EXPECT_EQ(ParseDataArgument("a9a")->name, "a9a");
  EXPECT_EQ(ParseDataArgument("breast-cancer")->name, "breast-cancer");
  const std::string path = testing::TempDir() + "/a9a";
  ASSERT_TRUE(std::ofstream(path) << "+1 1:1\n");
  EXPECT_EQ(ParseDataArgument(path)->path, path);
}

TEST(ParseDataArgument, ANameThatIsMisspeltIsNoPath) {
  for (const std::string misspelt : {"a9", "./a9a", "a9a.gz"}) {
    const absl::StatusOr<DataRequest> request = ParseDataArgument(misspelt);
    EXPECT_EQ(request.status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(request.status().message(),
              "--data: got \"" + misspelt +
                  "\", want a file that is there or one of a9a, wdbc, digits, german, w8a");
  }
}

TEST(KnownData, HasAFullHashForEveryFile) {
  for (const KnownData& known : AllKnownData()) {
    EXPECT_EQ(known.train.content_sha256.size(), 64u) << known.name;
    if (known.test.has_value()) {
      EXPECT_EQ(known.test->content_sha256.size(), 64u) << known.name;
    }
  }
}

std::string RealDataDirectory() {
  const char* const variable = std::getenv("EPSLEDGER_DATA_DIR");
  return variable != nullptr ? variable : std::string(EPSLEDGER_SOURCE_DIR) + "/../shared/data";
}

TEST_F(FindDataTest, ADownloadOfTheKnownContentIsUsedAndKept) {
  const std::string origin = RealDataDirectory() + "/german.numer_scale.gz";
  if (!std::filesystem::exists(origin)) {
    GTEST_SKIP() << "no german.numer_scale.gz: set EPSLEDGER_DATA_DIR";
  }
  int downloads = 0;
  places_.download = [&](const std::string&, const std::string& destination) {
    ++downloads;
    std::filesystem::copy_file(origin, destination);
    return absl::OkStatus();
  };
  for (int repeat = 0; repeat < 2; ++repeat) {
    const absl::StatusOr<LocatedData> data = FindName("german");
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->train.labels.size(), 750);
    EXPECT_THAT(data->description, HasSubstr("its content has the known SHA-256"));
  }
  EXPECT_EQ(downloads, 1);  // the second time it comes from the cache
}

// The real files, where they are at hand: the hashes in the table are those of these copies.
TEST(KnownData, HasTheHashesOfTheRealFiles) {
  DataPlaces places;
  places.data_directory = RealDataDirectory();
  struct Sizes {
    std::string name;
    int train, held_out, features;
  };
  int found = 0;
  for (const Sizes& want : {Sizes{"a9a", 32561, 16281, 123}, Sizes{"wdbc", 426, 143, 30},
                            Sizes{"digits", 1347, 450, 64}, Sizes{"german", 750, 250, 24},
                            Sizes{"w8a", 37311, 12438, 300}}) {
    DataRequest request;
    request.name = want.name;
    const absl::StatusOr<LocatedData> data = FindData(request, places);
    if (absl::IsNotFound(data.status())) continue;
    ++found;
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->train.labels.size(), want.train) << want.name;
    EXPECT_EQ(data->held_out.rows.labels.size(), want.held_out) << want.name;
    EXPECT_EQ(data->train.features.cols(), want.features) << want.name;
    EXPECT_THAT(data->description, HasSubstr("its content has the known SHA-256"));
    EXPECT_THAT(data->description, Not(HasSubstr("NOT")));
  }
  if (found == 0) GTEST_SKIP() << "no data sets: set EPSLEDGER_DATA_DIR";
}

}  // namespace
}  // namespace epsledger::trainers
