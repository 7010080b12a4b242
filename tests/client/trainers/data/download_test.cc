#include "client/trainers/data/download.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <string>

namespace epsledger::trainers {
namespace {

// Sets PATH for one test; nothing here reaches a network.
class DownloadTest : public testing::Test {
 protected:
  void SetUp() override { path_ = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"); }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }

 private:
  std::string path_;
};

TEST_F(DownloadTest, TakesHttpsOnly) {
  for (const char* url : {"http://example.org/a", "file:///etc/hostname", "", "-o/tmp/x"}) {
    EXPECT_EQ(Download(url, testing::TempDir() + "/never").code(),
              absl::StatusCode::kInvalidArgument)
        << url;
  }
}

TEST_F(DownloadTest, SaysThatNoProgramIsInstalled) {
  setenv("PATH", "/nonexistent", 1);
  EXPECT_EQ(Download("https://localhost:1/a", testing::TempDir() + "/never"),
            absl::NotFoundError("neither curl nor wget is installed"));
}

TEST_F(DownloadTest, AConnectionThatIsRefusedIsUnavailable) {
  // Port 1 of this machine: refused at once.
  const absl::Status status = Download("https://localhost:1/a", testing::TempDir() + "/never");
  if (absl::IsNotFound(status)) GTEST_SKIP() << status;
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

}  // namespace
}  // namespace epsledger::trainers
