#include "accounting/event/printable.h"

#include <string>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

std::string Utf8(uint32_t code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  if (code < 0x800) {
    return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  }
  if (code < 0x10000) {
    return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
  }
  return {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3F)),
          static_cast<char>(0x80 | (code >> 6 & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
}

// Every character of Unicode: controls are those of categories Cc, Zl, Zp and of Bidi_Control but
// for the marks U+061C, U+200E and U+200F, which only say how a word beside them is read.
TEST(Printable, IsEveryCharacterButControls) {
  int controls = 0;
  for (uint32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const std::string text = "a" + Utf8(code) + "b";
    if (IsPrintable(text)) {
      EXPECT_EQ(Printable(text), text);
      if (code != '"' && code != '\\' && code != '\'') {
        EXPECT_EQ(Escaped(text), text);
      }
      continue;
    }
    ++controls;
    EXPECT_EQ(Printable(text), "a?b") << code;
    const std::string escaped = Escaped(text);
    EXPECT_TRUE(IsPrintable(escaped)) << code;
    EXPECT_EQ(escaped.substr(0, 2), "a\\") << code;
  }
  EXPECT_EQ(controls, 65 + 2 + 5 + 4);
  for (const uint32_t code : {0x1Bu, 0x7Fu, 0x85u, 0x9Bu, 0x2028u, 0x202Eu, 0x2066u, 0x2069u}) {
    EXPECT_FALSE(IsPrintable(Utf8(code))) << code;
  }
}

TEST(Printable, SaysWhichControl) {
  EXPECT_EQ(Escaped("a\x1b[2J\n\xc2\x9b\xe2\x80\xae\"\\\xc3\xa4"),
            "a\\033[2J\\n\\u009b\\u202e\\\"\\\\\xc3\xa4");
}

TEST(Printable, QuotedTextCannotEndItsQuotes) {
  EXPECT_EQ(Quoted("a\" by \"b\n"), R"("a\" by \"b\n")");
  EXPECT_EQ(Quoted(""), R"("")");
}

TEST(Printable, TakesBytesThatAreNoText) {
  EXPECT_FALSE(IsPrintable("a\x9b"));
  EXPECT_TRUE(IsPrintable("a\xe2"));
  EXPECT_EQ(Printable("\xff\xe2\x28\xa1\xc2"), "\xff\xe2\x28\xa1\xc2");
  EXPECT_EQ(Printable(""), "");
}

}  // namespace
}  // namespace epsledger::accounting
