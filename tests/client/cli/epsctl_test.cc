#include "client/cli/epsctl.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

class EpsctlTest : public ::testing::Test {
 protected:
  // On the server of this test, as in a pipe.
  Outcome Run(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"--server", ledger_.address()});
    return RunAsIs(arguments, input);
  }

  Outcome RunAsIs(const std::vector<std::string>& arguments, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{
        .in = in, .out = out, .err = err, .out_is_terminal = is_terminal_, .color = color_};
    const ExitCode code = RunEpsctl(arguments, terminal);
    return {code, out.str(), err.str()};
  }

  void CreateBudgetAndSession() {
    ASSERT_EQ(Run({"budget", "create", "adult", "--epsilon", "1", "--delta", "1e-5", "--relation",
                   "add-or-remove-one", "--privacy-unit", "person"})
                  .code,
              ExitCode::kOk);
    ASSERT_EQ(
        Run({"session", "create", "adult/run-1", "--relation", "add-or-remove-one", "--no-own-cap"})
            .code,
        ExitCode::kOk);
  }

  FakeLedger ledger_;
  bool is_terminal_ = false;
  bool color_ = false;
};

TEST_F(EpsctlTest, BudgetCreateSendsWhatTheFlagsSay) {
  const Outcome outcome =
      Run({"budget", "create", "adult", "--epsilon", "1", "--delta", "1e-5", "--filter",
           "renyi-one-order", "--filter-order", "12", "--relation", "replace-one", "--privacy-unit",
           "person", "--parent", "org", "--display-name", "Adult"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  ASSERT_EQ(ledger_.budget_requests().size(), 1);
  const v1::CreateBudgetRequest request = ledger_.budget_requests()[0];
  EXPECT_EQ(request.budget_id(), "adult");
  EXPECT_EQ(request.budget().parent(), "budgets/org");
  EXPECT_EQ(request.budget().cap().approximate_dp().epsilon(), 1);
  EXPECT_EQ(request.budget().cap().approximate_dp().delta(), 1e-5);
  EXPECT_EQ(request.budget().cap().approximate_dp().filter(),
            v1::ApproximateDpCap::RENYI_ONE_ORDER);
  EXPECT_EQ(request.budget().cap().approximate_dp().order(), 12);
  EXPECT_EQ(request.budget().neighboring_relation(), v1::NeighboringRelation::REPLACE_ONE);
  EXPECT_EQ(request.budget().privacy_unit(), "person");
  EXPECT_EQ(request.budget().display_name(), "Adult");
}

TEST_F(EpsctlTest, EveryCurrencyHasItsFlags) {
  const auto cap = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {
        "budget", "create", "b", "--relation", "add-or-remove-one", "--privacy-unit", "x"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(Run(arguments).code, ExitCode::kOk);
    return ledger_.budget_requests().back().budget().cap();
  };
  EXPECT_EQ(cap({"--pure-epsilon", "3"}).pure_epsilon().epsilon(), 3);
  EXPECT_EQ(cap({"--rho", "0.5"}).zcdp().rho(), 0.5);
  EXPECT_EQ(cap({"--mu", "0.25"}).gaussian_dp().mu(), 0.25);
  EXPECT_EQ(cap({"--renyi-order", "8", "--renyi-divergence", "2"}).renyi().order(), 8);
}

TEST_F(EpsctlTest, BudgetWithoutACapOrWithTwoIsAUsageError) {
  const auto create = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {
        "budget", "create", "b", "--relation", "add-or-remove-one", "--privacy-unit", "x"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Run(arguments);
  };
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {},
           {"--epsilon", "1"},
           {"--delta", "1e-5"},
           {"--epsilon", "1", "--delta", "1e-5", "--rho", "1"},
           {"--renyi-order", "8"},
           {"--filter", "no-such-filter", "--epsilon", "1", "--delta", "1e-5"},
           {"--epsilon", "much", "--delta", "1e-5"}}) {
    const Outcome outcome = create(flags);
    EXPECT_EQ(outcome.code, ExitCode::kUsage);
    EXPECT_THAT(outcome.err, StartsWith("epsctl: "));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_TRUE(ledger_.budget_requests().empty());
}

TEST_F(EpsctlTest, RelationAndPrivacyUnitHaveNoDefault) {
  EXPECT_EQ(Run({"budget", "create", "b", "--rho", "1", "--privacy-unit", "x"}).code,
            ExitCode::kUsage);
  EXPECT_EQ(Run({"budget", "create", "b", "--rho", "1", "--relation", "replace-one"}).code,
            ExitCode::kUsage);
}

TEST_F(EpsctlTest, OutputIsJsonInAPipeAndATableOnATerminal) {
  CreateBudgetAndSession();
  EXPECT_THAT(Run({"budget", "get", "adult"}).out, StartsWith("{"));
  EXPECT_THAT(Run({"budget", "list"}).out, StartsWith("["));
  is_terminal_ = true;
  EXPECT_THAT(Run({"budget", "list"}).out, StartsWith("NAME"));
  EXPECT_THAT(Run({"-o", "jsonl", "budget", "list"}).out, StartsWith("{\"name\":"));
  EXPECT_THAT(Run({"budget", "list", "-o", "csv"}).out, StartsWith("name,state,cap,"));
  EXPECT_EQ(Run({"-o", "xml", "budget", "list"}).code, ExitCode::kUsage);
}

TEST_F(EpsctlTest, JsonShowsZeros) {
  CreateBudgetAndSession();
  EXPECT_THAT(Run({"-o", "jsonl", "budget", "get", "adult"}).out,
              AllOf(HasSubstr("\"spentFraction\":0"), HasSubstr("\"spent\":0.333")));
}

TEST_F(EpsctlTest, ColorOnlyWhenAskedFor) {
  CreateBudgetAndSession();
  is_terminal_ = true;
  EXPECT_THAT(Run({"budget", "get", "adult"}).out, Not(HasSubstr("\033")));
  color_ = true;
  EXPECT_THAT(Run({"budget", "get", "adult"}).out, HasSubstr("\033[1m"));
  EXPECT_THAT(Run({"-o", "json", "budget", "get", "adult"}).out, Not(HasSubstr("\033")));
}

TEST_F(EpsctlTest, TablesRoundSpentUpAndRemainingDown) {
  CreateBudgetAndSession();
  is_terminal_ = true;
  // The fake ledger's cell: spent 1/3, remaining 2/3.
  EXPECT_THAT(Run({"budget", "get", "adult"}).out,
              AllOf(HasSubstr("0.333334"), HasSubstr("0.666666")));
  EXPECT_THAT(Run({"session", "guarantees", "adult/run-1", "--delta", "1e-5", "-o", "wide"}).out,
              AllOf(HasSubstr("0.123457"), HasSubstr("not in this version")));
}

TEST_F(EpsctlTest, ExplainsInWordsOrSaysWhatMayHaveBeenMeant) {
  EXPECT_THAT(RunAsIs({"explain", "budget", "exhausted", "-o", "table"}).out,
              AllOf(StartsWith("budget-exhausted (refusal)\n"), HasSubstr("\nWhat to do: "),
                    HasSubstr("\nSource: ")));
  EXPECT_THAT(RunAsIs({"explain", "-o", "csv"}).out, HasSubstr("\r\npld,accountant,"));
  const Outcome unknown = RunAsIs({"explain", "zdcp"});
  EXPECT_EQ(unknown.code, ExitCode::kUsage);
  EXPECT_THAT(unknown.out, IsEmpty());
  EXPECT_EQ(unknown.err, "epsctl: explain: got \"zdcp\", want perhaps zcdp\n");
}

TEST_F(EpsctlTest, HealthOfAServerThatDoesNotAnswerIsAFailure) {
  const Outcome outcome =
      RunAsIs({"--server", "127.0.0.1:1", "--timeout", "0.1", "server", "health"});
  EXPECT_EQ(outcome.code, ExitCode::kFailed);
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST_F(EpsctlTest, ListsFollowPageTokens) {
  for (const char* name : {"a", "b", "c"}) {
    Run({"budget", "create", name, "--rho", "1", "--relation", "replace-one", "--privacy-unit",
         "x"});
  }
  is_terminal_ = true;
  EXPECT_THAT(Run({"budget", "list"}).out,
              AllOf(HasSubstr("\na "), HasSubstr("\nb "), HasSubstr("\nc ")));
}

TEST_F(EpsctlTest, SessionNeedsAPlanOrACapOrNoOwnCap) {
  const auto create = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"session", "create", "adult/run-1", "--relation",
                                          "add-or-remove-one"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Run(arguments).code;
  };
  EXPECT_EQ(create({}), ExitCode::kUsage);
  EXPECT_EQ(create({"--gaussian", "40", "--count", "9"}), ExitCode::kUsage) << "no --plan-delta";
  EXPECT_TRUE(ledger_.session_requests().empty());

  EXPECT_EQ(create({"--gaussian", "40", "--count", "9", "--plan-delta", "1e-5"}), ExitCode::kOk);
  v1::Session session = ledger_.session_requests().back().session();
  EXPECT_EQ(session.mode(), v1::Session::DECLARED);
  EXPECT_EQ(session.plan().events(0).count(), 9);
  EXPECT_EQ(session.plan_delta(), 1e-5);

  EXPECT_EQ(create({"--epsilon", "0.5", "--delta", "1e-6"}), ExitCode::kOk);
  session = ledger_.session_requests().back().session();
  EXPECT_EQ(session.mode(), v1::Session::ADAPTIVE);
  EXPECT_EQ(session.own_cap().approximate_dp().epsilon(), 0.5);
  EXPECT_FALSE(session.has_plan());
}

TEST_F(EpsctlTest, ChargeAcceptedIsZeroAndRefusedIsThree) {
  CreateBudgetAndSession();
  ledger_.set_capacity(10);
  const Outcome accepted = Run({"charge", "create", "adult/run-1", "--open-attempt", "--gaussian",
                                "1.1", "--sampling-probability", "0.01", "--count", "8"});
  EXPECT_EQ(accepted.code, ExitCode::kOk) << accepted.err;
  EXPECT_THAT(accepted.out, HasSubstr("ACCEPTED"));
  const v1::ChargeRequest request = ledger_.charge_requests()[0];
  EXPECT_EQ(request.event().poisson_sampled().sampling_probability(), 0.01);
  EXPECT_EQ(request.event().poisson_sampled().event().gaussian().noise_multiplier(), 1.1);
  EXPECT_EQ(request.count(), 8);

  const Outcome refused = Run({"charge", "create", "adult/run-1", "--attempt", "1", "--event",
                               R"({"gaussian": {"noiseMultiplier": 1}})", "--count", "3"});
  EXPECT_EQ(refused.code, ExitCode::kRefused);
  EXPECT_THAT(refused.out, HasSubstr("REFUSED"));
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("BUDGET_EXHAUSTED by budgets/adult"),
                    HasSubstr("cap 10, spent 8, requested 3"), HasSubstr("at most 2")));
  EXPECT_EQ(ledger_.spent(), 8);
}

TEST_F(EpsctlTest, ChargeSaysUnderWhichAttempt) {
  CreateBudgetAndSession();
  EXPECT_EQ(Run({"charge", "create", "adult/run-1", "--gaussian", "1"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"charge", "create", "adult/run-1", "--gaussian", "1", "--attempt", "1",
                 "--open-attempt"})
                .code,
            ExitCode::kUsage);
  EXPECT_TRUE(ledger_.charge_requests().empty());
}

TEST_F(EpsctlTest, ChargeIdMakesACommandRepeatable) {
  CreateBudgetAndSession();
  const std::vector<std::string> command = {"charge",     "create", "adult/run-1", "--attempt", "1",
                                            "--gaussian", "1",      "--charge-id", "by-hand-1"};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(command).code, ExitCode::kOk);
  EXPECT_EQ(ledger_.spent(), 1);
  std::vector<std::string> other(command.begin(), command.end() - 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(other).code, ExitCode::kOk);
  EXPECT_EQ(ledger_.spent(), 4) << "without a charge id each command is a charge of its own";
}

TEST_F(EpsctlTest, UnknownOutcomeIsFourAndSaysHowToAskAgain) {
  CreateBudgetAndSession();
  ledger_.Script({Fault::kCommitThenInternal});
  const Outcome unknown = Run({"charge", "create", "adult/run-1", "--attempt", "1", "--charge-id",
                               "c1", "--gaussian", "1"});
  EXPECT_EQ(unknown.code, ExitCode::kOutcomeUnknown);
  EXPECT_THAT(unknown.err,
              AllOf(HasSubstr("counts as spent"), HasSubstr("--attempt 1 --charge-id c1")));
  EXPECT_THAT(unknown.out, IsEmpty());
}

TEST_F(EpsctlTest, LostAnswerIsRetriedWithTheSameKey) {
  CreateBudgetAndSession();
  ledger_.Script({Fault::kCommitThenUnavailable});
  EXPECT_EQ(Run({"charge", "create", "adult/run-1", "--attempt", "1", "--gaussian", "1"}).code,
            ExitCode::kOk);
  ASSERT_EQ(ledger_.charge_requests().size(), 2);
  EXPECT_EQ(ledger_.charge_requests()[0].charge_id(), ledger_.charge_requests()[1].charge_id());
  EXPECT_EQ(ledger_.spent(), 1);
}

TEST_F(EpsctlTest, PreviewChargesNothing) {
  CreateBudgetAndSession();
  ledger_.set_capacity(5);
  EXPECT_EQ(Run({"charge", "preview", "adult/run-1", "--gaussian", "1", "--count", "5"}).code,
            ExitCode::kOk);
  const Outcome refused =
      Run({"charge", "preview", "adult/run-1", "--gaussian", "1", "--count", "6"});
  EXPECT_EQ(refused.code, ExitCode::kRefused);
  EXPECT_THAT(refused.out, HasSubstr("\"stepsThatFit\": \"5\""));
  EXPECT_THAT(refused.err, HasSubstr("would be refused"));
  EXPECT_EQ(ledger_.spent(), 0);
}

TEST_F(EpsctlTest, ChargesAreShownByName) {
  CreateBudgetAndSession();
  Run({"charge", "create", "adult/run-1", "--attempt", "1", "--gaussian", "1.5", "--charge-id",
       "c1"});
  is_terminal_ = true;
  EXPECT_THAT(Run({"charge", "get", "adult/run-1/1/c1"}).out,
              AllOf(HasSubstr("gaussian 1.5"), HasSubstr("ACCEPTED")));
  EXPECT_THAT(Run({"charge", "list", "budgets/adult/sessions/run-1"}).out,
              HasSubstr("adult/run-1/1/c1"));
}

TEST_F(EpsctlTest, WhatDoesNotExistIsFive) {
  EXPECT_EQ(Run({"budget", "get", "none"}).code, ExitCode::kNotFound);
  EXPECT_EQ(Run({"session", "get", "none/run-1"}).code, ExitCode::kNotFound);
  EXPECT_EQ(Run({"charge", "get", "none/run-1/1/c"}).code, ExitCode::kNotFound);
}

TEST_F(EpsctlTest, NamesOfTheWrongShapeAreUsageErrors) {
  for (const char* name :
       {"", "adult", "adult/run-1/1", "sessions/adult/budgets/run-1", "adult/"}) {
    const Outcome outcome = Run({"session", "get", name});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << name;
  }
}

TEST_F(EpsctlTest, PlaintextToAnotherMachineIsAUsageError) {
  const Outcome outcome = RunAsIs({"--server", "192.0.2.1:50551", "budget", "list"});
  EXPECT_EQ(outcome.code, ExitCode::kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("TLS"));
}

TEST_F(EpsctlTest, GlobalFlagsComeFromTheEnvironmentToo) {
  CreateBudgetAndSession();
  setenv("EPSLEDGER_SERVER", ledger_.address().c_str(), 1);
  setenv("EPSLEDGER_OUTPUT", "csv", 1);
  const Outcome outcome = RunAsIs({"budget", "list"});
  const Outcome flag_wins = RunAsIs({"-o", "jsonl", "budget", "list"});
  unsetenv("EPSLEDGER_SERVER");
  unsetenv("EPSLEDGER_OUTPUT");
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("name,"));
  EXPECT_THAT(flag_wins.out, StartsWith("{"));
}

TEST_F(EpsctlTest, HelpTeachesAndSucceeds) {
  const Outcome top = RunAsIs({"--help"});
  EXPECT_EQ(top.code, ExitCode::kOk);
  EXPECT_THAT(top.out, AllOf(HasSubstr("Exit codes: 0"), HasSubstr("epsctl budget create adult"),
                             HasSubstr("EPSLEDGER_SERVER")));
  EXPECT_THAT(RunAsIs({"budget", "create", "--help"}).out,
              AllOf(HasSubstr("--epsilon"), HasSubstr("Examples:")));
  EXPECT_THAT(RunAsIs({"compute", "--help"}).out, HasSubstr("epsilonAtDelta"));
}

TEST_F(EpsctlTest, NoCommandOrAWrongOneIsAUsageError) {
  EXPECT_EQ(RunAsIs({}).code, ExitCode::kUsage);
  EXPECT_EQ(RunAsIs({"budget"}).code, ExitCode::kUsage);
  EXPECT_EQ(RunAsIs({"budgets", "list"}).code, ExitCode::kUsage);
  EXPECT_EQ(RunAsIs({"budget", "list", "--no-such-flag"}).code, ExitCode::kUsage);
}

TEST_F(EpsctlTest, AWrongWordIsNamedWithWhatMayHaveBeenMeant) {
  const auto error = [this](const std::vector<std::string>& arguments) {
    const Outcome outcome = RunAsIs(arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << outcome.out;
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_THAT(error({"bugdet", "list"}),
              StartsWith("epsctl: command: got \"bugdet\", want perhaps budget. `epsctl --help`"));
  EXPECT_THAT(error({"budget", "lst"}),
              StartsWith("epsctl: budget: got \"lst\", want perhaps list. `epsctl budget --help`"));
  // The word after an option is its value, and no command.
  EXPECT_THAT(error({"-o", "json", "--server", "x", "sesion", "list"}),
              HasSubstr("got \"sesion\", want perhaps session"));
  EXPECT_THAT(error({"tree", "adult"}), HasSubstr("want a noun before it: budget."));
  EXPECT_THAT(error({"server", "quite-another-word"}), HasSubstr("want one of info, health, who"));
  EXPECT_THAT(error({"budget", "list", "--outptu", "json"}),
              StartsWith("epsctl: list: got --outptu, want perhaps --output."));
  EXPECT_THAT(error({"budget", "list", "--quite-another-option=3"}),
              HasSubstr("got --quite-another-option, which is not one of its options"));
  EXPECT_THAT(error({"budget", "lst", "--help"}), HasSubstr("want perhaps list"));
}

TEST_F(EpsctlTest, NoControlCharacterOfAnArgumentReachesTheTerminal) {
  const std::string evil = "x\033[31m\r\302\233y";
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {evil, "b"},
           {"budget", evil},
           {"budget", "get", "people", "--" + evil},
           {"budget", "get", evil + "/b"},
           {"explain", evil},
           {"compare", "--delta", "1e-5", "--events", "/no-such-folder/" + evil},
           {"audit", "--method", "one-run", "--delta", "1e-5", "--scores", "/no-such/" + evil},
           {"-o", evil, "budget", "list"},
           {"--context", evil, "budget", "list"},
           {"--server", evil, "budget", "list"},
           {"statement", "verify", "/no-such-folder/" + evil, "--public-key", "00"},
           {"charge", "create", "adult/run-1", "--attempt", evil, "--gaussian", "1"}}) {
    const Outcome outcome = RunAsIs(command);
    EXPECT_NE(outcome.code, ExitCode::kOk) << command[0];
    EXPECT_THAT(outcome.err, StartsWith("epsctl: "));
    EXPECT_EQ(outcome.err.find_first_of("\033\r"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("\302\233"), std::string::npos) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("x?[31m")) << command[0];
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(EpsctlTest, ADirectoryIsNoFile) {
  CreateBudgetAndSession();
  const std::string folder = ::testing::TempDir();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"budget", "create", "b", "--file", folder},
           {"session", "create", "adult/run-2", "--file", folder},
           {"compare", "--delta", "1e-5", "--events", folder},
           {"calibrate", "--count", "--events", folder, "--epsilon", "1", "--delta", "1e-5"},
           {"curve", "--events", folder},
           {"attack", "--events", folder},
           {"audit", "--method", "one-run", "--delta", "1e-5", "--scores", folder},
           {"audit", "--method", "one-run", "--delta", "1e-5", "--one-run-counts", "98/100/1000",
            "--events", folder},
           {"statement", "verify", folder, "--public-key", std::string(64, '0')},
           {"statement", "check", folder},
           {"statement", "export", folder, "--format", "nist-800-226", "--public-key",
            std::string(64, '0')}}) {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << command[0];
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(folder), HasSubstr("Is a directory")));
  }
  for (const char* option : {"--tls-ca", "--token-file"}) {
    const Outcome outcome = Run({option, folder, "budget", "list"});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << option;
    EXPECT_THAT(outcome.err, HasSubstr(folder));
  }
}

TEST_F(EpsctlTest, AFileWithoutEndIsNotReadToItsEnd) {
  CreateBudgetAndSession();
  const Outcome outcome = Run({"budget", "create", "b", "--file", "/dev/zero"});
  EXPECT_EQ(outcome.code, ExitCode::kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("--file: got more than 256 MiB from /dev/zero, want less"));
}

TEST_F(EpsctlTest, ANounAloneShowsItsVerbs) {
  const Outcome budget = RunAsIs({"-o", "json", "budget"});
  EXPECT_EQ(budget.code, ExitCode::kUsage);
  EXPECT_THAT(budget.out, IsEmpty());
  EXPECT_THAT(budget.err, AllOf(HasSubstr("Usage: epsctl budget [OPTIONS] SUBCOMMAND\n"),
                                HasSubstr("\n  create "), HasSubstr("\n  guarantees "),
                                HasSubstr("epsctl: got `epsctl budget` alone")));
  EXPECT_THAT(RunAsIs({}).err, AllOf(HasSubstr("Usage: epsctl [OPTIONS] SUBCOMMAND\n"),
                                     HasSubstr("\n  budget "), HasSubstr("A first tour:")));
}

TEST_F(EpsctlTest, HelpIsAWordToo) {
  for (const auto& [words, options] :
       std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{"help"}, {"--help"}},
           {{"help", "budget"}, {"budget", "--help"}},
           {{"budget", "help"}, {"budget", "--help"}},
           {{"help", "budget", "get"}, {"budget", "get", "--help"}},
           {{"budget", "help", "get"}, {"budget", "get", "-h"}}}) {
    const Outcome outcome = RunAsIs(words);
    EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
    EXPECT_THAT(outcome.out, Not(IsEmpty()));
    EXPECT_EQ(outcome.out, RunAsIs(options).out);
  }
  EXPECT_THAT(RunAsIs({"help", "budget", "lst"}).err, HasSubstr("want perhaps list"));
  EXPECT_THAT(RunAsIs({"explain", "help"}).err, StartsWith("epsctl: explain: got \"help\""));
}

TEST_F(EpsctlTest, TheLastOfAGlobalOptionWins) {
  CreateBudgetAndSession();
  EXPECT_THAT(Run({"-o", "json", "budget", "list", "-o", "csv"}).out, StartsWith("name,"));
  EXPECT_THAT(Run({"-o", "csv", "-o", "jsonl", "budget", "list"}).out, StartsWith("{"));
  const Outcome nowhere = Run({"--server", "127.0.0.1", "budget", "list", "--server", "bad"});
  EXPECT_THAT(nowhere.err, HasSubstr("bad"));
}

TEST_F(EpsctlTest, TimeoutsAreSecondsOrHaveAUnit) {
  CreateBudgetAndSession();
  for (const char* timeout : {"30", "0.5", "3s", "3000ms", "1m30s", "24h"}) {
    EXPECT_EQ(Run({"--timeout", timeout, "budget", "list"}).code, ExitCode::kOk) << timeout;
  }
  for (const char* timeout : {"3 parsecs", "s", "0s", "25h", "inf", "nan", "-1s"}) {
    const Outcome outcome = Run({"--timeout", timeout, "budget", "list"});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << timeout;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--timeout: got "), HasSubstr("seconds"))) << timeout;
  }
}

TEST_F(EpsctlTest, VersionNeedsNoServer) {
  const Outcome option = RunAsIs({"--version"});
  EXPECT_EQ(option.code, ExitCode::kOk);
  EXPECT_THAT(option.out, StartsWith("epsctl "));
  EXPECT_THAT(RunAsIs({"version"}).out, HasSubstr("\"version\""));
  is_terminal_ = true;
  EXPECT_THAT(RunAsIs({"version"}).out, StartsWith("epsctl "));
}

constexpr char kRequest[] =
    R"({"id": "a1", "accountant": "ZCDP", "events": [{"count": 100, "event": {"gaussian": )"
    R"({"noiseMultiplier": 40}}}], "query": {"epsilonAtDelta": 1e-5}})";

TEST_F(EpsctlTest, ComputeAnswersEachLineInOrder) {
  const Outcome outcome =
      RunAsIs({"compute"}, std::string(kRequest) + "\n\n" + std::string(kRequest) + "\n");
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.out;
  std::istringstream lines(outcome.out);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    ++count;
    EXPECT_THAT(
        line, AllOf(HasSubstr("\"id\":\"a1\""), HasSubstr("\"upper\":"), HasSubstr("UPPER_BOUND")));
  }
  EXPECT_EQ(count, 2);
}

TEST_F(EpsctlTest, ComputeGoesOnAfterABadLineAndEndsWithOne) {
  const Outcome outcome =
      RunAsIs({"compute"}, "{\"id\": \"bad\", \"accountant\": \"NOBODY\"}\nnot json\n" +
                               std::string(kRequest) + "\n");
  EXPECT_EQ(outcome.code, ExitCode::kFailed);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"id\":\"bad\""), HasSubstr("INVALID_ARGUMENT"),
                                 HasSubstr("\"id\":\"a1\"")));
}

TEST_F(EpsctlTest, ComputeOfNothingIsNothing) {
  const Outcome outcome = RunAsIs({"compute"}, "");
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, IsEmpty());
}

}  // namespace
}  // namespace epsledger::cli
