#include "server/transport/grpc/converters/page_token.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace epsledger::transport {
namespace {

TEST(PageToken, ComesBackForItsListOnly) {
  const std::string token = MakePageToken("budgets/b/sessions", "s17");
  EXPECT_EQ(*ReadPageToken("budgets/b/sessions", token), "s17");
  EXPECT_EQ(ReadPageToken("budgets/c/sessions", token).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(*ReadPageToken("budgets", ""), "");
}

TEST(PageToken, AChangedOneIsRefused) {
  const std::string token = MakePageToken("budgets", "adult");
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(ReadPageToken("budgets", changed).ok()) << i;
    EXPECT_FALSE(ReadPageToken("budgets", token.substr(0, i + 1 == token.size() ? 1 : i + 1)).ok());
  }
  EXPECT_FALSE(ReadPageToken("budgets", token + "=").ok());
  EXPECT_FALSE(ReadPageToken("budgets", std::string(1 << 16, 'A')).ok());
}

RC_GTEST_PROP(PageToken, AnyTextIsRefusedOrComesBack, (const std::string& text)) {
  if (!text.empty() && text.size() <= 150) {
    RC_ASSERT(*ReadPageToken("x", MakePageToken("x", text)) == text);
  }
  const auto after = ReadPageToken("budgets", text);
  RC_ASSERT(text.empty() || !after.ok());
}

TEST(PageSize, HasADefaultAndEnds) {
  EXPECT_EQ(*ReadPageSize(0), 50);
  EXPECT_EQ(*ReadPageSize(1000), 1000);
  EXPECT_EQ(std::string(ReadPageSize(-1).status().message()),
            "pageSize: got -1, want in [0, 1000]");
  EXPECT_FALSE(ReadPageSize(1001).ok());
}

}  // namespace
}  // namespace epsledger::transport
