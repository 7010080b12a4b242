#include "client/trainers/data/image_sets.h"

#include <zlib.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/trainers/data/data_source.h"
#include "tests/client/trainers/data/made_jpeg_pack.h"

namespace epsledger::trainers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FindImagesTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/find_images_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ + "/" + name, std::ios::binary) << bytes;
  }

  void WriteGzip(const std::string& name, const std::string& bytes) const {
    gzFile file = gzopen((directory_ + "/" + name).c_str(), "wb");
    ASSERT_NE(file, nullptr);
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }

  // `count` images of 2 x 2, every byte `pixel`, with the labels 0, 1, 2, ...
  static std::string IdxImages(int count, char pixel) {
    return std::string("\0\0\x08\x03\0\0\0", 7) + static_cast<char>(count) +
           std::string("\0\0\0\x02\0\0\0\x02", 8) +
           std::string(static_cast<size_t>(4 * count), pixel);
  }
  static std::string IdxLabels(int count) {
    std::string bytes = std::string("\0\0\x08\x01\0\0\0", 7) + static_cast<char>(count);
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i));
    return bytes;
  }

  std::string directory_;
};

TEST_F(FindImagesTest, ReadsTheFourFilesOfMnistGzippedOrNot) {
  WriteGzip("train-images-idx3-ubyte.gz", IdxImages(3, '\x33'));
  Write("train-labels-idx1-ubyte", IdxLabels(3));
  Write("t10k-images-idx3-ubyte", IdxImages(2, '\xff'));
  WriteGzip("t10k-labels-idx1-ubyte.gz", IdxLabels(2));
  const absl::StatusOr<LocatedImages> found = FindImages("mnist", directory_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->name, "mnist");
  EXPECT_EQ(found->class_count, 10);
  EXPECT_EQ(found->train.labels, (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(found->train.pixels.isApproxToConstant(0.2F));
  EXPECT_EQ(found->held_out.images.labels, (std::vector<int>{0, 1}));
  EXPECT_TRUE(found->held_out.images.pixels.isApproxToConstant(1.0F));
  EXPECT_THAT(found->description, HasSubstr("the content is NOT the known one"));
  EXPECT_THAT(found->description, HasSubstr("Trained on: its images of 1 x 2 x 2"));
}

TEST_F(FindImagesTest, WillNotEvaluateOnWhatItTrainsOn) {
  for (const char* part : {"train", "t10k"}) {
    Write(std::string(part) + "-images-idx3-ubyte", IdxImages(3, '\x33'));
    Write(std::string(part) + "-labels-idx1-ubyte", IdxLabels(3));
  }
  const absl::StatusOr<LocatedImages> found = FindImages("mnist", directory_);
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("want others to hold out"));
}

TEST_F(FindImagesTest, NamesTheFileThatIsNotThere) {
  Write("train-images-idx3-ubyte", IdxImages(3, '\x33'));
  const absl::StatusOr<LocatedImages> found = FindImages("mnist", directory_);
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(found.status().message(),
            directory_ + " has no train-labels-idx1-ubyte or train-labels-idx1-ubyte.gz");
  EXPECT_EQ(FindImages("mnist", "").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FindImagesTest, NamesTheKnownSetsForAnUnknownOne) {
  const absl::StatusOr<LocatedImages> found = FindImages("cifar10", directory_);
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(found.status().message(),
            "image set: got \"cifar10\", want one of mnist, cifar10-jpeg75, digits");
}

TEST_F(FindImagesTest, ReadsThePackAndSaysThatItIsLossy) {
  const std::vector<unsigned char> gray(32 * 32 * 3, 128);
  const std::string file = EncodeJpeg(32, 32, gray);
  Write("cifar10-jpeg75.pack", MakeJpegPack({{4, file}, {5, file}}, {{6, file}}));
  const absl::StatusOr<LocatedImages> found = FindImages("cifar10-jpeg75", directory_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->train.labels, (std::vector<int>{4, 5}));
  EXPECT_EQ(found->held_out.images.labels, (std::vector<int>{6}));
  EXPECT_NEAR(found->train.pixels.mean(), 128.0 / 255, 2.0 / 255);
  EXPECT_THAT(found->description, HasSubstr("results are not results on CIFAR-10"));
}

TEST_F(FindImagesTest, TakesEveryDigitOnceWithItsPixels) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += std::to_string(i) + " 1:" + std::to_string(i) + " 64:16\n";
  }
  Write("digits8x8.libsvm", text);
  const absl::StatusOr<LocatedImages> found = FindImages("digits", directory_);
  ASSERT_TRUE(found.ok()) << found.status();
  std::vector<int> labels;
  for (const LabeledImages* part : {&found->train, &found->held_out.images}) {
    for (size_t i = 0; i < part->labels.size(); ++i) {
      const auto column = part->pixels.col(static_cast<Eigen::Index>(i));
      const float first = static_cast<float>(part->labels[i]) / 16;
      EXPECT_FLOAT_EQ(column(0), first);
      EXPECT_FLOAT_EQ(column(63), 1.0F);
      EXPECT_FLOAT_EQ(column.sum(), 1.0F + first);
      labels.push_back(part->labels[i]);
    }
  }
  EXPECT_THAT(labels, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(FindImagesTest, RefusesDigitsOutsideTheirRanges) {
  Write("digits8x8.libsvm", "1 1:1\n10 1:1\n");
  EXPECT_THAT(std::string(FindImages("digits", directory_).status().message()),
              HasSubstr(":2: label: got 10, want a whole number in [0, 9]"));
  Write("digits8x8.libsvm", "1 1:1\n1 7:17\n");
  EXPECT_THAT(std::string(FindImages("digits", directory_).status().message()),
              HasSubstr(":2: pixel 7: got 17, want one in [0, 16]"));
}

std::array<int, 10> ClassCounts(const LabeledImages& images) {
  std::array<int, 10> counts{};
  for (const int label : images.labels) ++counts[static_cast<size_t>(label)];
  return counts;
}

// Mean of a channel's pixels.
double ChannelMean(const LabeledImages& images, Eigen::Index channel) {
  const Eigen::Index positions = images.height * images.width;
  return images.pixels.middleRows(channel * positions, positions).cast<double>().mean();
}

TEST(KnownImages, MnistIsTheOneThatEveryoneUses) {
  const absl::StatusOr<LocatedImages> found =
      FindImages("mnist", DataPlaces::FromEnvironment().data_directory);
  if (!found.ok()) GTEST_SKIP() << found.status();
  EXPECT_THAT(found->description, HasSubstr("has the known SHA-256"));
  EXPECT_THAT(ClassCounts(found->train),
              ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
  EXPECT_THAT(ClassCounts(found->held_out.images),
              ElementsAre(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009));
  // The mean that every tutorial normalizes by.
  EXPECT_NEAR(ChannelMean(found->train, 0), 0.1307, 5e-5);
  EXPECT_EQ(found->train.labels.front(), 5);  // the first image is a famous 5
}

TEST(KnownImages, CifarHasItsClassesAndColors) {
  const absl::StatusOr<LocatedImages> found =
      FindImages("cifar10-jpeg75", DataPlaces::FromEnvironment().data_directory);
  if (!found.ok()) GTEST_SKIP() << found.status();
  EXPECT_THAT(found->description, HasSubstr("has the known SHA-256"));
  EXPECT_THAT(ClassCounts(found->train), testing::Each(5000));
  EXPECT_THAT(ClassCounts(found->held_out.images), testing::Each(1000));
  // The lossless set's means; the compression keeps them to a few thousandths.
  const std::array<double, 3> means = {0.4914, 0.4822, 0.4465};
  for (Eigen::Index channel = 0; channel < 3; ++channel) {
    EXPECT_NEAR(ChannelMean(found->train, channel), means[static_cast<size_t>(channel)], 3e-3);
  }
}

TEST(KnownImages, DigitsAreTheKnownOnes) {
  const absl::StatusOr<LocatedImages> found =
      FindImages("digits", DataPlaces::FromEnvironment().data_directory);
  if (!found.ok()) GTEST_SKIP() << found.status();
  EXPECT_THAT(found->description, HasSubstr("has the known SHA-256"));
  EXPECT_EQ(found->train.labels.size(), 1347U);
  EXPECT_EQ(found->held_out.images.labels.size(), 450U);
}

}  // namespace
}  // namespace epsledger::trainers
