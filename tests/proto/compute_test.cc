#include "proto/convert/compute.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/convert/accountant_readings.h"

namespace epsledger::convert {
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
  for (const char* query : {R"("epsilonAtDelta": 0)", R"("epsilonAtDelta": 1)",
                            R"("epsilonAtLogDelta": -1000)", R"("epsilonAtLogDelta": "-Infinity")",
                            R"("deltaAtEpsilon": -1)", R"("renyiDivergenceAtOrder": 2.5)",
                            R"("typeTwoErrorAt": 0)", R"("inverseTypeTwoErrorAt": 1)",
                            R"("advantage": {})", R"("gaussianDpMu": {"alphaMin": 1e-9})",
                            R"("centralLimit": {})", R"("centralLimit": {"typeOneError": 0})",
                            R"("calibrate": {"epsilon": 3, "delta": 1e-5, "variable": "COUNT"})"}) {
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
           BadLine{Line("BASIC", R"("renyiDivergenceAtOrder": 1)"),
                   "query.renyiDivergenceAtOrder: got 1, want in (1, inf)"},
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
                   "events[0].event.poissonSampled.samplingProbability: got 1.5, want in (0, 1]"},
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

}  // namespace
}  // namespace epsledger::convert
