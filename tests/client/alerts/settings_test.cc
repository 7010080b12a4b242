#include "client/alerts/settings.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"

namespace epsledger::alerts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSecret[] = "a secret of sixteen bytes or more";

class SettingsTest : public testing::Test {
 protected:
  SettingsTest()
      : folder_(testing::TempDir() + "/alerts-settings." +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
    Write("secret", std::string(kSecret) + "\n");
    Write("short", "short\n");
    Write("password", "letmein\n");
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  // Replaces $F by the folder.
  absl::StatusOr<Settings> Parse(const std::string& text) const {
    return ParseSettings(absl::StrReplaceAll(text, {{"$F", folder_}}));
  }

  // The configuration with one text replaced by another.
  std::string With(const std::string& before, const std::string& after) const {
    EXPECT_THAT(kGood, HasSubstr(before));
    return absl::StrReplaceAll(kGood, {{before, after}});
  }

  std::string ErrorOf(const std::string& text) const {
    return std::string(Parse(text).status().message());
  }

  const std::string folder_;
  const std::string kGood = R"({
    "server": {"address": "127.0.0.1:50551"},
    "dashboard": "https://ledger.example.org",
    "state_file": "/var/lib/epsledger-alerts/state.json",
    "watch": ["people", "budgets/other"],
    "poll_interval": "10s",
    "queue_limit": 50,
    "retry": {"initial": "2s", "most": "5m", "give_up_after": "48h"},
    "destinations": [
      {"name": "pager",
       "webhook": {"url": "https://pager.example.org/x", "secret_file": "$F/secret"}},
      {"name": "officer",
       "mail": {"url": "smtps://mail.example.org", "from": "alerts@example.org",
                "to": ["officer@example.org"], "user": "alerts",
                "password_file": "$F/password"}}],
    "rules": [
      {"name": "spending", "on": "threshold", "thresholds": [0.5, 0.8],
       "destinations": ["officer"], "budgets": ["people"], "labels": {"team": "vision"}},
      {"name": "refusals", "on": "refusal", "repeat_after": "30m",
       "reasons": ["BUDGET_EXHAUSTED"], "destinations": ["officer", "pager"]},
      {"name": "damage", "on": "quarantine", "destinations": ["pager"]},
      {"name": "waiting", "on": "approval", "waits": "4h", "destinations": ["officer"]}]
  })";
};

TEST_F(SettingsTest, ReadsAWholeConfiguration) {
  const absl::StatusOr<Settings> settings = Parse(kGood);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->server.address, "127.0.0.1:50551");
  EXPECT_THAT(settings->watch, ElementsAre("budgets/people", "budgets/other"));
  EXPECT_EQ(settings->poll_interval, absl::Seconds(10));
  EXPECT_EQ(settings->queue_limit, 50u);
  EXPECT_EQ(settings->retry.initial, absl::Seconds(2));
  EXPECT_EQ(settings->retry.most, absl::Minutes(5));
  EXPECT_EQ(settings->retry.give_up_after, absl::Hours(48));
  ASSERT_EQ(settings->destinations.size(), 2u);
  EXPECT_EQ(std::get<Webhook>(settings->destinations[0].to).secret, kSecret);
  EXPECT_EQ(std::get<Mail>(settings->destinations[1].to).password, "letmein");
  EXPECT_TRUE(std::get<Mail>(settings->destinations[1].to).with_tls);
  ASSERT_EQ(settings->rules.size(), 4u);
  EXPECT_THAT(settings->rules[0].thresholds, ElementsAre(0.5, 0.8));
  EXPECT_THAT(settings->rules[0].budgets, ElementsAre("budgets/people"));
  EXPECT_EQ(settings->rules[1].repeat_after_micros, kMicrosPerHour / 2);
  EXPECT_EQ(settings->rules[3].wait_micros, 4 * kMicrosPerHour);
}

TEST_F(SettingsTest, AnErrorNamesItsField) {
  const struct {
    const char* before;
    const char* after;
    const char* error;
  } kCases[] = {
      {R"("address": "127.0.0.1:50551")", R"("address": 7)", "server.address: got 7, want a text"},
      {R"("poll_interval": "10s")", R"("poll_interval": "10")", "poll_interval: got \"10\""},
      {R"("poll_interval": "10s")", R"("pol_interval": "10s")", "pol_interval: is not known"},
      {R"("queue_limit": 50)", R"("queue_limit": 0)", "queue_limit: got 0, want a whole number"},
      {R"("most": "5m")", R"("most": "1s")", "retry.most: want at least retry.initial"},
      {R"("watch": ["people")", R"("watch": ["people/run")", "watch: got \"people/run\""},
      {R"("name": "pager",)", R"("name": "officer",)",
       "destinations[1].name: got \"officer\" twice"},
      {"https://pager.example.org/x", "http://pager.example.org/x",
       "destinations[0].webhook.url: got http to an address that is not loopback"},
      {"https://pager.example.org/x", "ftp://pager.example.org/x",
       "destinations[0].webhook.url: got the scheme ftp, want https or http"},
      {"https://pager.example.org/x", "https://u:p@pager.example.org/x",
       "destinations[0].webhook.url: want a URL without a user and a password"},
      {"https://pager.example.org/x", "pager", "destinations[0].webhook.url: want a URL"},
      {"$F/secret", "$F/nowhere", "destinations[0].webhook.secret_file: cannot read"},
      {"$F/secret", "$F/short", "destinations[0].webhook.secret_file: got"},
      {R"("officer@example.org"])", R"("officer@example.org\r\nBcc: x@y"])",
       "destinations[1].mail.to: want addresses"},
      {R"("from": "alerts@example.org")", R"("from": "alerts")", "destinations[1].mail.from: want"},
      {R"("user": "alerts",)", "", "destinations[1].mail.password_file: want both"},
      {R"("on": "threshold")", R"("on": "thresholds")",
       "rules[0].on: got \"thresholds\", want threshold, refusal, quarantine or approval"},
      {"[0.5, 0.8]", "[0.8, 0.5]", "rules[0].thresholds: got 0.5 after 0.8"},
      {"[0.5, 0.8]", "[0.5, 80]", "rules[0].thresholds: got 80 after 0.5"},
      {"[0.5, 0.8]", "[]", "rules[0].thresholds: got []"},
      {R"(["officer", "pager"])", R"(["nobody"])", "rules[1].destinations: got \"nobody\""},
      {"BUDGET_EXHAUSTED", "EXHAUSTED", "rules[1].reasons: got \"EXHAUSTED\""},
      {R"("name": "damage")", R"("name": "spending")", "rules[2].name: got \"spending\" twice"},
      {R"("waits": "4h")", R"("repeat_after": "4h")", "rules[3].repeat_after: is not known"},
      {R"("queue_limit": 50,)", R"("queue_limit": 50, "queue_limit": 60,)", "not JSON"},
  };
  for (const auto& one : kCases) {
    EXPECT_THAT(ErrorOf(With(one.before, one.after)), HasSubstr(one.error)) << one.after;
  }
}

TEST_F(SettingsTest, AnErrorNeverHoldsASecret) {
  Write("almost", "fifteen bytes..");
  EXPECT_THAT(ErrorOf(With("$F/secret", "$F/almost")), Not(HasSubstr("fifteen bytes")));
  EXPECT_THAT(ErrorOf(With("https://pager.example.org/x", "https://u:hunter2@pager.example.org")),
              Not(HasSubstr("hunter2")));
}

TEST_F(SettingsTest, PlaintextIsForLoopbackUnlessItIsAllowed) {
  EXPECT_TRUE(Parse(With("https://pager.example.org/x", "http://127.0.0.1:8000/x")).ok());
  EXPECT_TRUE(Parse(With("https://pager.example.org/x", "http://[::1]:8000/x")).ok());
  EXPECT_TRUE(Parse(With("https://pager.example.org/x",
                         "http://pager.example.org\", \"allow_plaintext\": true, \"ca_file\": \"x"))
                  .ok());
  absl::StatusOr<Settings> local = Parse(With("smtps://mail.example.org", "smtp://127.0.0.1:25"));
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_FALSE(std::get<Mail>(local->destinations[1].to).with_tls);
  absl::StatusOr<Settings> starttls =
      Parse(With("smtps://mail.example.org", "smtp://mail.example.org:587"));
  ASSERT_TRUE(starttls.ok()) << starttls.status();
  EXPECT_TRUE(std::get<Mail>(starttls->destinations[1].to).with_tls);
  // A password is never sent in plaintext to another machine.
  EXPECT_THAT(
      ErrorOf(With("smtps://mail.example.org",
                   "smtp://mail.example.org\", \"allow_plaintext\": true, \"ca_file\": \"x")),
      HasSubstr("destinations[1].mail.allow_plaintext"));
}

}  // namespace
}  // namespace epsledger::alerts
