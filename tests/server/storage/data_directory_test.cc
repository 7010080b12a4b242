#include "server/storage/data_directory.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger::storage {
namespace {

class DataDirectory : public ::testing::Test {
 protected:
  absl::Status Make(const std::string& path) {
    return MakeDataDirectory(path, [this](const std::string& directory) {
      synced_.push_back(directory);
      return SyncDirectory(directory);
    });
  }

  const ScratchFolder folder_;
  const std::string root_ = folder_.path();
  std::vector<std::string> synced_;
};

TEST_F(DataDirectory, EveryNewNameIsMadeDurableInTheDirectoryAboveIt) {
  ASSERT_TRUE(Make(root_ + "/a/b/data").ok());
  EXPECT_EQ(synced_, (std::vector<std::string>{root_, root_ + "/a", root_ + "/a/b"}));
  EXPECT_EQ(std::filesystem::status(root_ + "/a/b/data").permissions(),
            std::filesystem::perms::owner_all);
}

TEST_F(DataDirectory, ASlashAtTheEndAndDotsAreNoNames) {
  ASSERT_TRUE(Make(root_ + "/./data//").ok());
  EXPECT_EQ(synced_, (std::vector<std::string>{root_}));
}

TEST_F(DataDirectory, WhatIsThereIsLeftAsItIs) {
  std::filesystem::create_directory(root_ + "/data");
  const auto before = std::filesystem::status(root_ + "/data").permissions();
  ASSERT_TRUE(Make(root_ + "/data").ok());
  EXPECT_TRUE(synced_.empty());
  EXPECT_EQ(std::filesystem::status(root_ + "/data").permissions(), before);
}

TEST_F(DataDirectory, AProcessThatIsNotGoneYetIsWaitedFor) {
  std::optional<FolderLock> first = *FolderLock::Hold(root_);
  absl::Notification begun;
  absl::Status second;
  std::thread next([&] {
    begun.Notify();
    second = FolderLock::Hold(root_).status();
  });
  begun.WaitForNotification();
  first.reset();
  next.join();
  EXPECT_TRUE(second.ok()) << second;
}

TEST_F(DataDirectory, AProcessThatStaysIsNamed) {
  const FolderLock first = *FolderLock::Hold(root_);
  EXPECT_EQ(FolderLock::Hold(root_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DataDirectory, WhatCannotBeMadeOrSyncedIsAnError) {
  std::ofstream(root_ + "/file") << "x";
  EXPECT_EQ(Make(root_ + "/file/data").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(SyncDirectory(root_ + "/none").code(), absl::StatusCode::kUnavailable);
  const auto fails = [](const std::string&) { return absl::UnavailableError("disk"); };
  EXPECT_FALSE(MakeDataDirectory(root_ + "/data", fails).ok());
}

}  // namespace
}  // namespace epsledger::storage
