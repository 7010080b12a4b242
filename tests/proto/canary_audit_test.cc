#include "proto/bridge/canary_audit.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace epsledger::bridge {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::AuditCanariesRequest Parse(const std::string& text) {
  v1::AuditCanariesRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  return request;
}

std::string Refusal(const std::string& text) {
  const auto question = ToQuestion(Parse(text));
  EXPECT_EQ(question.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(question.status().message());
}

v1::AuditCanariesResponse Answer(const std::string& text) {
  const auto question = ToQuestion(Parse(text));
  EXPECT_TRUE(question.ok()) << question.status() << text;
  if (!question.ok()) return {};
  const auto answer = AuditCanaries(*question);
  EXPECT_TRUE(answer.ok()) << answer.status() << text;
  return answer.ok() ? *answer : v1::AuditCanariesResponse();
}

constexpr char kTwoArms[] =
    "confidence: 0.95 delta: 1e-5 two_arm_counts { members: 1000 true_positives: 930 non_members: "
    "1000 false_positives: 14 } ";
constexpr char kOneRun[] =
    "confidence: 0.95 delta: 1e-5 one_run_counts { canaries: 1000 guesses: 1000 correct: 900 } ";
constexpr char kGaussian[] = "events { count: 1 event { gaussian { noise_multiplier: 1 } } } ";

TEST(AuditCanaries, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(Refusal(kTwoArms),
            "method: got METHOD_UNSPECIFIED, want one of TWO_ARM_THRESHOLD, TWO_ARM_GDP, ONE_RUN, "
            "ONE_RUN_F_DP");
  EXPECT_THAT(Refusal("method: 9 " + std::string(kTwoArms)), StartsWith("method: got 9, want one"));
  EXPECT_EQ(Refusal("method: ONE_RUN confidence: 0.95"),
            "memberScores: got neither scores nor counts, want one of scores, twoArmCounts and "
            "oneRunCounts");
  EXPECT_THAT(Refusal("method: ONE_RUN member_scores: 1 " + std::string(kOneRun)),
              StartsWith("memberScores: got scores and counts"));
  EXPECT_THAT(Refusal("method: ONE_RUN " + std::string(kTwoArms)), StartsWith("twoArmCounts: "));
  EXPECT_THAT(Refusal("method: TWO_ARM_GDP " + std::string(kOneRun)), StartsWith("oneRunCounts: "));
  EXPECT_EQ(Refusal("method: ONE_RUN member_scores: 1"), "confidence: got 0, want in (0, 1)");
  EXPECT_EQ(Refusal("method: ONE_RUN confidence: 0.9 delta: 1 member_scores: 1"),
            "delta: got 1, want in [0, 1)");
  EXPECT_EQ(Refusal("method: ONE_RUN confidence: 0.9 member_scores: [1, nan]"),
            "memberScores[1]: got NaN, want a number");
  EXPECT_THAT(Refusal("method: TWO_ARM_GDP confidence: 0.9 member_scores: 1"),
              HasSubstr("want at least 8"));
  EXPECT_EQ(Refusal("method: ONE_RUN claimed_epsilon: -1 " + std::string(kOneRun)),
            "claimedEpsilon: got -1, want in [0, inf)");
  EXPECT_THAT(Refusal("method: ONE_RUN guesses: 5 " + std::string(kOneRun)),
              StartsWith("guesses: got 5, want none"));
  EXPECT_THAT(Refusal("method: ONE_RUN neighboring_relation: 77 " + std::string(kOneRun)),
              StartsWith("neighboringRelation: got 77"));
}

TEST(AuditCanaries, TakesSoManyScoresAndNoMore) {
  v1::AuditCanariesRequest request = Parse("method: ONE_RUN confidence: 0.9");
  for (int i = 0; i < kMaxAuditScores; ++i) request.add_member_scores(i);
  EXPECT_TRUE(ToQuestion(request).ok());
  request.add_non_member_scores(0);
  EXPECT_THAT(std::string(ToQuestion(request).status().message()),
              StartsWith("memberScores: got 100001 scores"));
  EXPECT_TRUE(ToQuestion(request, 200000).ok());
}

TEST(AuditCanaries, SaysWhatItsEpsilonRestsOn) {
  const auto counted =
      Answer("method: TWO_ARM_THRESHOLD claimed_epsilon: 1 " + std::string(kTwoArms));
  EXPECT_EQ(counted.epsilon_lower_bound().kind(), v1::Guarantee::LOWER_BOUND);
  EXPECT_NEAR(counted.epsilon_lower_bound().lower(), 3.664247655, 1e-8);  // two_arm_test.cc
  EXPECT_FALSE(counted.epsilon_lower_bound().has_upper());
  EXPECT_THAT(counted.epsilon_lower_bound().theorem(), HasSubstr("[CP34]"));
  EXPECT_EQ(counted.hypothesis(), v1::AuditCanariesResponse::NONE);
  EXPECT_TRUE(counted.contradicts_claim());
  EXPECT_EQ(counted.claimed_epsilon(), 1);
  EXPECT_FALSE(counted.has_threshold());
  EXPECT_FALSE(counted.has_certified_epsilon());
  EXPECT_FALSE(counted.has_contradicts_certificate());

  const auto fitted = Answer("method: TWO_ARM_GDP claimed_epsilon: 20 " + std::string(kTwoArms));
  EXPECT_EQ(fitted.hypothesis(), v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF);
  EXPECT_NEAR(fitted.mu_lower_bound(), 3.344082136, 1e-8);
  EXPECT_NEAR(fitted.epsilon_lower_bound().lower(), 19.21183412, 1e-6);
  EXPECT_FALSE(fitted.contradicts_claim());

  const auto run = Answer("method: ONE_RUN " + std::string(kOneRun));
  EXPECT_EQ(run.hypothesis(), v1::AuditCanariesResponse::NONE);
  EXPECT_FALSE(run.has_mu_lower_bound());
  EXPECT_GT(run.epsilon_lower_bound().lower(), 1.5);
  EXPECT_EQ(run.one_run_counts().correct(), 900);
  EXPECT_FALSE(run.has_contradicts_claim());

  const auto curve = Answer("method: ONE_RUN_F_DP " + std::string(kOneRun));
  EXPECT_EQ(curve.hypothesis(), v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF);
  EXPECT_NEAR(curve.mu_lower_bound(), 0.88039563, 1e-5);  // one_run_trade_off_test.cc
}

// mu = 1: TPR at FPR .0233781 is at most Phi(1 - 1.989) = .1614, far below .9123.
TEST(AuditCanaries, HoldsWhatWasCountedAgainstTheChargedEvents) {
  for (const char* method : {"TWO_ARM_THRESHOLD", "TWO_ARM_GDP"}) {
    const auto audit = Answer(absl::StrCat("method: ", method, " ", kTwoArms, kGaussian));
    EXPECT_TRUE(audit.contradicts_certificate()) << method;
    EXPECT_NEAR(audit.certified_epsilon().upper(), 4.377178, 1e-5) << method;
  }
  // mu = 4: Phi(4 - 1.989) = .978.
  const std::string loose = "events { count: 16 event { gaussian { noise_multiplier: 1 } } } ";
  EXPECT_FALSE(
      Answer("method: TWO_ARM_GDP " + std::string(kTwoArms) + loose).contradicts_certificate());
  // 900 of 1000 guesses are right: mu = .5 is rejected, mu = 1 is not (.880 is the end).
  const std::string tight = "events { count: 1 event { gaussian { noise_multiplier: 2 } } } ";
  const auto rejected = Answer("method: ONE_RUN_F_DP " + std::string(kOneRun) + tight);
  EXPECT_TRUE(rejected.contradicts_certificate());
  EXPECT_LT(rejected.certificate_p_value(), 0.05);
  const auto kept = Answer("method: ONE_RUN_F_DP " + std::string(kOneRun) + kGaussian);
  EXPECT_FALSE(kept.contradicts_certificate());
  EXPECT_GT(kept.certificate_p_value(), 0.05);
  EXPECT_FALSE(
      Answer("method: ONE_RUN " + std::string(kOneRun) + kGaussian).contradicts_certificate());
  EXPECT_TRUE(Answer("method: ONE_RUN " + std::string(kOneRun) +
                     "events { count: 1 event { pure_dp { epsilon: 0.5 } } } ")
                  .contradicts_certificate());
}

TEST(AuditCanaries, CannotContradictWhatPromisesNothing) {
  const std::string nothing = "events { count: 1 event { non_private { reason: 'x' } } } ";
  for (const std::string method : {"TWO_ARM_THRESHOLD", "TWO_ARM_GDP"}) {
    EXPECT_FALSE(Answer("method: " + method + " " + kTwoArms + nothing).contradicts_certificate());
  }
  for (const std::string method : {"ONE_RUN", "ONE_RUN_F_DP"}) {
    EXPECT_FALSE(Answer("method: " + method + " " + kOneRun + nothing).contradicts_certificate());
  }
}

TEST(AuditCanaries, ChoosesAThresholdOfItsOwnForScores) {
  std::string scores;
  for (int i = 0; i < 400; ++i) {
    absl::StrAppend(&scores, "member_scores: ", i + 200, " non_member_scores: ", i, " ");
  }
  const auto audit = Answer("method: TWO_ARM_THRESHOLD confidence: 0.9 " + scores);
  EXPECT_TRUE(audit.has_threshold());
  EXPECT_EQ(audit.two_arm_counts().members(), 300);
  EXPECT_GT(audit.epsilon_lower_bound().lower(), 1);
  // Several numbers of guesses share the failure probability.
  const auto run = Answer("method: ONE_RUN confidence: 0.9 " + scores);
  EXPECT_THAT(run.epsilon_lower_bound().theorem(), HasSubstr("Bonferroni over 4"));
  EXPECT_GT(run.epsilon_lower_bound().lower(), 1);
  const auto one = Answer("method: ONE_RUN guesses: 200 confidence: 0.9 " + scores);
  EXPECT_EQ(one.one_run_counts().guesses(), 200);
  EXPECT_EQ(one.one_run_counts().correct(), 200);
}

}  // namespace
}  // namespace epsledger::bridge
