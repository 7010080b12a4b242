#include "client/trainers/fsdp/image_records.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace epsledger::trainers::fsdp {
namespace {

using testing::HasSubstr;

constexpr int kSide = 28;

// Images as MNIST has them: a few strokes of gray.
std::vector<std::string> MadeImages(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> images;
  for (int i = 0; i < count; ++i) {
    std::string image(kSide * kSide, 0);
    const unsigned column = 10 + random() % 8;
    for (unsigned y = 5; y < 23; ++y) {
      for (unsigned x = 0; x < 3; ++x) {
        image[y * kSide + column + x + (y * (random() % 3)) / 20] =
            static_cast<char>(80 + random() % 170);
      }
    }
    images.push_back(image);
  }
  return images;
}

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

class ReadImagesTest : public testing::Test {
 protected:
  ReadImagesTest()
      : folder_(testing::TempDir() + "/image_records_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    request_ = {.name = "mnist",
                .data_directory = folder_,
                .deskew = true,
                .scattering = true,
                .view_count = 3};
    Write("t10k", MadeImages(4, 2));
  }

  void Write(const std::string& part, const std::vector<std::string>& images) const {
    const auto count = static_cast<uint32_t>(images.size());
    std::ofstream pixels(folder_ + "/" + part + "-images-idx3-ubyte", std::ios::binary);
    pixels << BigEndian(2051) << BigEndian(count) << BigEndian(kSide) << BigEndian(kSide);
    std::ofstream labels(folder_ + "/" + part + "-labels-idx1-ubyte", std::ios::binary);
    labels << BigEndian(2049) << BigEndian(count);
    for (size_t i = 0; i < images.size(); ++i) {
      pixels << images[i];
      labels << static_cast<char>(i % 10);
    }
  }

  ImageRecords ReadWith(const std::vector<std::string>& train) const {
    Write("train", train);
    absl::StatusOr<ImageRecords> records = ReadImages(request_);
    EXPECT_TRUE(records.ok()) << records.status();
    return *std::move(records);
  }

  std::string folder_;
  ImageRequest request_;
};

// All that happens to images before training, at once: deskewing, views, scattering.
TEST_F(ReadImagesTest, WhatTrainingReadsOfARecordDependsOnItAlone) {
  const std::vector<std::string> images = MadeImages(6, 1);
  const ImageRecords all = ReadWith(images);
  ASSERT_EQ(all.train.view_count(), 3);
  for (const size_t left_out : {0, 3, 5}) {
    std::vector<std::string> others = images;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const ImageRecords without = ReadWith(others);
    ASSERT_EQ(without.train.inputs.cols(), 5);
    for (Eigen::Index i = 0; i < 5; ++i) {
      const Eigen::Index place = i < static_cast<Eigen::Index>(left_out) ? i : i + 1;
      EXPECT_EQ(without.train.inputs.col(i), all.train.inputs.col(place));
      for (size_t view = 0; view < 2; ++view) {
        EXPECT_EQ(without.train.more_views[view].col(i), all.train.more_views[view].col(place));
      }
    }
    EXPECT_EQ(without.held_out.records.inputs, all.held_out.records.inputs);
  }
}

TEST_F(ReadImagesTest, ViewsAreOfTrainingRecordsAndDiffer) {
  const ImageRecords records = ReadWith(MadeImages(6, 1));
  EXPECT_TRUE(records.held_out.records.more_views.empty());
  ASSERT_EQ(records.train.more_views.size(), 2U);
  for (Eigen::Index i = 0; i < 6; ++i) {
    EXPECT_NE(records.train.more_views[0].col(i), records.train.inputs.col(i));
    EXPECT_NE(records.train.more_views[0].col(i), records.train.more_views[1].col(i));
    EXPECT_LE(records.train.more_views[0].col(i).norm(), 1 + 1e-5F);
  }
}

TEST_F(ReadImagesTest, TheCacheKeepsViewsApart) {
  request_.feature_cache = folder_ + "/cache";
  const ImageRecords first = ReadWith(MadeImages(6, 1));
  const ImageRecords again = ReadWith(MadeImages(6, 1));
  EXPECT_EQ(again.train.inputs, first.train.inputs);
  EXPECT_EQ(again.train.more_views[0], first.train.more_views[0]);
  EXPECT_EQ(again.train.more_views[1], first.train.more_views[1]);
  // Three views of the records, one of those held out.
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(request_.feature_cache)) {
    files += file.exists();
  }
  EXPECT_EQ(files, 4);
}

TEST_F(ReadImagesTest, ABasisIsNotMadeFromWhatMayBePrivate) {
  request_.public_directions = 3;
  Write("train", MadeImages(6, 1));
  std::ofstream(folder_ + "/digits8x8.libsvm") << "1 1:3 2:5\n2 4:16\n3 9:1\n4 2:2\n5 7:7\n";
  const absl::Status status = ReadImages(request_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("is NOT the known one"));
  request_.scattering = false;
  EXPECT_EQ(ReadImages(request_).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ReadImagesTest, ABasisIsOfPublicDigitsAlone) {
  const char* const variable = std::getenv("EPSLEDGER_DATA_DIR");
  const std::string data = variable == nullptr ? "" : variable;
  std::string digits = data + "/digits8x8.libsvm";
  if (!std::filesystem::exists(digits)) digits += ".gz";
  if (data.empty() || !std::filesystem::exists(digits)) {
    GTEST_SKIP() << "no digits8x8.libsvm: set EPSLEDGER_DATA_DIR";
  }
  std::filesystem::copy(digits, folder_ + "/" + std::filesystem::path(digits).filename().string());
  request_.public_directions = 5;
  request_.view_count = 2;
  request_.feature_cache = folder_ + "/cache";
  const std::vector<std::string> images = MadeImages(6, 1);
  const ImageRecords all = ReadWith(images);
  ASSERT_TRUE(all.basis.has_value());
  EXPECT_EQ(all.shape.size(), 5);
  ASSERT_EQ(all.train.inputs.rows(), 5);
  ASSERT_EQ(all.held_out.records.inputs.rows(), 5);
  const ImageRecords without = ReadWith({images.begin() + 1, images.end()});
  EXPECT_EQ(without.basis->directions, all.basis->directions);
  EXPECT_EQ(without.basis->mean, all.basis->mean);
  EXPECT_EQ(without.train.inputs, all.train.inputs.rightCols(5));
  EXPECT_EQ(without.train.more_views[0], all.train.more_views[0].rightCols(5));
  request_.public_directions = 1797;
  EXPECT_EQ(ReadImages(request_).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
