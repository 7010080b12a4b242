// The commands that need no server: compare, calibrate, curve, attack and audit. None of them
// connects, so the tests say no server either.

#include <unistd.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/epsctl.h"
#include "client/cli/flags/history_flags.h"
#include "google/protobuf/util/json_util.h"

namespace epsledger::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome Epsctl(const std::vector<std::string>& arguments, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{.in = in, .out = out, .err = err};
  const ExitCode code = RunEpsctl(arguments, terminal);
  return {code, out.str(), err.str()};
}

// `arguments` after "-o FORMAT".
Outcome EpsctlAs(const std::string& format, std::vector<std::string> arguments,
                 const std::string& input = "") {
  arguments.insert(arguments.begin(), {"-o", format});
  return Epsctl(arguments, input);
}

template <class Message>
Message FromJson(const std::string& json) {
  Message message;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &message).ok()) << json;
  return message;
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

// The line of a table that begins with that word.
std::string Row(const std::string& table, const std::string& name) {
  for (const std::string& line : Lines(table)) {
    if (line.starts_with(name + " ")) return line;
  }
  return "";
}

// The columns of a line of a table.
std::vector<std::string> Cells(const std::string& line) {
  return absl::StrSplit(line, ' ', absl::SkipEmpty());
}

double Number(const std::string& text) {
  double value = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &value)) << text;
  return value;
}

v1::ComputeResponse Calibrated(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "calibrate");
  const Outcome outcome = Epsctl(flags);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  return FromJson<v1::ComputeResponse>(outcome.out);
}

// The upper bound of one accountant in the JSON of a comparison.
double UpperOf(const std::string& json, v1::Accountant::Kind accountant) {
  const auto comparison = FromJson<v1::CompareAccountantsResponse>(json);
  for (const v1::AccountantReading& reading : comparison.readings()) {
    if (reading.accountant() == accountant && reading.guarantee().has_upper()) {
      return reading.guarantee().upper();
    }
  }
  ADD_FAILURE() << json;
  return 0;
}

const std::vector<std::string> kCompare = {"compare", "--gaussian", "40",  "--count",
                                           "100",     "--delta",    "1e-5"};

TEST(Compare, PrintsEveryAccountantWithKindAndTheoremAndMarksTheWinner) {
  const Outcome outcome = EpsctlAs("wide", kCompare);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("ACCOUNTANT"));
  for (const char* name :
       {"BASIC", "ADVANCED", "OPTIMAL", "RENYI", "MOMENTS", "MOMENTS_HOLDER",
        "MOMENTS_AS_PUBLISHED", "ZCDP", "GAUSSIAN", "CLT", "PLD", "TRADE_OFF", "BEST"}) {
    EXPECT_THAT(Row(outcome.out, name), Not(IsEmpty())) << name;
  }
  EXPECT_THAT(Row(outcome.out, "ZCDP"), AllOf(HasSubstr("UPPER_BOUND"), HasSubstr("[")));
  EXPECT_THAT(Row(outcome.out, "BEST"), HasSubstr("won by "));
  EXPECT_THAT(outcome.out, ContainsRegex("\n[A-Z_]+ wins: \\(0\\.[0-9]+, 1e-05\\)-DP under "
                                         "add-or-remove-one\\.\n"));
  // Noise multiplier 40, 100 times: mu = 1/4, exact epsilon 0.92634150399 at 1e-5.
  EXPECT_GE(Number(Cells(Row(outcome.out, "GAUSSIAN"))[1]), 0.92634150);
  EXPECT_LE(Number(Cells(Row(outcome.out, "GAUSSIAN"))[1]), 0.926343);
  EXPECT_LE(Number(Cells(Row(outcome.out, "GAUSSIAN"))[2]), 0.92634151);
}

TEST(Compare, SaysWhyAnAccountantCannotAnswer) {
  const v1::CompareAccountantsResponse comparison =
      FromJson<v1::CompareAccountantsResponse>(EpsctlAs("json", kCompare).out);
  ASSERT_EQ(comparison.readings_size(), 13);
  const std::string table = EpsctlAs("wide", kCompare).out;
  for (const v1::AccountantReading& reading : comparison.readings()) {
    const std::string row = Row(table, v1::Accountant::Kind_Name(reading.accountant()));
    if (reading.has_guarantee()) {
      EXPECT_THAT(row, HasSubstr(reading.guarantee().theorem()));
    } else {
      EXPECT_THAT(row, AllOf(HasSubstr("no answer"), HasSubstr(reading.reason_unavailable())));
    }
  }
  // The accountant of Gaussian events says so of another.
  EXPECT_THAT(
      Row(EpsctlAs("wide", {"compare", "--pure-dp", "0.1", "--delta", "1e-5"}).out, "GAUSSIAN"),
      HasSubstr("no answer"));
}

TEST(Compare, FoldsTheAccountantsWithoutAnAnswer) {
  const v1::CompareAccountantsResponse comparison =
      FromJson<v1::CompareAccountantsResponse>(EpsctlAs("json", kCompare).out);
  const std::string table = EpsctlAs("table", kCompare).out;
  EXPECT_THAT(table, Not(HasSubstr("THEOREM")));
  const std::string folded = Row(table, "No");
  EXPECT_THAT(folded, AllOf(StartsWith("No answer from "), HasSubstr("-o wide")));
  for (const v1::AccountantReading& reading : comparison.readings()) {
    const std::string& name = v1::Accountant::Kind_Name(reading.accountant());
    EXPECT_EQ(Row(table, name).empty(), !reading.has_guarantee()) << name;
    if (!reading.has_guarantee()) {
      EXPECT_THAT(folded, HasSubstr(name));
    }
  }
}

TEST(Compare, ShowsAnApproximationAndNeverAsTheWinner) {
  const std::string row = Row(EpsctlAs("table", kCompare).out, "CLT");
  EXPECT_THAT(row, Not(HasSubstr("winner")));
  EXPECT_THAT(row, AnyOf(AllOf(HasSubstr("APPROXIMATION"), HasSubstr("not a bound")),
                         HasSubstr("no answer")));
}

TEST(Compare, HasEveryOutputFormat) {
  const v1::CompareAccountantsResponse json =
      FromJson<v1::CompareAccountantsResponse>(Epsctl(kCompare).out);
  EXPECT_NE(json.winner(), v1::Accountant::KIND_UNSPECIFIED);
  const std::vector<std::string> lines = Lines(EpsctlAs("jsonl", kCompare).out);
  ASSERT_THAT(lines, SizeIs(13));
  EXPECT_EQ(FromJson<v1::AccountantReading>(lines[12]).SerializeAsString(),
            json.readings(12).SerializeAsString());
  const std::vector<std::string> csv = Lines(EpsctlAs("csv", kCompare).out);
  ASSERT_THAT(csv, SizeIs(14));
  EXPECT_THAT(csv[0], StartsWith("accountant,epsilon upper,epsilon lower,kind,order,note,"));
  EXPECT_THAT(csv[1], StartsWith("BASIC,"));
}

TEST(Compare, NeedsADeltaAndAnEvent) {
  EXPECT_EQ(Epsctl({"compare", "--gaussian", "1"}).code, ExitCode::kUsage);
  const Outcome none = Epsctl({"compare", "--delta", "1e-5"});
  EXPECT_EQ(none.code, ExitCode::kUsage);
  EXPECT_THAT(none.err, HasSubstr("--gaussian"));
  const Outcome alone = Epsctl({"compare", "--delta", "1e-5", "--count", "5"});
  EXPECT_EQ(alone.code, ExitCode::kUsage);
  const Outcome bad = Epsctl({"compare", "--gaussian", "-1", "--delta", "1e-5"});
  EXPECT_EQ(bad.code, ExitCode::kUsage);
  EXPECT_THAT(bad.err,
              HasSubstr("events[0].event.gaussian.noiseMultiplier: got -1, want in [0, inf)"));
  EXPECT_THAT(Epsctl({"compare", "--gaussian", "1", "--delta", "2"}).err,
              HasSubstr("delta: got 2, want in (0, 1)"));
}

TEST(Compare, NeighborsChangeTheAnswer) {
  const auto zcdp = [](std::vector<std::string> flags) {
    std::vector<std::string> arguments = kCompare;
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome outcome = Epsctl(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
    return UpperOf(outcome.out, v1::Accountant::ZCDP);
  };
  const double usual = zcdp({});
  EXPECT_EQ(zcdp({"--relation", "add-or-remove-one"}), usual);
  EXPECT_EQ(zcdp({"--adjacency", "remove"}), usual);
  EXPECT_GT(zcdp({"--relation", "replace-one"}), 1.9 * usual) << "the shift is 2";
  EXPECT_EQ(zcdp({"--relation", "replace-one", "--sensitivity-relation", "replace-one"}), usual);
  EXPECT_GT(zcdp({"--group-size", "2"}), 1.9 * usual);
  EXPECT_EQ(Epsctl({"compare", "--gaussian", "1", "--delta", "1e-5", "--relation", "nobody"}).code,
            ExitCode::kUsage);
}

TEST(Compare, NobodyWinsWhereNothingIsPrivate) {
  const Outcome outcome = EpsctlAs(
      "table", {"compare", "--event", R"({"nonPrivate": {"reason": "x"}})", "--delta", "1e-5"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("inf"), HasSubstr("Nobody wins."), Not(HasSubstr("winner"))));
}

TEST(Compare, TakesNoEventWithAKeyTwice) {
  const Outcome outcome =
      EpsctlAs("table", {"compare", "--event",
                         R"({"gaussian": {"noiseMultiplier": 4, "noise_multiplier": 40}})",
                         "--delta", "1e-5"});
  EXPECT_EQ(outcome.code, ExitCode::kUsage) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("--event: not JSON at column"));
  EXPECT_THAT(outcome.err, HasSubstr("only once"));
}

TEST(Compare, MarksAnUnverifiedClaim) {
  const Outcome outcome =
      EpsctlAs("table", {"compare", "--event",
                         R"({"unverifiedClaim": {"epsilon": 1, "delta": 0, "citation": "c"}})",
                         "--delta", "1e-5"});
  EXPECT_THAT(Row(outcome.out, "BASIC"), HasSubstr("unverified claim"));
}

constexpr char kLine[] = R"({"count": 50, "event": {"gaussian": {"noiseMultiplier": 40}}})";

TEST(EventsFile, IsLinesOrAnArrayFromAFileOrStandardInput) {
  // Two halves of the history of kCompare.
  const double whole = UpperOf(Epsctl(kCompare).out, v1::Accountant::GAUSSIAN);
  const auto expect_whole = [whole](const Outcome& outcome) {
    ASSERT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
    EXPECT_NEAR(UpperOf(outcome.out, v1::Accountant::GAUSSIAN), whole, 1e-11);
  };
  const std::vector<std::string> piped = {"compare", "--events", "-", "--delta", "1e-5"};
  const std::string lines = std::string(kLine) + "\n\n" + kLine + "\n";
  expect_whole(Epsctl(piped, lines));
  expect_whole(Epsctl(piped, "[" + std::string(kLine) + ",\n" + kLine + "]\n"));

  const std::string path =
      testing::TempDir() + "/epsctl_events_" + std::to_string(getpid()) + ".jsonl";
  std::ofstream(path) << lines;
  expect_whole(Epsctl({"compare", "--events", path, "--delta", "1e-5"}));
  // Beside the event of the flags, which comes first: the one that is calibrated.
  std::ofstream(path) << kLine;
  expect_whole(Epsctl(
      {"compare", "--gaussian", "40", "--count", "50", "--events", path, "--delta", "1e-5"}));
  EXPECT_EQ(Calibrated({"--count", "--gaussian", "40", "--events", path, "--epsilon", "1",
                        "--delta", "1e-6"})
                .value(),
            89 - 50);
  std::remove(path.c_str());
}

TEST(EventsFile, NamesWhatIsWrong) {
  const auto message = [](const std::string& text) {
    const Outcome outcome = Epsctl({"compare", "--events", "-", "--delta", "1e-5"}, text);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << text;
    return outcome.err;
  };
  EXPECT_THAT(message(""), HasSubstr("got none"));
  EXPECT_THAT(message(std::string(kLine) + "\n{\"count\": 1, \"evnt\": {}}"),
              HasSubstr("--events -: line 2: evnt: unknown field"));
  EXPECT_THAT(message("{\"count\": 1"), HasSubstr("--events -: line 1: not JSON"));
  EXPECT_THAT(message(R"([{"count": 1, "event": {"gausian": {}}}])"),
              HasSubstr("--events -: events[0].event.gausian: unknown field"));
  EXPECT_THAT(message(R"([], "id": "x")"), HasSubstr("got more than an array"));
  EXPECT_THAT(message("[1 2]"), HasSubstr("not JSON at column 4"));
  EXPECT_THAT(message(R"({"event": {"gaussian": {"noiseMultiplier": 40}}})"),
              HasSubstr("events[0].count: got 0, want in [1"));
  EXPECT_THAT(Epsctl({"compare", "--events", "no-such-file", "--delta", "1e-5"}).err,
              HasSubstr("no-such-file"));
}

// Expected values: the closed form of the Gaussian mechanism [BW18], solved by bisection.
TEST(Calibrate, FindsTheNoiseMultiplier) {
  // For epsilon 1 at delta 1e-5 one release needs 3.73063163481593.
  for (const std::vector<std::string>& sought : std::vector<std::vector<std::string>>{
           {"--noise-multiplier"}, {"--noise-multiplier", "--gaussian", "7"}, {"--gaussian"}}) {
    std::vector<std::string> flags = sought;
    flags.insert(flags.end(), {"--epsilon", "1", "--delta", "1e-5"});
    const v1::ComputeResponse answer = Calibrated(flags);
    EXPECT_GE(answer.value(), 3.73063163481593);
    EXPECT_LE(answer.value(), 3.73063163481593 + 1e-7);
    EXPECT_LE(answer.upper(), 1);
  }
}

TEST(Calibrate, FindsTheCount) {
  const v1::ComputeResponse answer =
      Calibrated({"--count", "--gaussian", "40", "--epsilon", "1", "--delta", "1e-6"});
  EXPECT_EQ(answer.value(), 89);
  EXPECT_LE(answer.upper(), 1);
}

TEST(Calibrate, FindsTheSamplingProbability) {
  const v1::ComputeResponse answer =
      Calibrated({"--sampling-probability", "--gaussian", "1", "--count", "100", "--epsilon", "2",
                  "--delta", "1e-5", "--accountant", "renyi"});
  EXPECT_GT(answer.value(), 0.01);
  EXPECT_LT(answer.value(), 0.2);
  EXPECT_LE(answer.upper(), 2);
  EXPECT_GE(answer.upper(), 1.9999);
  EXPECT_EQ(answer.accountant(), v1::Accountant::RENYI);
}

TEST(Calibrate, FindsLaplaceNoiseForPureEpsilon) {
  // Ten releases of scale z spend 10 / z.
  const v1::ComputeResponse answer = Calibrated(
      {"--laplace", "--count", "10", "--epsilon", "1", "--delta", "0", "--accountant", "basic"});
  EXPECT_GE(answer.value(), 10);
  EXPECT_LE(answer.value(), 10 + 1e-6);
}

TEST(Calibrate, MeetsATargetOfMuOrOfRates) {
  // 100 releases of noise multiplier z are (10 / z)-GDP.
  const v1::ComputeResponse mu =
      Calibrated({"--noise-multiplier", "--count", "100", "--mu", "0.5"});
  EXPECT_GE(mu.value(), 20);
  EXPECT_LE(mu.value(), 20 + 1e-6);
  // Phi(Phi^-1(0.01) + mu) = 0.05 at mu = 0.68149424708937.
  const v1::ComputeResponse rates =
      Calibrated({"--noise-multiplier", "--count", "100", "--fpr", "0.01", "--tpr", "0.05"});
  EXPECT_GE(rates.value(), 14.6736381748);
  EXPECT_LE(rates.value(), 14.6736381748 + 1e-6);
}

TEST(Calibrate, ShowsDigitsOnTheSafeSide) {
  const std::vector<std::string> target = {"--epsilon", "1", "--delta", "1e-5"};
  std::vector<std::string> noise = {"calibrate", "--noise-multiplier"};
  noise.insert(noise.end(), target.begin(), target.end());
  const Outcome outcome = EpsctlAs("table", noise);
  const std::vector<std::string> first = Cells(Lines(outcome.out)[0]);
  ASSERT_THAT(first, SizeIs(3)) << outcome.out;
  EXPECT_EQ(first[0] + " " + first[1], "noise multiplier");
  EXPECT_GE(Number(first[2]), 3.73063163481593);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("epsilon there"), HasSubstr("theorem")));
}

TEST(Calibrate, HasOneThingToFindAndOneTarget) {
  const auto usage = [](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = flags;
    arguments.insert(arguments.begin(), "calibrate");
    const Outcome outcome = Epsctl(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << outcome.out;
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_THAT(usage({"--gaussian", "1", "--epsilon", "1", "--delta", "1e-5"}),
              HasSubstr("got 0 parameters to find"));
  EXPECT_THAT(usage({"--gaussian", "--count", "--epsilon", "1", "--delta", "1e-5"}),
              HasSubstr("got 2 parameters to find"));
  EXPECT_THAT(usage({"--gaussian"}), HasSubstr("got 0 targets"));
  EXPECT_THAT(usage({"--gaussian", "--mu", "1", "--epsilon", "1", "--delta", "0"}),
              HasSubstr("got 2 targets"));
  EXPECT_THAT(usage({"--gaussian", "--epsilon", "1"}), HasSubstr("want both"));
  EXPECT_THAT(usage({"--gaussian", "--fpr", "0.1"}), HasSubstr("want both"));
  EXPECT_THAT(usage({"--sampling-probability", "--event", R"({"gaussian":{"noiseMultiplier":1}})",
                     "--epsilon", "1", "--delta", "1e-5"}),
              HasSubstr("events[0].event: got an event without the parameter"));
}

TEST(Calibrate, OfNoSolutionIsAFailureAndNoRefusalOfABudget) {
  // One release already spends 2.
  const Outcome outcome =
      Epsctl({"calibrate", "--count", "--pure-dp", "2", "--epsilon", "1", "--delta", "0"});
  EXPECT_EQ(outcome.code, ExitCode::kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("query.calibrate: no value"));
}

TEST(Curve, PrintsTypeTwoErrorsRoundedDownAndRatesRoundedUp) {
  const std::vector<std::string> command = {"curve", "--gaussian", "1", "--at", "0.001,0.5"};
  const Outcome outcome = EpsctlAs("table", command);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("TYPE I ERROR"));
  const std::vector<std::string> half = Cells(Row(outcome.out, "0.5"));
  ASSERT_GE(half.size(), 4u) << outcome.out;
  // Phi(-1) = 0.158655253931457...: rounded down, up, and its complement up.
  EXPECT_EQ(half[1], "0.158655");
  EXPECT_EQ(half[2], "0.158656");
  EXPECT_EQ(half[3], "0.841345");
  const v1::GetTradeOffCurveResponse curve =
      FromJson<v1::GetTradeOffCurveResponse>(EpsctlAs("json", command).out);
  ASSERT_EQ(curve.points_size(), 2);
  EXPECT_EQ(curve.points(1).type_one_error(), 0.5);
  EXPECT_THAT(Lines(EpsctlAs("jsonl", command).out), SizeIs(2));
  EXPECT_THAT(EpsctlAs("csv", command).out,
              StartsWith("type I error,type II lower,type II upper,"));
}

TEST(Curve, OfAnApproximationHasARateAndSaysWhatItIs) {
  const Outcome outcome =
      EpsctlAs("table", {"curve", "--gaussian", "1", "--accountant", "clt", "--at", "0.5"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(Row(outcome.out, "0.5"), AllOf(HasSubstr("APPROXIMATION"), HasSubstr("0.84134")));
}

TEST(Curve, OfAProfilePrintsDeltaRoundedUp) {
  const Outcome outcome =
      EpsctlAs("table", {"curve", "--profile", "--gaussian", "1", "--at", "0,1"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  const std::vector<std::string> at_one = Cells(Row(outcome.out, "1"));
  ASSERT_GE(at_one.size(), 3u) << outcome.out;
  // 0.126936737506643...
  EXPECT_EQ(at_one[1], "0.126937");
  EXPECT_EQ(at_one[2], "0.126936");
}

TEST(Curve, HasUsualPointsAndRanges) {
  const auto points = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"curve", "--gaussian", "4"});
    const Outcome outcome = EpsctlAs("csv", flags);
    EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
    std::vector<std::string> lines = Lines(outcome.out);
    std::vector<std::string> at;
    for (size_t i = 1; i < lines.size(); ++i) {
      at.push_back(lines[i].substr(0, lines[i].find(',')));
    }
    return at;
  };
  const std::vector<std::string> usual = points({});
  ASSERT_THAT(usual, SizeIs(21));
  EXPECT_EQ(usual[0], "0");
  EXPECT_EQ(usual[3], "0.15");
  EXPECT_EQ(usual[20], "1");
  EXPECT_THAT(points({"--profile", "--to", "3", "--points", "4"}),
              testing::ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(points({"--logarithmic", "--points", "7"})[0], "1e-06");
  EXPECT_EQ(Epsctl({"curve", "--gaussian", "4", "--points", "1001"}).code, ExitCode::kUsage);
  EXPECT_THAT(Epsctl({"curve", "--gaussian", "4", "--at", "0.1", "--points", "3"}).err,
              HasSubstr("want one or the other"));
  EXPECT_THAT(Epsctl({"curve", "--gaussian", "4", "--at", "1.5"}).err,
              HasSubstr("typeOneErrors[0]: got 1.5, want in [0, 1]"));
}

TEST(Curve, OfAnAccountantThatCannotAnswerFailsWithItsReason) {
  const Outcome outcome = Epsctl({"curve", "--laplace", "1", "--accountant", "gaussian"});
  EXPECT_EQ(outcome.code, ExitCode::kFailed);
  EXPECT_THAT(outcome.err,
              AllOf(StartsWith("epsctl: "), HasSubstr("GAUSSIAN"), Not(HasSubstr("server"))));
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST(Attack, PrintsWhatAnAttackerCanDoAtMost) {
  const std::vector<std::string> command = {"attack",  "--gaussian", "1",          "--fpr", "0.5",
                                            "--prior", "0.5",        "--baseline", "0.1"};
  const Outcome outcome = EpsctlAs("csv", command);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_THAT(lines, SizeIs(6));
  EXPECT_THAT(lines[0], StartsWith("attack,at most,at least,regret,kind,"));
  const std::vector<v1::ComputeResponse> answers = [&] {
    std::vector<v1::ComputeResponse> all;
    for (const std::string& line : Lines(EpsctlAs("jsonl", command).out)) {
      all.push_back(FromJson<v1::ComputeResponse>(line));
    }
    return all;
  }();
  ASSERT_THAT(answers, SizeIs(5));
  EXPECT_EQ(answers[1].id(), "TPR at FPR 0.5");
  // 2 Phi(1/2) - 1, Phi(1), Phi(1/2), 1 - Phi(Phi^-1(.9) - 1).
  EXPECT_NEAR(answers[0].upper(), 0.382924922548026, 1e-9);
  EXPECT_NEAR(answers[1].upper(), 0.841344746068543, 1e-9);
  EXPECT_NEAR(answers[2].upper(), 0.691462461274013, 1e-9);
  EXPECT_NEAR(answers[3].upper(), 0.389143691645361, 1e-9);
  EXPECT_NEAR(answers[4].upper(), 1, 1e-9);
  EXPECT_NEAR(answers[4].regret(), 0, 1e-9);
  EXPECT_THAT(Epsctl({"attack", "--gaussian", "1", "--prior", "1"}).err,
              HasSubstr("query.bayesSuccessAt: got 1, want in (0, 1)"));
}

TEST(Attack, OfOneDirectionLeavesOutWhatIsOneNumberForBoth) {
  const Outcome outcome = Epsctl({"attack", "--gaussian", "1", "--adjacency", "add", "-o", "csv"});
  ASSERT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("TPR at FPR"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("prior")));
}

TEST(Calculator, HelpTeachesByExample) {
  EXPECT_THAT(Epsctl({"compare", "--help"}).out,
              AllOf(HasSubstr("epsctl compare --gaussian"), HasSubstr("--events"),
                    HasSubstr("--relation")));
  EXPECT_THAT(Epsctl({"calibrate", "--help"}).out,
              AllOf(HasSubstr("--noise-multiplier"), HasSubstr("--count [N]"), HasSubstr("--fpr")));
  EXPECT_THAT(Epsctl({"curve", "--help"}).out, AllOf(HasSubstr("--profile"), HasSubstr("--at")));
}

// What the help says works: every example of these commands.
TEST(Calculator, ExamplesOfTheHelpRun) {
  for (const char* command : {"compare", "calibrate", "curve", "attack"}) {
    int examples = 0;
    std::string pending;
    for (const std::string& line : Lines(Epsctl({command, "--help"}).out)) {
      const bool begins = line.starts_with(std::string("  epsctl ") + command);
      if (!begins && pending.empty()) continue;
      pending += line;
      if (pending.back() == '\\') {
        pending.pop_back();
        continue;
      }
      std::vector<std::string> arguments = Cells(pending);
      pending.clear();
      if (line.find("history.jsonl") != line.npos) continue;
      // That needs a server: examples_test.py has one.
      if (std::count(arguments.begin(), arguments.end(), "--budget") > 0) continue;
      const Outcome outcome = Epsctl({arguments.begin() + 1, arguments.end()});
      EXPECT_EQ(outcome.code, ExitCode::kOk)
          << absl::StrJoin(arguments, " ") << ": " << outcome.err;
      ++examples;
    }
    EXPECT_GE(examples, 2) << command;
  }
}

TEST(Audit, SetsTheClaimAgainstWhatWasCountedInWords) {
  const Outcome outcome = EpsctlAs(
      "table", {"audit", "--method", "two-arm-threshold", "--two-arm-counts", "930/1000,14/1000",
                "--delta", "1e-5", "--claimed-epsilon", "1", "--gaussian", "1"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Audited: epsilon is at least 3.66424 at delta 1e-05, at "
                              "confidence 0.95."),
                    HasSubstr("Claimed: epsilon 1. The audit CONTRADICTS the claim."),
                    HasSubstr("spends more than was charged")));
  const Outcome null = EpsctlAs("table", {"audit", "--method", "two-arm-gdp", "--two-arm-counts",
                                          "500/1000,500/1000", "--delta", "1e-5"});
  EXPECT_THAT(null.out, HasSubstr("nothing is shown"));
}

TEST(Audit, ReadsScoresAsCsvAndAsJsonLines) {
  std::string csv = "arm,score\n";
  std::string json;
  for (int i = 0; i < 100; ++i) {
    csv += "member," + std::to_string(i + 50) + "\nnon-member, " + std::to_string(i) + "\n";
    json += R"({"member": true, "score": )" + std::to_string(i + 50) +
            "}\n{\"score\": " + std::to_string(i) + ", \"member\": false}\n";
  }
  const std::vector<std::string> arguments = {"audit",    "--method", "one-run", "--guesses", "50",
                                              "--scores", "-",        "--delta", "1e-5"};
  const Outcome from_csv = EpsctlAs("json", arguments, csv);
  const Outcome from_json = EpsctlAs("json", arguments, json);
  ASSERT_EQ(from_csv.code, ExitCode::kOk) << from_csv.err;
  EXPECT_EQ(from_csv.out, from_json.out);
  const auto audit = FromJson<v1::AuditCanariesResponse>(from_csv.out);
  EXPECT_EQ(audit.one_run_counts().canaries(), 200);
  EXPECT_EQ(audit.one_run_counts().correct(), 50);
  EXPECT_GT(audit.epsilon_lower_bound().lower(), 2);
}

TEST(Audit, NamesTheLineAndTheFlagThatIsWrong) {
  const std::vector<std::string> arguments = {"audit", "--method", "one-run", "--scores",
                                              "-",     "--delta",  "1e-5"};
  const auto error = [&](const std::string& input) {
    const Outcome outcome = EpsctlAs("json", arguments, input);
    EXPECT_EQ(outcome.code, ExitCode::kUsage);
    return outcome.err;
  };
  EXPECT_THAT(error("member,1\nmembre,2\n"), HasSubstr("--scores -: line 2: got \"membre,2\""));
  EXPECT_THAT(error("member,x\n"), HasSubstr("line 1: got \"member,x\""));
  EXPECT_THAT(error("{\"member\": 1, \"score\": 2}\n"), HasSubstr("line 1: got"));
  EXPECT_THAT(error("member,1\nnon-member,nan\n"),
              HasSubstr("nonMemberScores[0]: got NaN, want a number"));
  EXPECT_THAT(error(""), HasSubstr("neither scores nor counts"));
  const Outcome counts =
      EpsctlAs("json", {"audit", "--method", "one-run", "--one-run-counts", "1/2", "--delta", "0"});
  EXPECT_EQ(counts.code, ExitCode::kUsage);
  EXPECT_THAT(counts.err, HasSubstr("--one-run-counts: got 1/2, want like 98/100/1000"));
}

}  // namespace
}  // namespace epsledger::cli
