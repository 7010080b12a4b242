// The verbs that change and watch a ledger, against the real server.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/client/cli/verbs_on_a_server.h"

namespace epsledger::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(LedgerVerbsTest, CreateSendsEverythingThatABudgetAndASessionHave) {
  const auto budget = As<v1::Budget>(Want(ExitCode::kOk, {"budget", "get", "adult"}));
  EXPECT_EQ(budget.labels().at("team"), "vision");
  EXPECT_EQ(budget.labels().size(), 2u);
  EXPECT_EQ(budget.alert_thresholds_size(), 2);
  EXPECT_EQ(budget.partition().function(), "hash(id) mod 4");
  const auto session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "adult/run-1"}));
  EXPECT_EQ(session.group(), "sweep");
  EXPECT_EQ(session.claim().source(), "Theorem 3");
  const auto strict = As<v1::Budget>(
      Want(ExitCode::kOk,
           {"budget", "create", "strict", "--curve-point", "0.5:1e-3", "--curve-point", "1:1e-5",
            "--relation", "add-or-remove-one", "--privacy-unit", "person", "--allow-sampler",
            "poisson", "--allow-sampler", "full-batch", "--require-provenance",
            "--allow-normalizer", "public-constant", "--refuse-known-faults"}));
  EXPECT_EQ(strict.cap().trade_off_curve().points_size(), 2);
  EXPECT_EQ(strict.policy().allowed_samplers_size(), 2);
  EXPECT_TRUE(strict.policy().provenance_required());
  ASSERT_EQ(strict.policy().allowed_normalizers_size(), 1);
  EXPECT_EQ(strict.policy().allowed_normalizers(0), v1::Provenance::PUBLIC_CONSTANT);
  EXPECT_TRUE(strict.policy().known_faults_refused());
  EXPECT_THAT(Want(ExitCode::kOk, {"policy", "get", "strict", "-o", "csv"}),
              testing::AllOf(HasSubstr("PUBLIC_CONSTANT"), HasSubstr("known faults refused")));
}

TEST_F(LedgerVerbsTest, RunsAsPublishedAreShownAsSuchWithTheirAudits) {
  EXPECT_TRUE(As<v1::Budget>(Want(ExitCode::kOk,
                                  {"budget", "create", "published", "--no-guarantee", "--relation",
                                   "add-or-remove-one", "--privacy-unit", "person"}))
                  .cap()
                  .has_no_guarantee());
  Want(ExitCode::kOk, {"session", "create", "published/run", "--relation", "add-or-remove-one",
                       "--no-own-cap", "--claim", "counterexample-known", "--claimed-epsilon", "1",
                       "--claimed-delta", "1e-5", "--claim-source", "Theorem 3.3"});
  Want(ExitCode::kRefused,
       {"charge", "create", "published/run", "--open-attempt", "--gaussian", "40"});
  Want(ExitCode::kOk, {"charge", "create", "published/run", "--open-attempt", "--event",
                       R"({"nonPrivate": {"reason": "as published"}})"});
  Want(ExitCode::kOk,
       {"audit", "--method", "two-arm-threshold", "--two-arm-counts", "930/1000,14/1000", "--delta",
        "1e-5", "--record", "published/run", "--source", "A1, step size"});
  const auto session = As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "published/run"}));
  ASSERT_EQ(session.audits_size(), 1);
  EXPECT_EQ(session.audits(0).trials(), 2000);
  EXPECT_TRUE(session.audits(0).exceeds_claim());
  is_terminal_ = true;
  const std::string shown = Want(ExitCode::kOk, {"session", "get", "published/run"});
  EXPECT_THAT(shown,
              HasSubstr("as published; claimed guarantee not proven (counterexample_known)"));
  EXPECT_THAT(shown, HasSubstr("TWO_ARM_THRESHOLD"));
  EXPECT_THAT(shown, HasSubstr("A1, step size"));
  const std::string statement =
      Want(ExitCode::kOk, {"statement", "get", "published/run", "--delta", "1e-5"});
  EXPECT_THAT(statement, HasSubstr("none is proven"));
  EXPECT_THAT(statement, HasSubstr("An audit exceeds the claim"));
  Want(ExitCode::kNotFound, {"audit", "--method", "one-run", "--one-run-counts", "9/10/10",
                             "--delta", "0", "--record", "published/nobody"});
}

TEST_F(LedgerVerbsTest, BudgetsFreezeThawAndClose) {
  EXPECT_EQ(
      As<v1::Budget>(Want(ExitCode::kOk, {"budget", "freeze", "adult", "--reason", "why"})).state(),
      v1::Budget::FROZEN);
  Want(ExitCode::kRefused, {"charge", "create", "adult/run-1", "--open-attempt", "--pure-dp", "1"});
  EXPECT_EQ(
      As<v1::Budget>(Want(ExitCode::kOk, {"budget", "thaw", "adult", "--reason", "why"})).state(),
      v1::Budget::ACTIVE);
  Want(ExitCode::kUsage, {"budget", "close", "adult"});
  EXPECT_EQ(
      As<v1::Budget>(Want(ExitCode::kOk, {"budget", "close", "adult", "--reason", "why", "--yes"}))
          .state_reason(),
      "why");
  Want(ExitCode::kNotFound, {"budget", "freeze", "none", "--reason", "why"});
}

TEST_F(LedgerVerbsTest, RefusalsOfABudgetAreListedWithTheirReasons) {
  EXPECT_EQ(Want(ExitCode::kOk, {"budget", "refusals", "adult", "-o", "jsonl"}), "");
  Want(ExitCode::kOk,
       {"charge", "create", "adult/run-1", "--open-attempt", "--charge-id", "a", "--pure-dp", "1"});
  Want(ExitCode::kRefused, {"charge", "create", "adult/run-1", "--attempt", "1", "--charge-id", "b",
                            "--pure-dp", "1", "--count", "200"});
  const std::string rows = Want(ExitCode::kOk, {"budget", "refusals", "adult", "-o", "csv"});
  EXPECT_THAT(rows, HasSubstr("200 x "));
  EXPECT_THAT(rows, HasSubstr("BUDGET_EXHAUSTED"));
  EXPECT_EQ(Run({"budget", "refusals", "nobody"}).code, ExitCode::kNotFound);
}

TEST_F(LedgerVerbsTest, SpendingIsListedWithTheMostFirst) {
  const std::vector<std::string> spending = {"budget", "spending", "--days", "7", "-o", "csv"};
  EXPECT_THAT(Want(ExitCode::kOk, spending), HasSubstr("never"));
  Want(ExitCode::kOk,
       {"charge", "create", "adult/run-1", "--open-attempt", "--charge-id", "a", "--pure-dp", "1"});
  const std::string rows = Want(ExitCode::kOk, spending);
  EXPECT_THAT(rows, HasSubstr("name,spent in 7 days,a day,spent,last spent\r\nbudgets/adult,"));
  EXPECT_THAT(rows, Not(HasSubstr("never")));
  Want(ExitCode::kUsage, {"budget", "spending", "--days", "0"});
}

TEST_F(LedgerVerbsTest, PolicyTellsTheRulesOfABudgetAndOfThoseAbove) {
  const auto create = [&](const std::string& name, std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"budget",     "create",      name,
                                          "--relation", "replace-one", "--privacy-unit",
                                          "person",     "--rho",       "1"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    Want(ExitCode::kOk, arguments);
  };
  create("above", {"--require-provenance"});
  create("below",
         {"--parent", "above", "--allow-sampler", "poisson", "--allow-sampler", "full-batch"});
  EXPECT_EQ(
      Want(ExitCode::kOk, {"policy", "get", "below", "-o", "csv"}),
      "budget,rule,value,means\r\n"
      "budgets/below,allowed samplers,\"POISSON, FULL_BATCH\",sampled events only from attempts "
      "that declare one of these samplers\r\n"
      "budgets/above,provenance required,yes,\"attempts must declare sampler, clip norm, "
      "library and version\"\r\n");
  EXPECT_EQ(Want(ExitCode::kOk, {"policy", "get", "adult"}), "[]\n");
  EXPECT_THAT(Want(ExitCode::kOk, {"policy", "get", "adult", "-o", "table"}),
              HasSubstr("No policy at budgets/adult or above"));
  EXPECT_EQ(Want(ExitCode::kOk, {"policy", "list", "-o", "jsonl"}),
            R"({"budget":"budgets/above","rule":"provenance required","value":"yes","means":)"
            R"("attempts must declare sampler, clip norm, library and version"})"
            "\n"
            R"({"budget":"budgets/below","rule":"allowed samplers","value":"POISSON, FULL_BATCH",)"
            R"("means":"sampled events only from attempts that declare one of these samplers"})"
            "\n");
  Want(ExitCode::kNotFound, {"policy", "get", "none"});
}

TEST_F(LedgerVerbsTest, ServerTellsWhatItIsAndWhoCalls) {
  const auto info = As<v1::ServerInfo>(Want(ExitCode::kOk, {"server", "info"}));
  EXPECT_EQ(info.budget_count(), 1);
  EXPECT_EQ(Want(ExitCode::kOk, {"server", "health", "-o", "jsonl"}),
            R"({"serving":"yes","reason":""})"
            "\n");
  EXPECT_EQ(As<v1::Caller>(Want(ExitCode::kOk, {"server", "whoami"})).role(), v1::Role::ADMIN);
}

TEST_F(LedgerVerbsTest, BudgetsAreUpdatedSupersededAndShownAsATree) {
  const auto updated =
      As<v1::Budget>(Want(ExitCode::kOk, {"budget", "update", "adult", "--label", "team=audio"}));
  EXPECT_EQ(updated.labels().size(), 1u);
  EXPECT_EQ(updated.alert_thresholds_size(), 2);
  Want(ExitCode::kUsage, {"budget", "update", "adult"});
  Want(ExitCode::kUsage, {"budget", "update", "adult", "--label", "team"});
  const auto successor =
      As<v1::Budget>(Want(ExitCode::kOk, {"budget", "supersede", "adult", "adult-2",
                                          "--pure-epsilon", "200", "--reason", "why", "--yes"}));
  EXPECT_EQ(successor.supersedes(), "budgets/adult");
  Want(ExitCode::kUsage, {"budget", "supersede", "adult-2", "adult-3", "--reason", "why"});
  EXPECT_THAT(Want(ExitCode::kOk, {"budget", "tree", "adult", "-o", "csv"}),
              HasSubstr("budgets/adult,SUPERSEDED"));
  EXPECT_THAT(Want(ExitCode::kOk, {"budget", "guarantees", "adult", "--delta", "1e-5", "--group",
                                   "sweep", "-o", "table"}),
              HasSubstr("BEST"));
}

TEST_F(LedgerVerbsTest, SessionsTellWhatTheySpentAndClose) {
  Want(ExitCode::kOk, {"budget", "create", "digits", "--rho", "1", "--relation",
                       "add-or-remove-one", "--privacy-unit", "person"});
  Want(ExitCode::kOk,
       {"session", "create", "digits/run-1", "--relation", "add-or-remove-one", "--no-own-cap"});
  Want(ExitCode::kOk,
       {"charge", "create", "digits/run-1", "--open-attempt", "--sampler", "poisson", "--clip-norm",
        "1", "--normalizer", "sampled-batch-size", "--gaussian", "40", "--count", "3"});
  EXPECT_EQ(As<v1::Session>(Want(ExitCode::kOk, {"session", "get", "digits/run-1"}))
                .provenance()
                .normalizer(),
            v1::Provenance::SAMPLED_BATCH_SIZE);
  EXPECT_THAT(Want(ExitCode::kOk, {"session", "history", "digits/run-1", "-o", "csv"}),
              HasSubstr("3,gaussian 40"));
  EXPECT_THAT(Want(ExitCode::kOk, {"session", "profile", "digits/run-1", "--at", "0.5,1"}),
              HasSubstr("\"epsilon\": 0.5"));
  EXPECT_THAT(Want(ExitCode::kOk, {"session", "trade-off", "digits/run-1", "--at", "0.1"}),
              HasSubstr("typeTwoError"));
  EXPECT_EQ(As<v1::Session>(Want(ExitCode::kOk,
                                 {"session", "close", "digits/run-1", "--reason", "done", "--yes"}))
                .state(),
            v1::Session::CLOSED);
}

TEST_F(LedgerVerbsTest, LeasesAreAcquiredAndSettled) {
  const auto lease =
      As<v1::Lease>(Want(ExitCode::kOk, {"lease", "acquire", "adult/run-1", "--open-attempt",
                                         "--lease-id", "l", "--pure-dp", "1", "--count", "10"}));
  EXPECT_EQ(lease.granted_count(), 10);
  const auto settled =
      As<v1::Lease>(Want(ExitCode::kOk, {"lease", "settle", "adult/run-1/1/l", "--used", "7"}));
  EXPECT_EQ(settled.wasted_count(), 3);
  Want(ExitCode::kFailed, {"lease", "settle", "adult/run-1/1/l", "--used", "8"});
  Want(ExitCode::kRefused,
       {"lease", "acquire", "adult/run-1", "--attempt", "1", "--pure-dp", "1", "--count", "91"});
}

TEST_F(LedgerVerbsTest, BatchesChargeEveryLine) {
  const std::string lines =
      "{\"chargeId\": \"a\", \"event\": {\"pureDp\": {\"epsilon\": 1}}}\n\n"
      "{\"chargeId\": \"b\", \"event\": {\"pureDp\": {\"epsilon\": 1000}}}\n"
      "{\"event\": {\"pureDp\": {\"epsilon\": 2}}, \"count\": 2}\n";
  const std::vector<std::string> batch = {"charge", "batch",    "adult/run-1", "--open-attempt",
                                          "--mode", "per-item", "-o",          "jsonl"};
  const std::string out = Want(ExitCode::kRefused, batch, lines);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
  EXPECT_EQ(server_.client.GetBudget("budgets/adult").response.cells(0).spent(), 5);
  Want(ExitCode::kUsage, batch, "");
  EXPECT_THAT(Run(batch, "{\n").err, HasSubstr("line 1"));
}

TEST_F(LedgerVerbsTest, WatchPrintsALineForEveryChangeAndGoesOnAfterOne) {
  Want(ExitCode::kOk,
       {"charge", "create", "adult/run-1", "--open-attempt", "--charge-id", "a", "--pure-dp", "1"});
  const std::string all = Want(ExitCode::kOk, {"watch", "budget", "adult", "--limit", "4"});
  std::istringstream lines(all);
  std::vector<v1::LedgerChange> changes;
  for (std::string line; std::getline(lines, line);) {
    changes.push_back(As<v1::LedgerChange>(line));
  }
  ASSERT_EQ(changes.size(), 4u);
  EXPECT_TRUE(changes[0].has_budget());
  EXPECT_TRUE(changes[3].has_charge());
  const std::string after = std::to_string(changes[1].sequence());
  const std::string rest =
      Want(ExitCode::kOk, {"watch", "session", "adult/run-1", "--after", after, "--limit", "2"});
  EXPECT_EQ(all.substr(all.size() - rest.size()), rest);
  is_terminal_ = true;
  EXPECT_THAT(Want(ExitCode::kOk, {"watch", "session", "adult/run-1", "--limit", "3"}),
              HasSubstr("charge ACCEPTED: 1 x pureDp"));
  Want(ExitCode::kNotFound, {"watch", "budget", "none"});
}

TEST_F(LedgerVerbsTest, WatchTellsAnEntryAsItWas) {
  Want(ExitCode::kOk, {"budget", "freeze", "adult", "--reason", "a look"});
  Want(ExitCode::kOk, {"budget", "thaw", "adult", "--reason", "looked"});
  is_terminal_ = true;
  const std::string shown = Want(ExitCode::kOk, {"watch", "budget", "adult", "--limit", "4"});
  EXPECT_THAT(shown, HasSubstr("  adult  budget adult created: "));
  EXPECT_THAT(shown, HasSubstr("  adult/run-1  session adult/run-1 created, ADAPTIVE"));
  EXPECT_THAT(shown, HasSubstr("  adult  budget adult is FROZEN"));
  EXPECT_THAT(shown, HasSubstr("a look"));
}

TEST_F(LedgerVerbsTest, ATreeIsDrawn) {
  const auto create = [&](const std::string& name, const std::string& parent) {
    Want(ExitCode::kOk, {"budget", "create", name, "--parent", parent, "--pure-epsilon", "1",
                         "--relation", "add-or-remove-one", "--privacy-unit", "person"});
  };
  create("a", "adult");
  create("b", "adult");
  create("a-1", "a");
  create("a-2", "a");
  const std::string table = Want(ExitCode::kOk, {"budget", "tree", "adult", "-o", "table"});
  std::vector<std::string> names;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    names.push_back(line.substr(0, line.find("  ACTIVE")));
  }
  names.erase(names.begin());  // the heading
  for (std::string& name : names) name = name.substr(0, name.find_last_not_of(' ') + 1);
  EXPECT_THAT(names, ::testing::ElementsAre("adult", "|- a", "|  |- a-1", "|  `- a-2", "`- b"));
  EXPECT_THAT(Want(ExitCode::kOk, {"budget", "tree", "adult", "-o", "csv"}),
              HasSubstr("\r\nbudgets/a-2,ACTIVE,"));
}

TEST_F(LedgerVerbsTest, AFileIsACopyOfWhatGetPrints) {
  const std::string budget = Want(ExitCode::kOk, {"budget", "get", "adult"});
  const auto copy =
      As<v1::Budget>(Want(ExitCode::kOk, {"budget", "create", "copy", "--file", "-"}, budget));
  EXPECT_EQ(copy.name(), "budgets/copy");
  EXPECT_EQ(copy.cap().pure_epsilon().epsilon(), 100);
  EXPECT_EQ(copy.privacy_unit(), "person");
  EXPECT_EQ(copy.labels().at("team"), "vision");
  EXPECT_EQ(copy.partition().function(), "hash(id) mod 4");
  EXPECT_EQ(copy.accepted_charge_count(), 0);
  // What the options say wins.
  const auto other = As<v1::Budget>(
      Want(ExitCode::kOk,
           {"budget", "create", "other", "--file", "-", "--rho", "2", "--alert-at", "1"}, budget));
  EXPECT_EQ(other.cap().zcdp().rho(), 2);
  EXPECT_EQ(other.alert_thresholds_size(), 1);
  const std::string session = Want(ExitCode::kOk, {"session", "get", "adult/run-1"});
  const auto run = As<v1::Session>(
      Want(ExitCode::kOk, {"session", "create", "adult/run-2", "--file", "-"}, session));
  EXPECT_TRUE(run.no_own_cap());
  EXPECT_EQ(run.group(), "sweep");
  EXPECT_EQ(run.claim().source(), "Theorem 3");
  const Outcome wrong = Run({"budget", "create", "x", "--file", "-"}, R"({"capp": {}})");
  EXPECT_EQ(wrong.code, ExitCode::kUsage);
  EXPECT_THAT(wrong.err, HasSubstr("--file -: want the proto3 JSON of epsledger.v1.Budget: capp"));
  EXPECT_EQ(Run({"budget", "create", "x", "--file", "no-such-file"}).code, ExitCode::kUsage);
  EXPECT_THAT(Run({"budget", "create", "x", "--file", "-"}, "{}").err, HasSubstr("cap: got none"));
}

TEST_F(LedgerVerbsTest, AStatementIsTextWhereverItIsWanted) {
  const std::string text =
      Want(ExitCode::kOk, {"statement", "get", "adult", "--delta", "1e-5", "-o", "text"});
  EXPECT_THAT(text, ::testing::StartsWith("PRIVACY STATEMENT\n"));
  EXPECT_THAT(Want(ExitCode::kOk, {"budget", "list", "-o", "text"}), ::testing::StartsWith("NAME"));
}

TEST_F(LedgerVerbsTest, NamesAreCompletedFromTheServer) {
  Want(ExitCode::kOk, {"budget", "create", "digits", "--rho", "1", "--relation", "replace-one",
                       "--privacy-unit", "person"});
  EXPECT_EQ(Want(ExitCode::kOk, {"completion", "names", "budget"}), "adult\ndigits\n");
  EXPECT_EQ(Want(ExitCode::kOk, {"completion", "names", "session"}), "adult/run-1\n");
  const Outcome nobody = Run({"--server", "unix:no-such-socket", "completion", "names", "budget"});
  EXPECT_EQ(nobody.code, ExitCode::kOk);
  EXPECT_EQ(nobody.out + nobody.err, "");
}

// ---- how much is gone, read at the delta of the cap

class SpentTest : public LedgerVerbsTest {
 protected:
  void MakeRun(const std::vector<std::string>& cap) {
    std::vector<std::string> create = {"budget", "create", "people"};
    create.insert(create.end(), cap.begin(), cap.end());
    const std::vector<std::string> rest = {"--gaussian",
                                           "2",
                                           "--sampling-probability",
                                           ".05",
                                           "--relation",
                                           "add-or-remove-one",
                                           "--privacy-unit",
                                           "person"};
    create.insert(create.end(), rest.begin(), rest.end());
    Want(ExitCode::kOk, create);
    Want(ExitCode::kOk,
         {"session", "create", "people/run", "--relation", "add-or-remove-one", "--no-own-cap"});
  }
  std::vector<std::string> Step(const std::vector<std::string>& verb, const std::string& q,
                                const std::string& count) {
    std::vector<std::string> words = verb;
    const std::vector<std::string> rest = {
        "people/run", "--gaussian", "2", "--sampling-probability", q, "--count", count};
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  }
  void Charge(const std::string& count) {
    std::vector<std::string> words = Step({"charge", "create"}, ".05", count);
    words.push_back("--open-attempt");
    Want(ExitCode::kOk, words);
  }
};

TEST_F(SpentTest, ABudgetSaysItsShareAndItsEpsilonAtItsOwnDelta) {
  MakeRun({"--epsilon", "2", "--delta", "1e-6", "--filter", "residue"});
  Charge("100");
  is_terminal_ = true;
  const std::string shown = Want(ExitCode::kOk, {"budget", "get", "people"});
  EXPECT_THAT(shown, HasSubstr(" % of the cap of budgets/people is spent; its charges amount to "
                               "epsilon "));
  EXPECT_THAT(shown, HasSubstr(" of 2 at delta 1e-06."));
  is_terminal_ = false;
  // Nobody says a delta: it is the cap's, which is the same as saying it.
  for (const std::vector<std::string>& read :
       {std::vector<std::string>{"budget", "guarantees", "people"},
        {"session", "guarantees", "people/run"}}) {
    std::vector<std::string> said = read;
    said.insert(said.end(), {"--delta", "1e-6"});
    const std::string at_cap = Want(ExitCode::kOk, read);
    EXPECT_EQ(at_cap, Want(ExitCode::kOk, said));
    said.back() = "1e-5";
    EXPECT_NE(at_cap, Want(ExitCode::kOk, said));
  }
  EXPECT_THAT(Want(ExitCode::kOk, {"statement", "get", "people", "-o", "table"}),
              HasSubstr("at delta                1e-06"));
  // Where the cap names none, there is none to take.
  const Outcome refused = Run({"budget", "guarantees", "adult"});
  EXPECT_EQ(refused.code, ExitCode::kUsage);
  EXPECT_THAT(refused.err, HasSubstr("delta: unset, want --delta in (0, 1)"));
}

TEST_F(SpentTest, ABudgetShowsTheCellThatCounts) {
  MakeRun({"--epsilon", "2", "--delta", "1e-6"});
  Charge("100");
  is_terminal_ = true;
  const auto budget =
      As<v1::Budget>(Want(ExitCode::kOk, {"budget", "get", "people", "-o", "json"}));
  ASSERT_FALSE(budget.all_cells_must_fit());
  const std::string shown = Want(ExitCode::kOk, {"budget", "get", "people"});
  const std::string wide = Want(ExitCode::kOk, {"budget", "get", "people", "-o", "wide"});
  // One of the cells is enough: the one with the most room.
  std::string quantity;
  double least = 2;
  for (const v1::CellBalance& cell : budget.cells()) {
    const std::string& name = v1::CellBalance::Quantity_Name(cell.quantity());
    EXPECT_THAT(wide, HasSubstr("\n" + name + " "));
    if (cell.quantity() == v1::CellBalance::RESERVE || cell.cap() <= 0) continue;
    if (cell.spent() / cell.cap() < least) quantity = name;
    least = std::min(least, cell.spent() / cell.cap());
  }
  EXPECT_NEAR(least, budget.spent_fraction(), 1e-6);
  const std::string cells = shown.substr(shown.find("QUANTITY"));
  EXPECT_THAT(cells.substr(cells.find('\n')), ::testing::StartsWith("\n" + quantity + " "));
  EXPECT_THAT(cells, HasSubstr(std::to_string(budget.cells_size() - 1) +
                               " more cells, none with more room (-o wide)."));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("theorem")));
  EXPECT_THAT(wide, HasSubstr("\ntheorem "));
}

TEST_F(SpentTest, AnAcceptedChargeSaysWhatIsLeft) {
  MakeRun({"--units", "300", "--delta", "1e-5"});
  is_terminal_ = true;
  std::vector<std::string> first = Step({"charge", "create"}, ".05", "100");
  first.push_back("--open-attempt");
  const Outcome accepted = Run(first);
  EXPECT_EQ(accepted.code, ExitCode::kOk) << accepted.err;
  EXPECT_THAT(accepted.err, HasSubstr("200 more such steps fit, one by one.\n"));
  EXPECT_THAT(accepted.err, HasSubstr(" % of the cap of budgets/people is spent"));
}

TEST_F(SpentTest, ARefusalSaysTooLargeOrSpentAsItIs) {
  MakeRun({"--epsilon", "1", "--delta", "1e-5", "--filter", "residue"});
  Charge("10");
  const auto charge = [&](const std::string& noise) {
    return Run({"charge", "create", "people/run", "--attempt", "1", "--gaussian", noise});
  };
  // Alone, noise of 3 has an epsilon above 1 at 1e-5: no ledger of this cap accepts it.
  EXPECT_THAT(charge("3").err, HasSubstr("by budgets/people: too large: one such step alone has an "
                                         "epsilon of 1."));
  // Noise of 8 fits an empty ledger of this cap, a few times.
  Outcome last = charge("8");
  EXPECT_EQ(last.code, ExitCode::kOk) << last.err;
  for (int i = 0; i < 100 && last.code == ExitCode::kOk; ++i) last = charge("8");
  EXPECT_EQ(last.code, ExitCode::kRefused);
  EXPECT_THAT(last.err, HasSubstr("by budgets/people: too large for what is left: "));
}

TEST_F(SpentTest, ARefusalAndAPreviewSayHowMuchIsGone) {
  MakeRun({"--epsilon", "2", "--delta", "1e-5", "--filter", "residue"});
  Charge("300");
  is_terminal_ = true;
  const Outcome preview = Run(Step({"charge", "preview"}, ".05", "1"));
  EXPECT_EQ(preview.code, ExitCode::kOk) << preview.err;
  EXPECT_THAT(preview.err, HasSubstr("its charges amount to epsilon 1.9"));
  std::vector<std::string> more = Step({"charge", "create"}, ".05", "100");
  more.insert(more.end(), {"--attempt", "1"});
  const Outcome refused = Run(more);
  EXPECT_EQ(refused.code, ExitCode::kRefused);
  EXPECT_THAT(refused.err, HasSubstr("BUDGET_EXHAUSTED"));
  EXPECT_THAT(refused.err, HasSubstr("of 2 at delta 1e-05."));
  is_terminal_ = false;
  EXPECT_THAT(Run(Step({"charge", "preview"}, ".05", "1")).err, ::testing::IsEmpty())
      << "programs read the answer alone";
}

// A step that costs a part of a unit is charged a whole one when it is charged alone.
TEST_F(SpentTest, APreviewSaysWhereABlockHoldsMore) {
  MakeRun({"--epsilon", "2", "--delta", "1e-5", "--filter", "residue"});
  Charge("1");
  is_terminal_ = true;
  EXPECT_THAT(Run(Step({"charge", "preview"}, ".02", "1")).err,
              HasSubstr("charged together, as one block or a lease, "));
  EXPECT_THAT(Run(Step({"charge", "preview"}, ".05", "1")).err,
              ::testing::Not(HasSubstr("charged together")));
}

TEST_F(SpentTest, ACapInUnitsIsMadeShownAndRead) {
  MakeRun({"--units", "300", "--delta", "1e-5"});
  const auto budget = As<v1::Budget>(Want(ExitCode::kOk, {"budget", "get", "people"}));
  EXPECT_EQ(budget.cap().units().count(), 300);
  EXPECT_EQ(budget.cap().units().guarantee_size(), 5);
  Charge("150");
  is_terminal_ = true;
  const std::string shown = Want(ExitCode::kOk, {"budget", "get", "people"});
  EXPECT_THAT(shown, HasSubstr("300 units of poissonSampled 0.05 of gaussian 2: epsilon "));
  EXPECT_THAT(shown, HasSubstr("300 such steps fit in all, 150 are left."));
  EXPECT_THAT(shown, HasSubstr("50.1 % of the cap of budgets/people is spent"));
  EXPECT_THAT(Want(ExitCode::kOk, {"statement", "get", "people"}), HasSubstr("300 units of "));

  const Outcome no_delta = Run({"budget", "create", "x", "--units", "3", "--gaussian", "2",
                                "--relation", "add-or-remove-one", "--privacy-unit", "person"});
  EXPECT_THAT(no_delta.err, HasSubstr("got --units, want --delta beside it"));
  const Outcome no_event = Run({"budget", "create", "x", "--units", "3", "--delta", "1e-5",
                                "--relation", "add-or-remove-one", "--privacy-unit", "person"});
  EXPECT_EQ(no_event.code, ExitCode::kUsage);
  EXPECT_THAT(no_event.err, HasSubstr("budget.cap.units.reference: unset, want the event"));
  const Outcome both = Run({"budget", "create", "x", "--units", "3", "--epsilon", "1", "--delta",
                            "1e-5", "--relation", "add-or-remove-one", "--privacy-unit", "person"});
  EXPECT_EQ(both.code, ExitCode::kUsage);
  EXPECT_THAT(both.err, HasSubstr("flags of 2 currencies"));
}

}  // namespace
}  // namespace epsledger::cli
