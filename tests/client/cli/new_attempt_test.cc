// What a charge that opens its attempt, and a dry run, do before anything is changed.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

#include "tests/client/cli/verbs_on_a_server.h"

namespace epsledger::cli {
namespace {

using ::testing::HasSubstr;

class NewAttemptTest : public LedgerVerbsTest {};

TEST_F(NewAttemptTest, ADryRunChangesNothing) {
  const auto dry = [&](std::vector<std::string> arguments) {
    arguments.push_back("--dry-run");
    return Run(arguments);
  };
  const Outcome closed = dry({"budget", "close", "adult", "--reason", "why"});
  EXPECT_EQ(closed.code, ExitCode::kOk) << closed.err;
  EXPECT_THAT(closed.err, HasSubstr("--dry-run: the server only checks this"));
  EXPECT_EQ(
      dry({"session", "create", "adult/run-2", "--relation", "add-or-remove-one", "--no-own-cap"})
          .code,
      ExitCode::kOk);
  Want(ExitCode::kNotFound, {"session", "get", "adult/run-2"});
  // Nobody is fenced, and nothing is charged.
  const Outcome charged =
      dry({"charge", "create", "adult/run-1", "--open-attempt", "--pure-dp", "1"});
  EXPECT_EQ(charged.code, ExitCode::kOk) << charged.err;
  EXPECT_THAT(charged.err, HasSubstr("--dry-run: the server only checks this"));
  const auto first = As<v1::Charge>(charged.out);
  EXPECT_EQ(first.decision(), v1::Charge::ACCEPTED);
  EXPECT_THAT(first.name(), ::testing::StartsWith("budgets/adult/sessions/run-1/attempts/1/"));
  EXPECT_EQ(first.sequence(), 0);
  EXPECT_EQ(dry({"charge", "create", "adult/run-1", "--open-attempt", "--pure-dp", "200"}).code,
            ExitCode::kRefused);
  Want(ExitCode::kOk, {"charge", "create", "adult/run-1", "--open-attempt", "--pure-dp", "1"});
  EXPECT_EQ(dry({"charge", "create", "adult/run-1", "--attempt", "1", "--pure-dp", "2"}).code,
            ExitCode::kOk);
  EXPECT_EQ(dry({"charge", "create", "adult/run-1", "--attempt", "1", "--pure-dp", "200"}).code,
            ExitCode::kRefused);
  const Outcome audited = dry({"audit", "--method", "one-run", "--one-run-counts", "98/100/1000",
                               "--delta", "1e-5", "--record", "adult/run-1"});
  EXPECT_EQ(audited.code, ExitCode::kOk) << audited.err;
  EXPECT_THAT(audited.err, HasSubstr("would be recorded in budgets/adult/sessions/run-1"));
  // What the server cannot be asked is not done either.
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"lease", "acquire", "adult/run-1", "--attempt", "1", "--pure-dp", "1", "--count", "2"},
           {"lease", "acquire", "adult/run-1", "--open-attempt", "--pure-dp", "1"},
           {"token", "create", "--role", "viewer"}}) {
    const Outcome outcome = dry(command);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << command[0];
    EXPECT_THAT(outcome.err, HasSubstr("--dry-run: "));
  }
  const auto session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "adult/run-1"}));
  EXPECT_EQ(session.current_attempt(), 1);
  EXPECT_EQ(session.accepted_charge_count(), 1);
  EXPECT_EQ(session.refused_charge_count(), 0);
  const auto budget = As<v1::Budget>(Want(ExitCode::kOk, {"budget", "get", "adult"}));
  EXPECT_EQ(budget.state(), v1::Budget::ACTIVE);
  EXPECT_EQ(budget.cells(0).spent(), 1);
}

TEST_F(NewAttemptTest, ARefusedChargeFencesNobody) {
  // Nobody trains yet: the refusal is an entry of the ledger.
  Want(ExitCode::kRefused,
       {"charge", "create", "adult/run-1", "--open-attempt", "--pure-dp", "200"});
  auto session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "adult/run-1"}));
  EXPECT_EQ(session.current_attempt(), 1);
  EXPECT_EQ(session.refused_charge_count(), 1);
  const Outcome refused =
      Run({"charge", "create", "adult/run-1", "--open-attempt", "--pure-dp", "200"});
  EXPECT_EQ(refused.code, ExitCode::kRefused);
  EXPECT_THAT(refused.err, HasSubstr("no attempt was opened: attempt 1 goes on"));
  session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "adult/run-1"}));
  EXPECT_EQ(session.current_attempt(), 1);
  EXPECT_EQ(session.refused_charge_count(), 1);
  Want(ExitCode::kOk, {"charge", "create", "adult/run-1", "--open-attempt", "--pure-dp", "1"});
  session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "adult/run-1"}));
  EXPECT_EQ(session.current_attempt(), 2);
}

TEST_F(NewAttemptTest, AChargeThatAPolicyRefusesFencesNobody) {
  Want(ExitCode::kOk,
       {"budget", "create", "sampled", "--rho", "100", "--relation", "add-or-remove-one",
        "--privacy-unit", "person", "--allow-sampler", "poisson"});
  Want(ExitCode::kOk,
       {"session", "create", "sampled/s", "--relation", "add-or-remove-one", "--no-own-cap"});
  const auto charge = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"charge", "create", "sampled/s"});
    const std::vector<std::string> event = {"--gaussian", "10", "--sampling-probability", "0.1"};
    flags.insert(flags.end(), event.begin(), event.end());
    return Run(flags);
  };
  EXPECT_EQ(charge({"--open-attempt", "--sampler", "poisson"}).code, ExitCode::kOk);
  for (const std::vector<std::string>& declared :
       std::vector<std::vector<std::string>>{{"--sampler", "shuffled"}, {}}) {
    for (const bool is_dry : {true, false}) {
      std::vector<std::string> flags = {"--open-attempt", "--charge-id", "k"};
      flags.insert(flags.end(), declared.begin(), declared.end());
      if (is_dry) flags.push_back("--dry-run");
      const Outcome refused = charge(flags);
      EXPECT_EQ(refused.code, ExitCode::kRefused) << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("POLICY_VIOLATION"));
    }
  }
  // The process that trains goes on.
  EXPECT_EQ(charge({"--attempt", "1", "--charge-id", "k2"}).code, ExitCode::kOk);
  auto session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "sampled/s"}));
  EXPECT_EQ(session.current_attempt(), 1);
  EXPECT_EQ(session.refused_charge_count(), 0);
  // What the current attempt may not, the new one may.
  Want(ExitCode::kOk,
       {"session", "create", "sampled/t", "--relation", "add-or-remove-one", "--no-own-cap"});
  for (const char* sampler : {"shuffled", "poisson"}) {
    Run({"charge", "create", "sampled/t", "--open-attempt", "--sampler", sampler, "--gaussian",
         "10", "--sampling-probability", "0.1"});
  }
  session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "sampled/t"}));
  EXPECT_EQ(session.current_attempt(), 2);
  EXPECT_EQ(session.accepted_charge_count(), 1);
}

TEST_F(NewAttemptTest, AChargeThatOpensItsAttemptIsMadeOnce) {
  const std::vector<std::string> command = {"charge",      "create",  "adult/run-1",
                                            "--charge-id", "block-1", "--open-attempt",
                                            "--pure-dp",   "1"};
  Want(ExitCode::kOk, command);
  for (const bool is_dry : {false, true}) {
    std::vector<std::string> again = command;
    if (is_dry) again.push_back("--dry-run");
    const Outcome outcome = Run(again);
    EXPECT_EQ(outcome.code, ExitCode::kFailed) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("--charge-id: got block-1, which attempt 1 was charged for "
                                       "already. No attempt was opened, and nothing was charged"));
    EXPECT_EQ(outcome.out, "");
  }
  auto session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "adult/run-1"}));
  EXPECT_EQ(session.current_attempt(), 1);
  EXPECT_EQ(session.accepted_charge_count(), 1);
  // As the message says: this asks for the charge, and charges nothing more.
  Want(ExitCode::kOk, {"charge", "create", "adult/run-1", "--charge-id", "block-1", "--attempt",
                       "1", "--pure-dp", "1"});
  // A refused charge spent nothing: it may be tried again in a new attempt.
  Want(ExitCode::kRefused, {"charge", "create", "adult/run-1", "--charge-id", "block-2",
                            "--attempt", "1", "--pure-dp", "200"});
  Want(ExitCode::kOk, {"charge", "create", "adult/run-1", "--charge-id", "block-2",
                       "--open-attempt", "--pure-dp", "2"});
  session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "adult/run-1"}));
  EXPECT_EQ(session.current_attempt(), 2);
  EXPECT_EQ(session.accepted_charge_count(), 2);
}

}  // namespace
}  // namespace epsledger::cli
