#include "client/alerts/rules/alert_rules.h"

#include <initializer_list>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace epsledger::alerts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kNow = 1'700'000'000 * kSecond;
constexpr char kTree[] = "budgets/people";

Rule Thresholds(std::vector<double> thresholds) {
  return {.name = "spending",
          .kind = AlertKind::kThreshold,
          .destinations = {"officer"},
          .thresholds = std::move(thresholds)};
}

Rule Refusals() {
  return {.name = "refusals", .kind = AlertKind::kRefusal, .destinations = {"officer"}};
}

v1::Budget BudgetAt(const std::string& name, double spent_fraction) {
  v1::Budget budget;
  budget.set_name(name);
  budget.set_state(v1::Budget::ACTIVE);
  budget.set_spent_fraction(spent_fraction);
  budget.mutable_create_time()->set_seconds(1'600'000'000);
  return budget;
}

v1::LedgerChange RefusalAt(int64_t sequence, int64_t time_micros,
                           v1::Refusal::Reason reason = v1::Refusal::BUDGET_EXHAUSTED) {
  v1::LedgerChange change;
  change.set_sequence(sequence);
  change.mutable_time()->set_seconds(time_micros / kSecond);
  v1::Charge& charge = *change.mutable_charge();
  charge.set_name("budgets/people/sessions/run/attempts/1/charges/c" + std::to_string(sequence));
  charge.set_decision(v1::Charge::REFUSED);
  charge.mutable_refusal()->set_reason(reason);
  charge.mutable_refusal()->set_limiting_resource("budgets/people");
  charge.mutable_refusal()->set_requested(0.1);
  return change;
}

std::string Fact(const Alert& alert, const std::string& name) {
  for (const auto& [key, value] : alert.facts) {
    if (key == name) return value;
  }
  return "(none)";
}

// The thresholds of the alerts that a list of readings makes.
std::vector<std::string> Told(AlertRules& rules, const std::string& budget,
                              const std::vector<double>& fractions) {
  std::vector<std::string> told;
  for (const double fraction : fractions) {
    for (const Alert& alert : rules.OnBudget(BudgetAt(budget, fraction), kNow, false)) {
      told.push_back(Fact(alert, "threshold"));
    }
  }
  return told;
}

// Another process that continues from what this one has remembered.
AlertRules Restarted(const AlertRules& rules) {
  AlertRules next(rules.rules());
  // Through text, as a file keeps it.
  EXPECT_TRUE(next.Restore(nlohmann::ordered_json::parse(rules.State().dump())).ok());
  return next;
}

TEST(ThresholdRule, TellsEachCrossingOnce) {
  AlertRules rules({Thresholds({0.5, 0.8, 0.95})});
  EXPECT_THAT(Told(rules, kTree, {0, 0.49, 0.5, 0.5, 0.6, 0.8, 0.81, 0.94, 0.95, 1, 1}),
              ElementsAre("0.5", "0.8", "0.95"));
}

TEST(ThresholdRule, TellsSeveralCrossingsOfOneReadingInOneAlert) {
  AlertRules rules({Thresholds({0.5, 0.8, 0.95})});
  const std::vector<Alert> alerts = rules.OnBudget(BudgetAt(kTree, 0.96875), kNow, false);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(Fact(alerts[0], "threshold"), "0.95");
  EXPECT_EQ(Fact(alerts[0], "thresholdsCrossed"), "0.5 0.8 0.95");
  EXPECT_EQ(Fact(alerts[0], "spentFraction"), "0.96875");
  EXPECT_EQ(alerts[0].title, "budgets/people: 95 % of the cap is spent");
  EXPECT_EQ(alerts[0].page, "budgets/people");
}

TEST(ThresholdRule, AnOlderReadingThatArrivesLateChangesNothing) {
  AlertRules rules({Thresholds({0.5, 0.8})});
  EXPECT_THAT(Told(rules, kTree, {0.85, 0.4, 0.6, 0.85}), ElementsAre("0.8"));
}

TEST(ThresholdRule, UsesTheBudgetsOwnThresholdsIfItHasNone) {
  AlertRules rules({Thresholds({})});
  v1::Budget budget = BudgetAt(kTree, 0.7);
  EXPECT_THAT(rules.OnBudget(budget, kNow, false), IsEmpty());
  budget.add_alert_thresholds(0.25);
  budget.add_alert_thresholds(0.75);
  const std::vector<Alert> alerts = rules.OnBudget(budget, kNow, false);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(Fact(alerts[0], "threshold"), "0.25");
}

TEST(ThresholdRule, ARaisedCapIsCrossedAgain) {
  AlertRules rules({Thresholds({0.5, 0.8})});
  EXPECT_THAT(Told(rules, kTree, {0.9}), ElementsAre("0.8"));
  v1::Budget successor = BudgetAt("budgets/people-2", 0.45);
  successor.set_supersedes(kTree);
  EXPECT_THAT(rules.OnBudget(successor, kNow, false), IsEmpty());
  EXPECT_THAT(Told(rules, "budgets/people-2", {0.5, 0.6, 0.8}), ElementsAre("0.5", "0.8"));
}

TEST(ThresholdRule, ASuccessorThatStartsBeyondAThresholdIsToldOnce) {
  AlertRules rules({Thresholds({0.5, 0.8})});
  EXPECT_THAT(Told(rules, kTree, {0.9}), ElementsAre("0.8"));
  v1::Budget successor = BudgetAt("budgets/people-2", 0.6);
  successor.set_supersedes(kTree);
  const std::vector<Alert> alerts = rules.OnBudget(successor, kNow, false);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(Fact(alerts[0], "threshold"), "0.5");
  EXPECT_THAT(Told(rules, "budgets/people-2", {0.6, 0.7, 0.8}), ElementsAre("0.8"));
}

TEST(ThresholdRule, ARuleForABudgetIsForThoseThatReplaceItToo) {
  Rule rule = Thresholds({0.5});
  rule.budgets = {kTree};
  AlertRules rules({rule});
  v1::Budget old = BudgetAt(kTree, 0.1);
  EXPECT_THAT(rules.OnBudget(old, kNow, false), IsEmpty());
  old.set_state(v1::Budget::SUPERSEDED);
  old.set_superseded_by("budgets/people-2");
  EXPECT_THAT(rules.OnBudget(old, kNow, false), IsEmpty());
  EXPECT_EQ(rules.SuccessorOf(kTree), "budgets/people-2");
  v1::Budget second = BudgetAt("budgets/people-2", 0.05);
  second.set_supersedes(kTree);
  EXPECT_THAT(rules.OnBudget(second, kNow, false), IsEmpty());
  v1::Budget third = BudgetAt("budgets/people-3", 0.6);
  third.set_supersedes("budgets/people-2");
  EXPECT_THAT(rules.OnBudget(third, kNow, false), SizeIs(1));
  v1::Budget below = BudgetAt("budgets/below", 0.6);
  below.set_parent("budgets/people-3");
  EXPECT_THAT(rules.OnBudget(below, kNow, false), SizeIs(1));
  EXPECT_THAT(rules.OnBudget(BudgetAt("budgets/other", 0.9), kNow, false), IsEmpty());
  EXPECT_EQ(rules.SuccessorOf("budgets/other"), "");
}

TEST(ThresholdRule, WhatABudgetCrossedBeforeItEndedIsToldLateAndOnce) {
  for (const v1::Budget::State ended : {v1::Budget::SUPERSEDED, v1::Budget::CLOSED}) {
    AlertRules rules({Thresholds({0.5})});
    EXPECT_THAT(rules.OnBudget(BudgetAt(kTree, 0), kNow, /*at_start=*/true), IsEmpty());
    AlertRules next = Restarted(rules);  // it was away while the budget was charged, and ended
    v1::Budget budget = BudgetAt(kTree, 0.6);
    budget.set_state(ended);
    EXPECT_THAT(next.OnBudget(budget, kNow, /*at_start=*/true), SizeIs(1));
    EXPECT_THAT(next.OnBudget(budget, kNow, /*at_start=*/false), IsEmpty());
  }
}

TEST(ThresholdRule, TheFirstStartRemembersAndTellsNothing) {
  AlertRules rules({Thresholds({0.5, 0.8})});
  EXPECT_THAT(rules.OnBudget(BudgetAt(kTree, 0.6), kNow, /*at_start=*/true), IsEmpty());
  EXPECT_THAT(Told(rules, kTree, {0.7, 0.8}), ElementsAre("0.8"));
}

TEST(ThresholdRule, ARestartTellsWhatWasCrossedMeanwhileAndNothingTwice) {
  AlertRules rules({Thresholds({0.5, 0.8})});
  EXPECT_THAT(rules.OnBudget(BudgetAt(kTree, 0.1), kNow, /*at_start=*/true), IsEmpty());
  EXPECT_THAT(Told(rules, kTree, {0.6}), ElementsAre("0.5"));
  AlertRules next = Restarted(rules);
  EXPECT_THAT(next.OnBudget(BudgetAt(kTree, 0.6), kNow, /*at_start=*/true), IsEmpty());
  AlertRules last = Restarted(next);
  EXPECT_THAT(last.OnBudget(BudgetAt(kTree, 0.85), kNow, /*at_start=*/true), SizeIs(1));
  EXPECT_THAT(last.OnBudget(BudgetAt("budgets/made-meanwhile", 0.85), kNow, /*at_start=*/true),
              SizeIs(1));
}

TEST(ThresholdRule, ARuleThatIsNewAtARestartDoesNotFlood) {
  AlertRules rules({Refusals()});
  AlertRules both({Refusals(), Thresholds({0.5})});
  ASSERT_TRUE(both.Restore(rules.State()).ok());
  EXPECT_THAT(both.OnBudget(BudgetAt(kTree, 0.6), kNow, /*at_start=*/true), IsEmpty());
}

TEST(ThresholdRule, TheSameCrossingHasTheSameIdInEveryProcess) {
  AlertRules one({Thresholds({0.5})});
  AlertRules other({Thresholds({0.5})});
  const std::vector<Alert> first = one.OnBudget(BudgetAt(kTree, 0.5), kNow, false);
  const std::vector<Alert> second = other.OnBudget(BudgetAt(kTree, 0.75), kNow + kHour, false);
  ASSERT_THAT(first, SizeIs(1));
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(first[0].id, second[0].id);
  EXPECT_EQ(first[0].id.size(), 32u);
  const std::vector<Alert> third = one.OnBudget(BudgetAt("budgets/other", 0.5), kNow, false);
  ASSERT_THAT(third, SizeIs(1));
  EXPECT_NE(first[0].id, third[0].id);
}

TEST(Rule, CoversItsBudgetsWithEverythingBelowThem) {
  Rule rule = Thresholds({0.5});
  rule.budgets = {kTree};
  rule.labels = {{"team", "vision"}};
  AlertRules rules({rule});
  v1::Budget top = BudgetAt(kTree, 0.1);
  EXPECT_THAT(rules.OnBudget(top, kNow, false), IsEmpty());
  v1::Budget child = BudgetAt("budgets/child", 0.6);
  child.set_parent(kTree);
  EXPECT_THAT(rules.OnBudget(child, kNow, false), IsEmpty());  // without the label
  (*child.mutable_labels())["team"] = "vision";
  EXPECT_THAT(rules.OnBudget(child, kNow, false), SizeIs(1));
  v1::Budget other = BudgetAt("budgets/other", 0.6);
  (*other.mutable_labels())["team"] = "vision";
  EXPECT_THAT(rules.OnBudget(other, kNow, false), IsEmpty());
}

TEST(RefusalRule, LooksAtEachEntryOnce) {
  AlertRules rules({Refusals()});
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(7, kNow)), SizeIs(1));
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(7, kNow + 2 * kHour)), IsEmpty());
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(6, kNow + 2 * kHour)), IsEmpty());
  EXPECT_EQ(rules.Position(kTree), 7);
  AlertRules next = Restarted(rules);
  EXPECT_THAT(next.OnChange(kTree, RefusalAt(7, kNow + 2 * kHour)), IsEmpty());
  EXPECT_THAT(next.OnChange(kTree, RefusalAt(8, kNow + 2 * kHour)), SizeIs(1));
}

TEST(RefusalRule, CountsWhatFollowsAndTellsItInOneAlert) {
  AlertRules rules({Refusals()});
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(1, kNow)), SizeIs(1));
  for (int64_t sequence = 2; sequence <= 40; ++sequence) {
    EXPECT_THAT(rules.OnChange(kTree, RefusalAt(sequence, kNow + sequence * kSecond)), IsEmpty());
  }
  EXPECT_THAT(rules.OnTime(kNow + kHour - kSecond), IsEmpty());
  AlertRules next = Restarted(rules);
  const std::vector<Alert> alerts = next.OnTime(kNow + kHour);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(Fact(alerts[0], "count"), "39");
  EXPECT_EQ(Fact(alerts[0], "sequence"), "40");
  EXPECT_THAT(next.OnTime(kNow + 10 * kHour), IsEmpty());
}

TEST(RefusalRule, ReasonsAndBudgetsAreCountedApart) {
  AlertRules rules({Refusals()});
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(1, kNow)), SizeIs(1));
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(2, kNow, v1::Refusal::BUDGET_FROZEN)), SizeIs(1));
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(3, kNow, v1::Refusal::BATCH_REFUSED)), IsEmpty());
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(4, kNow)), IsEmpty());
}

TEST(RefusalRule, TakesOnlyTheReasonsThatItNames) {
  Rule rule = Refusals();
  rule.reasons = {"BUDGET_FROZEN"};
  AlertRules rules({rule});
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(1, kNow)), IsEmpty());
  EXPECT_THAT(rules.OnChange(kTree, RefusalAt(2, kNow, v1::Refusal::BUDGET_FROZEN)), SizeIs(1));
}

TEST(RefusalRule, SaysWhatWasRefusedInWordsAndInExactNumbers) {
  AlertRules rules({Refusals()});
  v1::LedgerChange change = RefusalAt(9, kNow);
  v1::CellBalance& cell = *change.mutable_charge()->mutable_refusal()->mutable_cell();
  cell.set_quantity(v1::CellBalance::RHO);
  cell.set_cap(1);
  cell.set_spent(0.9999999999999999);
  cell.set_remaining(1.1102230246251565e-16);
  const std::vector<Alert> alerts = rules.OnChange(kTree, change);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].budget, kTree);
  EXPECT_EQ(alerts[0].page, "budgets/people/refusals");
  EXPECT_EQ(alerts[0].title, "budgets/people: a charge was refused (BUDGET_EXHAUSTED)");
  EXPECT_THAT(alerts[0].text, HasSubstr("sessions/run/attempts/1/charges/c9"));
  EXPECT_EQ(Fact(alerts[0], "requested"), "0.1");
  EXPECT_EQ(std::stod(Fact(alerts[0], "spent")), 0.9999999999999999);
  EXPECT_EQ(std::stod(Fact(alerts[0], "remaining")), 1.1102230246251565e-16);
  EXPECT_EQ(Fact(alerts[0], "sequence"), "9");
}

TEST(RefusalRule, ARefusedPlanIsARefusal) {
  AlertRules rules({Refusals()});
  v1::LedgerChange change;
  change.set_sequence(1);
  change.mutable_refused_session()->set_name("budgets/people/sessions/planned");
  change.mutable_refused_session()->mutable_refusal()->set_reason(v1::Refusal::BUDGET_EXHAUSTED);
  const std::vector<Alert> alerts = rules.OnChange(kTree, change);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(Fact(alerts[0], "session"), "budgets/people/sessions/planned");
}

TEST(QuarantineRule, TellsEachQuarantineOnceAndTheNextOneAgain) {
  AlertRules rules(
      {{.name = "damage", .kind = AlertKind::kQuarantine, .destinations = {"officer"}}});
  v1::Quarantine quarantine;
  quarantine.set_root_budget(kTree);
  quarantine.set_reason("a client saw entry 7");
  EXPECT_THAT(rules.OnQuarantines({quarantine}, kNow), SizeIs(1));
  EXPECT_THAT(rules.OnQuarantines({quarantine}, kNow + kHour), IsEmpty());
  AlertRules next = Restarted(rules);
  EXPECT_THAT(next.OnQuarantines({quarantine}, kNow + 2 * kHour), IsEmpty());
  EXPECT_THAT(next.OnQuarantines({}, kNow + 3 * kHour), IsEmpty());
  EXPECT_THAT(next.OnQuarantines({quarantine}, kNow + 4 * kHour), SizeIs(1));
}

TEST(QuarantineRule, ALedgerThatHasLostEntriesContinuesAtItsHead) {
  AlertRules rules(
      {{.name = "damage", .kind = AlertKind::kQuarantine, .destinations = {"officer"}}});
  rules.BeginTree(kTree, 100);
  const std::vector<Alert> alerts = rules.OnEntriesLost(kTree, 90, kNow);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(Fact(alerts[0], "seenSequence"), "100");
  EXPECT_EQ(rules.Position(kTree), 90);
}

TEST(ApprovalRule, TellsAProposalThatWaitsTooLongOnce) {
  AlertRules rules({{.name = "waiting",
                     .kind = AlertKind::kApproval,
                     .destinations = {"officer"},
                     .wait_micros = 24 * kHour}});
  v1::Proposal proposal;
  proposal.set_name("budgets/people/proposals/more");
  proposal.set_sequence(12);
  proposal.set_proposed_by("tokens/a");
  proposal.set_reason("the second study");
  proposal.mutable_close();
  proposal.mutable_create_time()->set_seconds(kNow / kSecond);
  EXPECT_THAT(rules.OnProposals(kTree, {proposal}, kNow + 24 * kHour - kSecond), IsEmpty());
  const std::vector<Alert> alerts = rules.OnProposals(kTree, {proposal}, kNow + 26 * kHour);
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].budget, kTree);
  EXPECT_THAT(alerts[0].text, HasSubstr("tokens/a proposed 26 h ago to close the budget"));
  AlertRules next = Restarted(rules);
  EXPECT_THAT(next.OnProposals(kTree, {proposal}, kNow + 30 * kHour), IsEmpty());
  // Its name is used again: another proposal.
  proposal.set_sequence(20);
  EXPECT_THAT(next.OnProposals(kTree, {proposal}, kNow + 31 * kHour), SizeIs(1));
}

TEST(AlertRules, NamesTheBudgetsThatAChargeSpends) {
  AlertRules rules({Thresholds({0.5})});
  v1::Budget child = BudgetAt("budgets/child", 0);
  child.set_parent(kTree);
  rules.OnBudget(BudgetAt(kTree, 0), kNow, false);
  rules.OnBudget(child, kNow, false);
  v1::LedgerChange change;
  change.mutable_charge()->set_name("budgets/child/sessions/s/attempts/1/charges/c");
  change.mutable_charge()->set_decision(v1::Charge::ACCEPTED);
  EXPECT_THAT(rules.BudgetsCharged(change), ElementsAre("budgets/child", kTree));
  change.mutable_charge()->set_decision(v1::Charge::REFUSED);
  EXPECT_THAT(rules.BudgetsCharged(change), IsEmpty());
}

TEST(AlertRules, RefusesAStateThatItDidNotWrite) {
  const std::string good = AlertRules({Thresholds({0.5})}).State().dump();
  for (const char* part :
       {"rules", "positions", "thresholds", "refusals", "quarantined", "proposals"}) {
    auto state = nlohmann::ordered_json::parse(good);
    state[part] = 7;
    AlertRules rules({Thresholds({0.5})});
    EXPECT_THAT(std::string(rules.Restore(state).message()), HasSubstr(part));
  }
}

}  // namespace
}  // namespace epsledger::alerts
