#include "client/trainers/scattering/feature_cache.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/client/trainers/scattering/slow_scattering.h"

namespace epsledger::trainers::scattering {
namespace {

std::string EmptyFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "/feature_cache_" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

int FileCount(const std::string& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
  return count;
}

TEST(CachedFeatures, AreTheSameFromTheFileAndFromTheImages) {
  const std::string folder = EmptyFolder("same");
  const LabeledImages images = NoiseImages(3, 1, 8, 1);
  const Eigen::MatrixXf want = *Features(images, Options{});
  EXPECT_EQ(*CachedFeatures(images, Options{}, folder), want);
  EXPECT_EQ(FileCount(folder), 1);
  EXPECT_EQ(*CachedFeatures(images, Options{}, folder), want);
  EXPECT_EQ(*CachedFeatures(images, {.thread_count = 1}, folder), want);
  EXPECT_EQ(FileCount(folder), 1);
  EXPECT_EQ(*CachedFeatures(images, Options{}, ""), want);
}

TEST(CachedFeatures, ComeFromTheFileIfItIsWhole) {
  const std::string folder = EmptyFolder("whole");
  const LabeledImages images = NoiseImages(3, 1, 8, 1);
  const LabeledImages others = NoiseImages(3, 1, 8, 2);
  const Eigen::MatrixXf other_features = *CachedFeatures(others, Options{}, folder);
  // Under this name lies a whole file of other images: what comes back shows that it was read.
  const std::string path = folder + "/" + CacheFileName(images, Options{});
  std::filesystem::rename(folder + "/" + CacheFileName(others, Options{}), path);
  EXPECT_EQ(*CachedFeatures(images, Options{}, folder), other_features);

  // One changed byte, or a missing one: computed again, and the file is mended.
  const auto size = std::filesystem::file_size(path);
  for (const bool cut : {false, true}) {
    if (cut) {
      std::filesystem::resize_file(path, size - 1);
    } else {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(size) - 3);
      file.put('?');
    }
    EXPECT_EQ(*CachedFeatures(images, Options{}, folder), *Features(images, Options{}));
    EXPECT_EQ(std::filesystem::file_size(path), size);
  }
}

TEST(CacheFileName, ChangesWithEveryThingThatChangesTheFeatures) {
  const LabeledImages images = NoiseImages(2, 1, 8, 1);
  const std::string name = CacheFileName(images, Options{});
  EXPECT_EQ(CacheFileName(images, {.thread_count = 5}), name);
  LabeledImages changed = images;
  changed.pixels(63, 1) += 0.01F;
  EXPECT_NE(CacheFileName(changed, Options{}), name);
  EXPECT_NE(CacheFileName(images, {.group_count = 9}), name);
  EXPECT_NE(CacheFileName(images, {.variance_offset = 1e-9 * (1 + 1e-15)}), name);
  LabeledImages reshaped = images;
  reshaped.channels = 4;
  reshaped.height = reshaped.width = 4;
  EXPECT_NE(CacheFileName(reshaped, Options{}), name);
}

TEST(CachedFeatures, SayWhereTheyCannotWrite) {
  const std::string folder = EmptyFolder("file");
  std::ofstream(folder) << "not a folder";
  const auto features = CachedFeatures(NoiseImages(1, 1, 8, 1), Options{}, folder);
  EXPECT_EQ(features.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace epsledger::trainers::scattering
