#include "proto/bridge/compute.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/bridge/accountant_readings.h"
#include "proto/bridge/guarantee_convert.h"
#include "proto/bridge/json_message.h"

namespace epsledger::bridge {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGaussian[] =
    R"("events": [{"count": 10, "event": {"gaussian": {"noiseMultiplier": 2}}}])";

std::string Line(const std::string& accountant, const std::string& query,
                 const std::string& more = "") {
  return R"({"id": "a1", "accountant": ")" + accountant + "\", " + kGaussian + ", \"query\": {" +
         query + "}" + more + "}";
}

std::string Answer(const std::string& line) { return ToJsonLine(AnswerJsonLine(line)); }

TEST(Compute, AnswersInTheFormOfTheOfflineCalculator) {
  const std::string answer = Answer(Line("GAUSSIAN", R"("epsilonAtDelta": 1e-5)"));
  EXPECT_THAT(answer, StartsWith(R"({"id":"a1","upper":)"));
  EXPECT_THAT(answer,
              AllOf(HasSubstr(R"("kind":"UPPER_BOUND")"), HasSubstr(R"("accountant":"GAUSSIAN")"),
                    HasSubstr(R"("theorem":")"), HasSubstr(R"("seconds":)"),
                    Not(HasSubstr("error")), Not(HasSubstr("\n"))));
}

TEST(Compute, PrintsEveryNumberThatIsSetZeroIncluded) {
  v1::ComputeResponse response;
  response.set_upper(0);
  response.set_log_upper(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(ToJsonLine(response), R"({"upper":0,"logUpper":"-Infinity"})");
}

TEST(Compute, ReadsEveryQuery) {
  for (const char* query :
       {R"("epsilonAtDelta": 0)", R"("epsilonAtDelta": 1)", R"("epsilonAtLogDelta": -1000)",
        R"("epsilonAtLogDelta": "-Infinity")", R"("deltaAtEpsilon": -1)",
        R"("renyiDivergenceAtOrder": 2.5)", R"("renyiDivergenceAtOrder": 1)",
        R"("renyiDivergenceAtOrder": "Infinity")", R"("typeTwoErrorAt": 0)",
        R"("inverseTypeTwoErrorAt": 1)", R"("advantage": {})",
        R"("gaussianDpMu": {"alphaMin": 1e-9})", R"("centralLimit": {})",
        R"("centralLimit": {"typeOneError": 0})",
        R"("calibrate": {"epsilon": 3, "delta": 1e-5, "variable": "COUNT"})",
        R"("truePositiveRateAt": 0)", R"("bayesSuccessAt": 0.5)",
        R"("reconstructionSuccessAt": 1)"}) {
    v1::ComputeRequest request;
    ASSERT_TRUE(ParseJson(Line("BEST", query), &request).ok()) << query;
    const auto question = ToQuestion(request);
    ASSERT_TRUE(question.ok()) << query << ": " << question.status();
    // In the order of the message, whose first two are one question.
    const int kind = static_cast<int>(request.query().kind_case());
    EXPECT_EQ(static_cast<int>(question->query.index()), std::max(0, kind - 2)) << query;
  }
}

TEST(Compute, HasTheDefaultsOfTheFormat) {
  v1::ComputeRequest request;
  ASSERT_TRUE(ParseJson(Line("BEST", R"("advantage": {})"), &request).ok());
  const auto question = ToQuestion(request);
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->relation, accounting::NeighboringRelation::kAddOrRemoveOne);
  EXPECT_FALSE(question->adjacency.has_value());
  EXPECT_EQ(question->sensitivity_relation, accounting::SensitivityRelation::kContribution);
  EXPECT_EQ(question->relative_width, 1e-3);
  EXPECT_EQ(question->group_size, 1);
  EXPECT_FALSE(question->advanced_delta_slack.has_value());
  ASSERT_EQ(question->events.size(), 1u);
  EXPECT_EQ(question->events[0].count, 10);
}

TEST(Compute, ReadsTheTargetOfACalibration) {
  const auto target = [](const std::string& fields) {
    v1::ComputeRequest request;
    EXPECT_TRUE(
        ParseJson(Line("BEST", R"("calibrate": {"variable": "COUNT")" + fields + "}"), &request)
            .ok());
    const auto question = ToQuestion(request);
    EXPECT_TRUE(question.ok()) << fields << ": " << question.status();
    return std::get<accounting::Calibrate>(question->query);
  };
  const accounting::Calibrate spends = target(R"(, "epsilon": 3, "delta": 1e-5)");
  EXPECT_EQ(spends.epsilon, 3);
  EXPECT_EQ(spends.delta, 1e-5);
  EXPECT_FALSE(spends.mu.has_value());
  EXPECT_FALSE(spends.operating_point.has_value());
  // A number that is left out is 0, as it always was.
  EXPECT_EQ(target(R"(, "epsilon": 3)").delta, 0);
  EXPECT_FALSE(target("").mu.has_value());

  const accounting::Calibrate mu = target(R"(, "mu": 0)");
  EXPECT_EQ(mu.mu, 0.0);
  EXPECT_FALSE(mu.operating_point.has_value());

  const accounting::Calibrate rates =
      target(R"(, "operatingPoint": {"falsePositiveRate": 0.01, "truePositiveRate": 0})");
  ASSERT_TRUE(rates.operating_point.has_value());
  EXPECT_EQ(rates.operating_point->false_positive_rate, 0.01);
  EXPECT_EQ(rates.operating_point->true_positive_rate, 0);
  EXPECT_FALSE(rates.mu.has_value());
}

TEST(Compute, AnswerReadsBackFromItsJson) {
  v1::ComputeResponse response;
  response.set_id("a1");
  response.set_kl(0);
  response.set_kappa2(0.1);
  response.set_kappa3(1e-300);
  response.set_kappa3_bar(0.25);
  response.set_mu(std::numeric_limits<double>::infinity());
  response.set_gamma(0.5);
  response.set_regret(1e-9);
  const std::string line = ToJsonLine(response);
  EXPECT_EQ(line, R"({"id":"a1","kl":0,"kappa2":0.1,"kappa3":1e-300,"kappa3Bar":0.25,)"
                  R"("mu":"Infinity","gamma":0.5,"regret":1e-09})");
  v1::ComputeResponse back;
  ASSERT_TRUE(ReadJson(line, &back).ok());
  EXPECT_EQ(back.SerializeAsString(), response.SerializeAsString());
}

TEST(Compute, ShowsNumbersOfTheCentralLimitOnlyWhereThereAreAny) {
  accounting::Guarantee guarantee;
  v1::ComputeResponse response;
  response.set_kl(1);
  response.set_regret(1);
  ToProto(guarantee, &response);
  EXPECT_FALSE(response.has_kl());
  EXPECT_FALSE(response.has_regret());
  guarantee.central_limit = accounting::CentralLimitReading{
      .kl = 1, .kappa2 = 2, .kappa3 = 3, .kappa3_bar = 4, .mu = 5, .gamma = 6};
  guarantee.regret = 7;
  ToProto(guarantee, &response);
  EXPECT_EQ(response.kl(), 1);
  EXPECT_EQ(response.kappa2(), 2);
  EXPECT_EQ(response.kappa3(), 3);
  EXPECT_EQ(response.kappa3_bar(), 4);
  EXPECT_EQ(response.mu(), 5);
  EXPECT_EQ(response.gamma(), 6);
  EXPECT_EQ(response.regret(), 7);
}

struct BadLine {
  std::string line;
  const char* want;
};

TEST(Compute, NamesWhatIsWrongAndKeepsTheId) {
  const std::string advantage = R"("advantage": {})";
  for (const BadLine& bad : {
           BadLine{Line("FOO", advantage), R"(accountant: got "FOO", want one of BASIC, ADVANCED)"},
           BadLine{Line("KIND_UNSPECIFIED", advantage),
                   "accountant: got KIND_UNSPECIFIED, want one of BASIC"},
           BadLine{R"({"id": "a1", "query": {"advantage": {}}})",
                   "accountant: got KIND_UNSPECIFIED, want one of BASIC"},
           BadLine{R"({"id": "a1", "accountant": 99})", "accountant: got 99, want one of BASIC"},
           BadLine{R"({"id": "a1", "accountant": "BASIC"})",
                   "query: unset, want one of epsilonAtDelta"},
           BadLine{Line("BASIC", ""), "query: unset, want one of epsilonAtDelta"},
           BadLine{Line("BASIC", R"("epsilonAtDelta": 1.5)"),
                   "query.epsilonAtDelta: got 1.5, want in [0, 1]"},
           BadLine{Line("BASIC", R"("epsilonAtDelta": "NaN")"),
                   "query.epsilonAtDelta: got NaN, want in [0, 1]"},
           BadLine{Line("BASIC", R"("epsilonAtLogDelta": 0.1)"),
                   "query.epsilonAtLogDelta: got 0.1, want in [-inf, 0]"},
           BadLine{Line("BASIC", R"("deltaAtEpsilon": "Infinity")"),
                   "query.deltaAtEpsilon: got Infinity, want in (-inf, inf)"},
           BadLine{Line("BASIC", R"("renyiDivergenceAtOrder": 0.5)"),
                   "query.renyiDivergenceAtOrder: got 0.5, want in [1, inf]"},
           BadLine{Line("BASIC", R"("typeTwoErrorAt": -0.1)"),
                   "query.typeTwoErrorAt: got -0.1, want in [0, 1]"},
           BadLine{Line("BASIC", R"("gaussianDpMu": {})"),
                   "query.gaussianDpMu.alphaMin: got 0, want in (0, 0.5)"},
           BadLine{Line("BASIC", R"("centralLimit": {"typeOneError": 2})"),
                   "query.centralLimit.typeOneError: got 2, want in [0, 1]"},
           BadLine{Line("BASIC", R"("calibrate": {"epsilon": -1, "delta": 0.1, "variable": 1})"),
                   "query.calibrate.epsilon: got -1, want in [0, inf)"},
           BadLine{Line("BASIC", R"("calibrate": {"epsilon": 1, "delta": 2, "variable": 1})"),
                   "query.calibrate.delta: got 2, want in [0, 1]"},
           BadLine{Line("BASIC", R"("calibrate": {"epsilon": 1, "delta": 0.1})"),
                   "query.calibrate.variable: got VARIABLE_UNSPECIFIED, want one of NOISE_MULT"},
           BadLine{Line("BASIC", R"("calibrate": {"epsilon": 1, "mu": 1, "variable": 1})"),
                   "query.calibrate: got more than one target, want epsilon and delta, or mu, or"},
           BadLine{Line("BASIC", R"("calibrate": {"mu": 1, "operatingPoint": {}, "variable": 1})"),
                   "query.calibrate: got more than one target"},
           BadLine{
               Line("BASIC",
                    R"("calibrate": {"operatingPoint": {"truePositiveRate": 0.5}, "variable": 1})"),
               "query.calibrate.operatingPoint: got less than two rates, want falsePositiveRate"},
           BadLine{Line("BASIC", R"("epsilonAtDelta": 0.1, "deltaAtEpsilon": 1)"),
                   "query: got more than one alternative, want one"},
           BadLine{Line("BASIC", R"("epsilon": 0.1)"), "query.epsilon: unknown field"},
           BadLine{Line("BASIC", advantage, R"(, "relativeWidth": 1)"),
                   "relativeWidth: got 1, want in (0, 1)"},
           BadLine{Line("BASIC", advantage, R"(, "groupSize": 0)"), "groupSize: got 0, want in [1"},
           BadLine{Line("BASIC", advantage, R"(, "advancedDeltaSlack": 0)"),
                   "advancedDeltaSlack: got 0, want in (0, 1)"},
           BadLine{Line("BASIC", advantage, R"(, "neighboringRelation": "REPLACE_TWO")"),
                   R"(neighboringRelation: got "REPLACE_TWO", want one of ADD_OR_REMOVE_ONE)"},
           BadLine{Line("BASIC", advantage,
                        R"(, "neighboringRelation": "REPLACE_ONE", "adjacency": "ADD")"),
                   "adjacency: got ADD, want nothing: only add-or-remove-one"},
           BadLine{R"({"id": "a1", "accountant": "BASIC", "events": [{"event": {"gaussian": )"
                   R"({"noiseMultiplier": 1}}}], "query": {"advantage": {}}})",
                   "events[0].count: got 0, want in [1, 9007199254740992]"},
           BadLine{R"({"id": "a1", "accountant": "BASIC", "events": [{"count": 1.5}]})",
                   "events[0].count: got 1.5, want an integer"},
           BadLine{R"({"id": "a1", "accountant": "BASIC", "events": [{"event": {"gausian": {}}}]})",
                   "events[0].event.gausian: unknown field"},
           BadLine{R"({"id": "a1", "accountant": "BASIC", "events": [{"event": {"poissonSampled": )"
                   R"({"samplingProbability": 1.5, "event": {"gaussian": {"noiseMultiplier": 1}}}})"
                   R"(, "count": 1}], "query": {"advantage": {}}})",
                   "events[0].event.poissonSampled.samplingProbability: got 1.5, want in [0, 1]"},
           BadLine{R"({"id": "a1", "accountant": "BASIC", )", "not JSON at column 37"},
       }) {
    const v1::ComputeResponse answer = AnswerJsonLine(bad.line);
    EXPECT_EQ(answer.id(), "a1") << bad.line;
    EXPECT_EQ(answer.error().code(), google::rpc::INVALID_ARGUMENT) << bad.line;
    EXPECT_THAT(answer.error().message(), StartsWith(bad.want)) << bad.line;
    EXPECT_FALSE(answer.has_upper()) << bad.line;
    EXPECT_THAT(ToJsonLine(answer),
                StartsWith(R"({"id":"a1","error":{"code":"INVALID_ARGUMENT","message":")"));
  }
}

TEST(Compute, AnIdThatIsTooLongIsNotRepeated) {
  const std::string line = R"({"id": ")" + std::string(70'000, 'x') + R"(", "accountant": "NO"})";
  const v1::ComputeResponse answer = AnswerJsonLine(line);
  EXPECT_EQ(answer.id(), "");
  EXPECT_LT(answer.ByteSizeLong(), 1'000u);
  v1::ComputeRequest request;
  request.set_id(std::string(70'000, 'x'));
  EXPECT_EQ(std::string(Compute(request).status().message()),
            "id: got 70000 bytes, want at most 256");
}

TEST(Compute, LimitsTheNumberOfEvents) {
  v1::ComputeRequest request;
  request.set_accountant(v1::Accountant::BASIC);
  for (int i = 0; i <= kMaxComputeEvents; ++i) request.add_events();
  EXPECT_EQ(std::string(Compute(request).status().message()),
            "events: got 10001 events, want at most 10000");
}

TEST(ReadEveryAccountant, GivesANumberOrAReasonForEachWithBestLast) {
  const std::vector<accounting::CountedEvent> events = {
      {accounting::MechanismEvent(accounting::Gaussian{2.0}), 10}};
  const auto readings =
      ReadEveryAccountant(events, accounting::NeighboringRelation::kAddOrRemoveOne, 1e-5);
  ASSERT_EQ(readings.size(), 11u);
  EXPECT_EQ(readings.back().accountant(), v1::Accountant::BEST);
  EXPECT_TRUE(readings.back().has_guarantee());
  for (const v1::AccountantReading& reading : readings) {
    EXPECT_NE(reading.has_guarantee(), !reading.reason_unavailable().empty())
        << reading.ShortDebugString();
  }
}

v1::CompareAccountantsResponse Compare(const v1::CompareAccountantsRequest& request) {
  const auto question = ToQuestion(request);
  EXPECT_TRUE(question.ok()) << question.status();
  const auto comparison = CompareAccountants(*question, [] { return false; });
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  return *comparison;
}

void AddGaussian(double noise_multiplier, int64_t count, v1::CompareAccountantsRequest* request) {
  v1::CountedEvent* event = request->add_events();
  event->set_count(count);
  event->mutable_event()->mutable_gaussian()->set_noise_multiplier(noise_multiplier);
}

TEST(CompareAccountants, ListsAllWithTheWinnersBoundTheSmallest) {
  v1::CompareAccountantsRequest request;
  request.set_delta(1e-5);
  AddGaussian(2, 10, &request);
  const v1::CompareAccountantsResponse comparison = Compare(request);
  ASSERT_EQ(comparison.readings_size(), 13);
  EXPECT_EQ(comparison.readings(12).accountant(), v1::Accountant::BEST);
  ASSERT_NE(comparison.winner(), v1::Accountant::KIND_UNSPECIFIED);
  double winning = 0;
  for (const v1::AccountantReading& reading : comparison.readings()) {
    EXPECT_NE(reading.has_guarantee(), !reading.reason_unavailable().empty())
        << reading.ShortDebugString();
    if (reading.accountant() == comparison.winner()) winning = reading.guarantee().upper();
  }
  // mu = sqrt(10) / 2 at delta 1e-5, by the closed form of the Gaussian.
  EXPECT_NEAR(winning, 7.51127590074478, 1e-2);
  EXPECT_GE(winning, 7.51127590074477);
  for (const v1::AccountantReading& reading : comparison.readings()) {
    if (reading.guarantee().kind() != v1::Guarantee::UPPER_BOUND) {
      EXPECT_NE(reading.accountant(), comparison.winner());
    } else {
      EXPECT_GE(reading.guarantee().upper(), winning) << reading.ShortDebugString();
      EXPECT_FALSE(reading.guarantee().theorem().empty());
    }
  }
}

// The central limit under-reports: at noise multiplier 0.5 it is far below every bound.
TEST(CompareAccountants, NeverLetsAnApproximationWin) {
  v1::CompareAccountantsRequest request;
  request.set_delta(1e-12);
  AddGaussian(0.5, 1, &request);
  const v1::CompareAccountantsResponse comparison = Compare(request);
  for (const v1::AccountantReading& reading : comparison.readings()) {
    if (reading.accountant() == v1::Accountant::CLT ||
        reading.accountant() == v1::Accountant::MOMENTS_AS_PUBLISHED) {
      EXPECT_NE(reading.guarantee().kind(), v1::Guarantee::UPPER_BOUND)
          << reading.ShortDebugString();
      EXPECT_NE(reading.accountant(), comparison.winner());
    }
  }
}

TEST(CompareAccountants, HasNoWinnerWhereNoBoundIsNeededOrNoneIsFinite) {
  v1::CompareAccountantsRequest request;
  request.set_delta(1e-5);
  EXPECT_EQ(Compare(request).winner(), v1::Accountant::KIND_UNSPECIFIED);
  v1::CountedEvent* event = request.add_events();
  event->set_count(1);
  event->mutable_event()->mutable_non_private()->set_reason("shown");
  EXPECT_EQ(Compare(request).winner(), v1::Accountant::KIND_UNSPECIFIED);
}

TEST(CompareAccountants, NamesWhatIsWrongBeforeItStarts) {
  const auto message = [](const v1::CompareAccountantsRequest& request) {
    return std::string(ToQuestion(request).status().message());
  };
  v1::CompareAccountantsRequest request;
  EXPECT_EQ(message(request), "delta: got 0, want in (0, 1)");
  request.set_delta(0.5);
  request.set_group_size(0);
  EXPECT_THAT(message(request), StartsWith("groupSize: got 0, want in [1"));
  request.set_group_size(2);
  request.set_adjacency(v1::Adjacency::ADD);
  request.set_neighboring_relation(v1::NeighboringRelation::REPLACE_ONE);
  EXPECT_THAT(message(request), StartsWith("adjacency: got ADD, want nothing"));
}

TEST(CompareAccountants, StopsWhenNobodyWaits) {
  v1::CompareAccountantsRequest request;
  request.set_delta(0.5);
  int asked = 0;
  EXPECT_TRUE(absl::IsCancelled(
      CompareAccountants(*ToQuestion(request), [&asked] { return ++asked > 3; }).status()));
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace epsledger::bridge
