#include "client/alerts/delivery/alert_body.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "client/alerts/delivery/signature.h"
#include "nlohmann/json.hpp"

namespace epsledger::alerts {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const Mail kMail = {.url = "smtp://127.0.0.1:25",
                    .from = "alerts@example.org",
                    .to = {"officer@example.org", "second@example.org"}};

Alert SomeAlert() {
  return {.id = "0123456789abcdef0123456789abcdef",
          .kind = AlertKind::kThreshold,
          .rule = "spending",
          .time_micros = 1'700'000'000'000'000,
          .title = "budgets/people: 80 % of the cap is spent",
          .text = "81.25 % of the cap of budgets/people is spent.",
          .budget = "budgets/people",
          .display_name = "All people",
          .labels = {{"team", "vision"}},
          .facts = {{"spentFraction", "0.8125"}},
          .page = "budgets/people"};
}

// The lines of the header, unfolded, and the decoded text.
struct Message {
  std::vector<std::string> header;
  std::string text;
};

Message Read(const std::string& message) {
  Message read;
  const size_t end = message.find("\r\n\r\n");
  for (absl::string_view line : absl::StrSplit(message.substr(0, end), "\r\n")) {
    if (!line.empty() && line.front() == ' ') {
      read.header.back().append(line.data(), line.size());
    } else {
      read.header.emplace_back(line);
    }
  }
  std::string encoded;
  for (absl::string_view line : absl::StrSplit(message.substr(end + 4), "\r\n")) {
    EXPECT_LE(line.size(), 76u);
    encoded.append(line.data(), line.size());
  }
  EXPECT_TRUE(absl::Base64Unescape(encoded, &read.text));
  return read;
}

// The values are HMAC-SHA256 by its definition in RFC 2104 over another SHA-256 (Python's hashlib);
// the same lines give what RFC 4231 prints for its test case 2.
TEST(Signature, IsTheHmacOfTimeAndBody) {
  EXPECT_EQ(Signature("a key of the test", 1'700'000'000, R"({"id":"x"})"),
            "t=1700000000,v1=6bc0eeb40fd0a4c057f244d4226a58a467f13fb168dc2d83d1ea239f18bd6fd4");
  EXPECT_EQ(Signature("a key of the test", 0, ""),
            "t=0,v1=9d06d919198bf8aacb6fb25d088bdad4df28ae231676a251da311fd7d125b62e");
}

TEST(WebhookBody, HasTheAlertWithExactNumbersAndALink) {
  const auto body = nlohmann::json::parse(WebhookBody(SomeAlert(), "https://ledger.example.org"));
  EXPECT_EQ(body["version"], 1);
  EXPECT_EQ(body["id"], "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(body["kind"], "threshold");
  EXPECT_EQ(body["rule"], "spending");
  EXPECT_EQ(body["time"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(body["budget"], "budgets/people");
  EXPECT_EQ(body["displayName"], "All people");
  EXPECT_EQ(body["labels"]["team"], "vision");
  EXPECT_EQ(body["facts"]["spentFraction"], "0.8125");
  EXPECT_EQ(body["link"], "https://ledger.example.org/#/budgets/people");
}

TEST(WebhookBody, SendsBytesThatAreNoUtf8AsReplacements) {
  Alert alert = SomeAlert();
  alert.text = "before \xff after";
  EXPECT_THAT(WebhookBody(alert, ""), HasSubstr("before \xef\xbf\xbd after"));
}

TEST(MailMessage, IsPlainTextWithAGoodSubject) {
  const Message read = Read(MailMessage(SomeAlert(), kMail, "https://ledger.example.org/"));
  EXPECT_EQ(read.header,
            (std::vector<std::string>{
                "Date: Tue, 14 Nov 2023 22:13:20 +0000", "From: alerts@example.org",
                "To: officer@example.org, second@example.org",
                "Subject: [epsledger] budgets/people: 80 % of the cap is spent",
                "Message-ID: <0123456789abcdef0123456789abcdef@example.org>",
                "Auto-Submitted: auto-generated", "MIME-Version: 1.0",
                "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64"}));
  EXPECT_THAT(read.text, HasSubstr("81.25 % of the cap of budgets/people is spent."));
  EXPECT_THAT(read.text, HasSubstr("Name: All people\n"));
  EXPECT_THAT(read.text, HasSubstr("Label team: vision\n"));
  EXPECT_THAT(read.text, HasSubstr("spentFraction: 0.8125\n"));
  EXPECT_THAT(read.text, HasSubstr("\nhttps://ledger.example.org/#/budgets/people\n"));
}

TEST(MailMessage, NothingInAnAlertAddsAHeaderOrALine) {
  for (const std::string evil :
       {"x\r\nBcc: thief@example.org", "x\nBcc: thief@example.org", "x\rBcc: thief@example.org",
        "x\r\n\r\n.\r\nMAIL FROM:<a@b>", "=?utf-8?B?QmNjOiB0aGllZg==?=", "\xc3\xa9\r\nBcc: t"}) {
    Alert alert = SomeAlert();
    alert.title = evil;
    alert.text = evil;
    alert.display_name = evil;
    alert.labels = {{"team", evil}};
    alert.facts = {{"reason", evil}};
    const std::string message = MailMessage(alert, kMail, "");
    const Message read = Read(message);
    EXPECT_THAT(read.header, SizeIs(9)) << evil;
    EXPECT_THAT(read.header, Each(Not(HasSubstr("\nBcc"))));
    EXPECT_THAT(message, Not(HasSubstr("\nBcc")));
    EXPECT_THAT(message, Not(HasSubstr("\n.")));
    EXPECT_THAT(read.text, Not(HasSubstr("Name: x\r")));
  }
}

TEST(MailMessage, EncodesATitleBeyondAsciiInWordsThatHoldWholeCharacters) {
  Alert alert = SomeAlert();
  alert.title = "";
  for (int i = 0; i < 60; ++i) alert.title += "\xe2\x82\xac";  // the euro sign
  const std::string message = MailMessage(alert, kMail, "");
  std::string decoded;
  int words = 0;
  for (absl::string_view line : absl::StrSplit(message, "\r\n")) {
    const size_t begin = line.find("=?utf-8?B?");
    if (begin == line.npos) continue;
    const size_t end = line.find("?=", begin + 10);
    EXPECT_LE(end + 2 - begin, 75u);
    std::string word;
    ASSERT_TRUE(absl::Base64Unescape(line.substr(begin + 10, end - begin - 10), &word));
    EXPECT_NE(word.front() & '\xc0', '\x80');
    decoded += word;
    ++words;
  }
  EXPECT_GT(words, 2);
  EXPECT_EQ(decoded, "[epsledger] " + alert.title);
}

}  // namespace
}  // namespace epsledger::alerts
