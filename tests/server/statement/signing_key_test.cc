#include "server/statement/signing_key.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger::statement {
namespace {

using ::testing::HasSubstr;

TEST(SigningKey, IsMadeOnceForItsOwnerAlone) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/statement.key";
  const absl::StatusOr<SigningKey> made = SigningKey::LoadOrCreate(path);
  ASSERT_TRUE(made.ok()) << made.status();
  struct stat about {};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  const absl::StatusOr<SigningKey> loaded = SigningKey::LoadOrCreate(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->public_key(), made->public_key());
  EXPECT_EQ(loaded->public_key().size(), 32u);
  // Ed25519 is deterministic: the same key signs the same.
  EXPECT_EQ(*loaded->Sign("text"), *made->Sign("text"));
  EXPECT_NE(*loaded->Sign("text"), *made->Sign("texs"));
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// Servers of one ledger start together on one folder.
TEST(SigningKey, ThatManyMakeAtOnceIsOne) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/statement.key";
  constexpr int kServers = 16;
  std::vector<std::future<std::string>> keys;
  std::promise<void> go;
  const std::shared_future<void> started = go.get_future().share();
  for (int i = 0; i < kServers; ++i) {
    keys.push_back(std::async(std::launch::async, [&] {
      started.wait();
      const absl::StatusOr<SigningKey> key = SigningKey::LoadOrCreate(path);
      return key.ok() ? key->public_key() : key.status().ToString();
    }));
  }
  go.set_value();
  const std::string want = keys.front().get();
  EXPECT_EQ(want.size(), 32u) << want;
  for (size_t i = 1; i < keys.size(); ++i) EXPECT_EQ(keys[i].get(), want);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(SigningKey, IsRefusedIfOthersMayReadOrWriteIt) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/statement.key";
  ASSERT_TRUE(SigningKey::LoadOrCreate(path).ok());
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0660, 0666, 0610}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const absl::Status status = SigningKey::LoadOrCreate(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << mode;
    EXPECT_THAT(std::string(status.message()), HasSubstr("want mode 0600"));
  }
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  EXPECT_TRUE(SigningKey::LoadOrCreate(path).ok());
}

TEST(SigningKey, IsRefusedIfTheFileHoldsNone) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/statement.key";
  for (const char* text : {"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
    std::ofstream(path) << text;
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    EXPECT_EQ(SigningKey::LoadOrCreate(path).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
}

TEST(SigningKey, CannotBeMadeWhereThereIsNoFolder) {
  const ScratchFolder folder;
  EXPECT_EQ(SigningKey::LoadOrCreate(folder.path() + "/none/statement.key").status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace epsledger::statement
