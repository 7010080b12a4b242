#include "server/access/distinct_name.h"

#include "gtest/gtest.h"

#include <string>

namespace epsledger::access {
namespace {

TEST(DistinctName, IsWhatPeopleAreCalled) {
  for (const char* name : {"ada", "Ada Lovelace", "ada@example.org", "\u00e9va", "\u5f20\u4f1f",
                           "o'neil", "a-b_c.d", "auth0|5f7c8ec7"}) {
    EXPECT_TRUE(IsDistinctName(name)) << name;
  }
}

TEST(DistinctName, HasNothingThatCannotBeSeen) {
  for (const char* name : {"", " ", " ada", "ada ", "ada  l", "a\nda", "a\u200bda", "ad\u00ada",
                           "ada\u0301", "\ufeffada", "a\u2060da", "a\u202eda", "ada\u20dd"}) {
    EXPECT_FALSE(IsDistinctName(name)) << name;
  }
}

}  // namespace
}  // namespace epsledger::access
