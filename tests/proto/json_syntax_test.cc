#include "proto/json_syntax/json_syntax.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace epsledger::json_syntax {
namespace {

using ::testing::HasSubstr;

TEST(JsonSyntax, TakesOneObject) {
  for (const char* text :
       {"{}", " { } ", R"({"a":1})", R"({"a":-0.5e+7,"b":[],"c":[1,{"a":null}],"d":true})",
        R"({"a":"\u00e9\n\"\\"})", "{\"a\":\"\xce\xb5\xf0\x9f\x98\x80\"}",
        R"({"a":{"a":false},"b":{"a":0}})", R"({"\n":1,"\t":2,"\ud83d":3,"\u00e9":4})"}) {
    const absl::Status status = CheckObject(text, nullptr);
    EXPECT_TRUE(status.ok()) << text << ": " << status;
  }
}

struct Wrong {
  std::string text;
  const char* want;
};

TEST(JsonSyntax, SaysWhereAndWhatItWants) {
  for (const Wrong& wrong : {
           Wrong{"", "column 1: want an object"},
           Wrong{"[]", "column 1: want an object"},
           Wrong{"{} {}", "column 4: want nothing after the object"},
           Wrong{"{", "want a key in double quotes"},
           Wrong{R"({"a":1)", "want ',' or '}'"},
           Wrong{R"({"a" 1})", "column 6: want ':' after a key"},
           Wrong{R"({"a":1,})", "want a key in double quotes"},
           Wrong{R"({"a":[1,]})", "want a value"},
           Wrong{R"({a:1})", "want a key in double quotes"},
           Wrong{R"({'a':1})", "want a key in double quotes"},
           Wrong{R"({"a":'x'})", "want a value"},
           Wrong{R"({"a":NaN})", "want a value"},
           Wrong{R"({"a":Infinity})", "want a value"},
           Wrong{R"({"a":+1})", "want a value"},
           Wrong{R"({"a":.5})", "want a value"},
           Wrong{R"({"a":1.})", "want a digit"},
           Wrong{R"({"a":1e})", "want a digit"},
           Wrong{R"({"a":01})", "want ',' or '}'"},
           Wrong{R"({"a":"x})", "want the end of a string"},
           Wrong{R"({"a":"\x"})", "want an escape of JSON"},
           Wrong{R"({"a":"\u12g4"})", "want four hex digits"},
           Wrong{"{\"a\":\"\t\"}", "want control characters escaped"},
           Wrong{"{\"a\":\"\xff\"}", "want valid UTF-8"},
           Wrong{"{\"a\":\"\xc0\x80\"}", "want valid UTF-8"},
           Wrong{"{\"a\":\"\xed\xa0\x80\"}", "want valid UTF-8"},
           Wrong{R"({"a":1,"a":2})", "the key \"a\" only once"},
           Wrong{R"({"noise_multiplier":1,"noiseMultiplier":2})", "only once"},
           Wrong{R"({"exp":1,"\u0065xp":2})", "the key \"exp\" only once"},
           Wrong{R"({"a\/b":1,"a/b":2})", "only once"},
           Wrong{"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", "only once"},
       }) {
    const absl::Status status = CheckObject(wrong.text, nullptr);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << wrong.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.want)) << wrong.text;
  }
}

TEST(JsonSyntax, LimitsTheDepth) {
  const auto nested = [](int depth) {
    std::string text = "{\"a\":";
    text.append(depth - 1, '[').append(depth - 1, ']').append("}");
    return text;
  };
  EXPECT_TRUE(CheckObject(nested(kMaxDepth), nullptr).ok());
  EXPECT_FALSE(CheckObject(nested(kMaxDepth + 1), nullptr).ok());
  EXPECT_FALSE(CheckObject(nested(1'000'000), nullptr).ok());
}

TEST(JsonSyntax, GivesTheIdOfATextThatIsWrongAfterIt) {
  std::string id;
  EXPECT_FALSE(CheckObject(R"({"id":"a1","x":)", &id).ok());
  EXPECT_EQ(id, "a1");
  id.clear();
  EXPECT_TRUE(CheckObject(R"({"query":{"id":"inner"}})", &id).ok());
  EXPECT_EQ(id, "");
}

RC_GTEST_PROP(JsonSyntax, SurvivesAnyText, (const std::string& text)) {
  std::string id;
  (void)CheckObject("{" + text, &id);
  (void)CheckObject(text + "}", &id);
}

}  // namespace
}  // namespace epsledger::json_syntax
