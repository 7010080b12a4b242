#include "proto/bridge/curves.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "accounting/question.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace epsledger::bridge {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

bool Wanted() { return false; }

template <class Request>
Request Parse(const std::string& text) {
  Request request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  return request;
}

// One Gaussian release with mu = 1.
constexpr char kEvents[] = "events { count: 1 event { gaussian { noise_multiplier: 1 } } } ";

template <class Request>
std::vector<double> PointsOf(const std::string& text) {
  const absl::StatusOr<CurveQuestion> question = ToQuestion(Parse<Request>(kEvents + text));
  EXPECT_TRUE(question.ok()) << question.status();
  return question.ok() ? question->at : std::vector<double>();
}

TEST(CurveRange, HasBothEndsAndDecimalsAsPeopleWriteThem) {
  EXPECT_THAT(PointsOf<v1::GetTradeOffCurveRequest>("type_one_error_range { last: 1 count: 11 }"),
              ElementsAre(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1));
  EXPECT_THAT(
      PointsOf<v1::GetPrivacyProfileRequest>("epsilon_range { first: -1 last: 1 count: 3 }"),
      ElementsAre(-1, 0, 1));
}

TEST(CurveRange, IsEvenInTheLogarithmWhereAsked) {
  const std::vector<double> points = PointsOf<v1::GetTradeOffCurveRequest>(
      "type_one_error_range { first: 1e-6 last: 1 count: 4 logarithmic: true }");
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0], 1e-6);
  EXPECT_NEAR(points[1], 1e-4, 1e-17);
  EXPECT_NEAR(points[2], 1e-2, 1e-15);
  EXPECT_EQ(points[3], 1);
}

TEST(CurveRange, DoesNotOverflow) {
  for (const double point : PointsOf<v1::GetPrivacyProfileRequest>(
           "epsilon_range { first: -1.7e308 last: 1.7e308 count: 1000 }")) {
    EXPECT_TRUE(std::isfinite(point));
  }
}

TEST(CurveQuestion, KeepsTheOrderOfAList) {
  EXPECT_THAT(PointsOf<v1::GetTradeOffCurveRequest>("type_one_errors: [0.5, 0.1, 0.1]"),
              ElementsAre(0.5, 0.1, 0.1));
}

TEST(CurveQuestion, NamesWhatIsWrong) {
  const auto trade_off = [](const std::string& text) {
    return std::string(ToQuestion(Parse<v1::GetTradeOffCurveRequest>(text)).status().message());
  };
  const auto profile = [](const std::string& text) {
    return std::string(ToQuestion(Parse<v1::GetPrivacyProfileRequest>(text)).status().message());
  };
  EXPECT_EQ(trade_off(""),
            "typeOneErrors: got neither points nor typeOneErrorRange, want one of "
            "the two");
  EXPECT_EQ(trade_off("type_one_errors: 0 type_one_error_range { last: 1 count: 2 }"),
            "typeOneErrors: got points and typeOneErrorRange, want one of the two");
  EXPECT_EQ(trade_off("type_one_errors: [0, 1, 1.5]"), "typeOneErrors[2]: got 1.5, want in [0, 1]");
  EXPECT_EQ(trade_off("type_one_errors: nan"), "typeOneErrors[0]: got NaN, want in [0, 1]");
  EXPECT_EQ(trade_off("type_one_error_range { last: 1 count: 1 }"),
            "typeOneErrorRange.count: got 1, want in [2, 1000]");
  EXPECT_EQ(trade_off("type_one_error_range { last: 1 count: 1001 }"),
            "typeOneErrorRange.count: got 1001, want in [2, 1000]");
  EXPECT_EQ(trade_off("type_one_error_range { first: 0.5 last: 0.5 count: 2 }"),
            "typeOneErrorRange.last: got 0.5, want above first, 0.5");
  EXPECT_EQ(trade_off("type_one_error_range { last: 1 count: 2 logarithmic: true }"),
            "typeOneErrorRange.first: got 0, want in (0, 1]");
  EXPECT_EQ(profile("epsilons: [0, inf]"), "epsilons[1]: got Infinity, want in (-inf, inf)");
  EXPECT_EQ(profile("epsilon_range { last: nan count: 2 }"),
            "epsilonRange.last: got NaN, want in (-inf, inf)");
  EXPECT_EQ(profile("epsilons: 0 group_size: 0"),
            "groupSize: got 0, want in [1, 9007199254740992]");
  EXPECT_THAT(profile("epsilons: 0 accountant: 99"), StartsWith("accountant: got 99, want one of"));

  v1::GetPrivacyProfileRequest many;
  for (int i = 0; i <= kMaxCurvePoints; ++i) many.add_epsilons(i);
  EXPECT_EQ(std::string(ToQuestion(many).status().message()),
            "epsilons: got 1001 points, want at most 1000");
}

TEST(PrivacyProfile, BracketsTheClosedFormOfTheGaussian) {
  const auto request = Parse<v1::GetPrivacyProfileRequest>(
      kEvents + std::string("accountant: GAUSSIAN epsilons: [0, 1]"));
  const auto profile = PrivacyProfile(*ToQuestion(request), Wanted);
  ASSERT_TRUE(profile.ok()) << profile.status();
  ASSERT_EQ(profile->points_size(), 2);
  // delta(eps) = Phi(1/2 - eps) - e^eps Phi(-1/2 - eps), to 15 digits by error functions.
  const double kDelta[] = {0.382924922548026, 0.126936737506643};
  for (int i = 0; i < 2; ++i) {
    const v1::PrivacyProfilePoint& point = profile->points(i);
    EXPECT_EQ(point.epsilon(), i);
    EXPECT_NEAR(point.delta().upper(), kDelta[i], 2e-15);
    EXPECT_NEAR(point.delta().lower(), kDelta[i], 2e-15);
    EXPECT_LE(point.delta().lower(), point.delta().upper());
    EXPECT_NEAR(point.delta().log_upper(), std::log(kDelta[i]), 1e-13);
  }
}

TEST(TradeOffCurve, GivesTheTruePositiveRateBesideTheTypeTwoError) {
  const auto request = Parse<v1::GetTradeOffCurveRequest>(
      kEvents + std::string("accountant: GAUSSIAN type_one_errors: [0, 0.001, 0.5, 1]"));
  const auto curve = TradeOffCurve(*ToQuestion(request), Wanted);
  ASSERT_TRUE(curve.ok()) << curve.status();
  ASSERT_EQ(curve->points_size(), 4);
  // Phi(Phi^-1(1 - a) - 1): Phi(-1) = 0.158655253931457 at 1/2.
  EXPECT_NEAR(curve->points(2).type_two_error().lower(), 0.158655253931457, 1e-14);
  EXPECT_NEAR(curve->points(2).true_positive_rate_upper(), 0.841344746068543, 1e-14);
  for (const v1::TradeOffPoint& point : curve->points()) {
    // The sums of the two are at least (at most) 1 in exact arithmetic: long double holds them.
    const auto sum = [](double a, double b) { return static_cast<long double>(a) + b; };
    EXPECT_GE(sum(point.true_positive_rate_upper(), point.type_two_error().lower()), 1.0L);
    EXPECT_LE(sum(point.true_positive_rate_lower(), point.type_two_error().upper()), 1.0L);
    EXPECT_LE(point.true_positive_rate_upper(), 1);
    EXPECT_GE(point.true_positive_rate_lower(), 0);
  }
  EXPECT_EQ(curve->points(3).true_positive_rate_upper(), 1);
}

TEST(TradeOffCurve, StopsWhenNobodyWaits) {
  const auto request = Parse<v1::GetTradeOffCurveRequest>(
      kEvents + std::string("accountant: GAUSSIAN type_one_errors: [0, 0.5, 1]"));
  int asked = 0;
  const auto curve = TradeOffCurve(*ToQuestion(request), [&asked] { return ++asked > 2; });
  EXPECT_TRUE(absl::IsCancelled(curve.status()));
  EXPECT_EQ(asked, 3);
}

TEST(TradeOffCurve, FailsAsTheAccountantDoes) {
  const auto request = Parse<v1::GetTradeOffCurveRequest>(
      "accountant: GAUSSIAN type_one_errors: 0.5 events { count: 1 event { laplace { "
      "noise_multiplier: 1 } } }");
  const auto curve = TradeOffCurve(*ToQuestion(request), Wanted);
  EXPECT_TRUE(absl::IsUnimplemented(curve.status()));
  EXPECT_FALSE(curve.status().message().empty());
}

}  // namespace
}  // namespace epsledger::bridge
