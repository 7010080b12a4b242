#include "client/trainers/data/content_hash.h"

#include "gtest/gtest.h"

namespace epsledger::trainers {
namespace {

std::string HashOf(const std::string& text) { return ContentSha256(*ParseLibsvm(text, "f")); }

TEST(ContentSha256, IsTheHashOfTheCanonicalText) {
  const ParsedRecords records = *ParseLibsvm("+1 1:0.50 3:1e2 \r\n-1\n", "f");
  EXPECT_EQ(CanonicalText(records), "1 1:0.5 3:100\n-1\n");
  // printf '1 1:0.5 3:100\n-1\n' | sha256sum
  EXPECT_EQ(ContentSha256(records),
            "0269a00721b3f550577c9531ecea908735937de4c40765e58b72fe335277ae1a");
}

TEST(ContentSha256, IgnoresHowTheRecordsAreWritten) {
  const std::string want = HashOf("1 1:0.5 3:1\n-1 2:1\n");
  EXPECT_EQ(HashOf("+1  1:5e-1\t3:1.0 \r\n-1.0 2:1 5:0"), want);
  EXPECT_EQ(HashOf("1 1:0.5 2:-0 3:1\n-1 2:1\n"), want);
}

TEST(ContentSha256, SeesEveryChangeOfContent) {
  const std::string want = HashOf("1 1:0.5 3:1\n-1 2:1\n");
  for (const char* other :
       {"1 1:0.5 3:1\n", "-1 2:1\n1 1:0.5 3:1\n", "1 1:0.5 3:1\n-1 2:1\n-1 2:1\n",
        "1 1:0.5 3:1\n1 2:1\n", "1 1:0.5 4:1\n-1 2:1\n", "1 1:0.5000000000000001 3:1\n-1 2:1\n",
        "1 1:0.5 3:1 4:1\n-1 2:1\n"}) {
    EXPECT_NE(HashOf(other), want) << other;
  }
}

}  // namespace
}  // namespace epsledger::trainers
