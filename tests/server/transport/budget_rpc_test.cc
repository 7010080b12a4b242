// Budgets over the wire, and the head of their ledger.

#include <algorithm>
#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

class BudgetRpc : public ::testing::Test {
 protected:
  TestClient& client() { return server_.client; }
  TestServer server_;
};

TEST_F(BudgetRpc, ABudgetIsReturnedAsItIs) {
  const auto reply = client().CreateBudget("adult", "approximate_dp { epsilon: 1 delta: 1e-5 }",
                                           "display_name: 'UCI \xce\xb5'");
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  const v1::Budget& budget = reply.response;
  EXPECT_EQ(budget.name(), "budgets/adult");
  EXPECT_EQ(budget.cap().approximate_dp().filter(), v1::ApproximateDpCap::PORTFOLIO);
  EXPECT_FALSE(budget.cap().approximate_dp().has_order());
  EXPECT_EQ(budget.display_name(), "UCI \xce\xb5");
  EXPECT_EQ(budget.state(), v1::Budget::ACTIVE);
  EXPECT_GT(budget.cells_size(), 1);
  EXPECT_FALSE(budget.all_cells_must_fit());
  EXPECT_EQ(budget.spent_fraction(), 0);
  EXPECT_FALSE(budget.theorem().empty());
  // Units of nothing yet, their reserve, mu of Gaussian DP, and the Renyi orders.
  EXPECT_EQ(budget.cells(0).quantity(), v1::CellBalance::UNITS);
  EXPECT_EQ(budget.cells(0).cap(), 0);
  EXPECT_EQ(budget.cells(1).quantity(), v1::CellBalance::RESERVE);
  EXPECT_EQ(budget.cells(2).quantity(), v1::CellBalance::MU_SQUARED);
  EXPECT_EQ(budget.cells(3).quantity(), v1::CellBalance::RENYI_DIVERGENCE);
  for (const v1::CellBalance& cell : budget.cells()) {
    EXPECT_EQ(cell.order() > 1, cell.quantity() == v1::CellBalance::RENYI_DIVERGENCE);
    EXPECT_EQ(cell.spent(), 0);
    EXPECT_EQ(cell.remaining(), cell.cap());
  }
  EXPECT_EQ(client().GetBudget("budgets/adult").response.SerializeAsString(),
            budget.SerializeAsString());
}

TEST_F(BudgetRpc, EveryCapComesBackAsItWas) {
  int i = 0;
  for (const char* cap :
       {"pure_epsilon { epsilon: 0.1 }", "approximate_dp { epsilon: 3 delta: 1e-6 filter: BASIC }",
        "approximate_dp { epsilon: 3 delta: 1e-6 filter: ADVANCED }",
        "approximate_dp { epsilon: 3 delta: 1e-6 filter: ZCDP }",
        "approximate_dp { epsilon: 3 delta: 1e-6 filter: RENYI_ORDERS }",
        "approximate_dp { epsilon: 3 delta: 1e-6 filter: RENYI_ONE_ORDER order: 8.5 }",
        "approximate_dp { epsilon: 3 delta: 1e-6 filter: RESIDUE reference { gaussian { "
        "noise_multiplier: 20 } } }",
        "approximate_dp { epsilon: 3 delta: 1e-6 filter: PORTFOLIO }", "zcdp { rho: 0.5 }",
        "gaussian_dp { mu: 0.25 }", "renyi { order: 4 divergence: 1 }"}) {
    const auto reply = client().CreateBudget("b" + std::to_string(i++), cap);
    ASSERT_TRUE(reply.ok()) << cap << ": " << reply.status.error_message();
    EXPECT_EQ(reply.response.cap().SerializeAsString(), Parse<v1::Cap>(cap).SerializeAsString());
    EXPECT_GT(reply.response.cells_size(), 0);
  }
}

TEST_F(BudgetRpc, RepeatingACreationGivesTheBudgetAsItIsNow) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  ASSERT_TRUE(client().Charge(kAttempt, "a", kOneEpsilon, 4).ok());
  const auto again = client().CreateBudget("b", "pure_epsilon { epsilon: 10 }");
  ASSERT_TRUE(again.ok()) << again.status.error_message();
  EXPECT_EQ(again.response.cells(0).spent(), 4);
  EXPECT_EQ(again.response.spent_fraction(), std::nextafter(0.4, 1.0));
  EXPECT_EQ(again.response.accepted_charge_count(), 1);
  const auto other = client().CreateBudget("b", "pure_epsilon { epsilon: 11 }");
  EXPECT_EQ(other.code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(other.status.error_message(), HasSubstr("cap"));
  EXPECT_EQ(client().GetBudget("budgets/b").response.cap().pure_epsilon().epsilon(), 10);
}

TEST_F(BudgetRpc, LeasesThatAreNotSettledAreAShareOfTheCap) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  ASSERT_TRUE(client().Charge(kAttempt, "a", kOneEpsilon, 1).ok());
  EXPECT_EQ(client().GetBudget("budgets/b").response.leased_fraction(), 0);
  const auto lease = TestClient::Call(
      *client().charges, &v1::ChargeService::Stub::AcquireLease,
      Parse<v1::AcquireLeaseRequest>("attempt: '" + std::string(kAttempt) +
                                     "' lease_id: 'l' count: 2 time_to_live { seconds: 60 } "
                                     "event { pure_dp { epsilon: 1 } }"));
  ASSERT_TRUE(lease.ok()) << lease.status.error_message();
  const v1::Budget open = client().GetBudget("budgets/b").response;
  EXPECT_EQ(open.spent_fraction(), std::nextafter(0.3, 1.0));
  EXPECT_EQ(open.leased_fraction(), std::nextafter(0.2, 1.0));
  ASSERT_TRUE(TestClient::Call(*client().charges, &v1::ChargeService::Stub::SettleLease,
                               Parse<v1::SettleLeaseRequest>("name: '" + lease.response.name() +
                                                             "' used_count: 1"))
                  .ok());
  const v1::Budget settled = client().GetBudget("budgets/b").response;
  EXPECT_EQ(settled.spent_fraction(), open.spent_fraction());
  EXPECT_EQ(settled.leased_fraction(), 0);
}

TEST_F(BudgetRpc, ValidateOnlyChecksAndChangesNothing) {
  auto request = Parse<v1::CreateBudgetRequest>(
      "budget_id: 'b' validate_only: true budget { cap { zcdp { rho: 1 } } neighboring_relation: "
      "REPLACE_ONE privacy_unit: 'person' }");
  const auto reply =
      TestClient::Call(*client().budgets, &v1::BudgetService::Stub::CreateBudget, request);
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.response.name(), "budgets/b");
  EXPECT_EQ(client().GetBudget("budgets/b").code(), grpc::StatusCode::NOT_FOUND);
  request.mutable_budget()->set_parent("budgets/none");
  EXPECT_EQ(
      TestClient::Call(*client().budgets, &v1::BudgetService::Stub::CreateBudget, request).code(),
      grpc::StatusCode::NOT_FOUND);
}

TEST_F(BudgetRpc, AChildMustCountTheSameUnitsUnderTheSameRelation) {
  ASSERT_TRUE(client().CreateBudget("org", "zcdp { rho: 1 }").ok());
  ASSERT_TRUE(client().CreateBudget("team", "zcdp { rho: 2 }", "parent: 'budgets/org'").ok());
  EXPECT_EQ(client().GetBudget("budgets/team").response.parent(), "budgets/org");
  const auto other = TestClient::Call(
      *client().budgets, &v1::BudgetService::Stub::CreateBudget,
      Parse<v1::CreateBudgetRequest>("budget_id: 'x' budget { parent: 'budgets/org' cap { zcdp { "
                                     "rho: 1 } } neighboring_relation: REPLACE_ONE privacy_unit: "
                                     "'person' }"));
  EXPECT_EQ(other.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(other.status.error_message(), HasSubstr("neighboringRelation"));
}

TEST_F(BudgetRpc, WhatIsWrongIsNamed) {
  const std::string good =
      " cap { zcdp { rho: 1 } } neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'person' ";
  const auto fails = [&](const std::string& request, const std::string& want) {
    const auto reply = TestClient::Call(*client().budgets, &v1::BudgetService::Stub::CreateBudget,
                                        Parse<v1::CreateBudgetRequest>(request));
    EXPECT_EQ(reply.code(), grpc::StatusCode::INVALID_ARGUMENT) << request;
    EXPECT_THAT(reply.status.error_message(), HasSubstr(want)) << request;
    google::rpc::BadRequest bad;
    ASSERT_TRUE(FindDetail(reply.status, &bad));
    EXPECT_EQ(bad.field_violations(0).field(), want.substr(0, want.find(':')));
  };
  fails("budget_id: 'B' budget {" + good + "}", "budgetId: got \"B\", want [a-z0-9] followed by");
  fails("budget_id: 'b'", "budget: unset");
  fails("budget_id: 'b' budget { name: 'budgets/c'" + good + "}",
        "budget.name: got \"budgets/c\", want unset or budgets/b");
  fails("budget_id: 'b' budget { state: ACTIVE" + good + "}", "budget.state: got a value");
  fails("budget_id: 'b' budget { cells { cap: 1 }" + good + "}", "budget.cells: got a value");
  fails("budget_id: 'b' budget { spent_fraction: 0.5" + good + "}", "budget.spentFraction: got");
  fails("budget_id: 'b' budget { create_time { seconds: 1 }" + good + "}", "budget.createTime: ");
  fails("budget_id: 'b' budget { parent: 'budgets/b'" + good + "}", "budget.parent: got");
  fails("budget_id: 'b' budget { neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'p' }",
        "budget.cap: unset, want one of pureEpsilon");
  fails(
      "budget_id: 'b' budget { cap { zcdp {} } neighboring_relation: REPLACE_ONE privacy_unit: "
      "'p' }",
      "budget.cap.zcdp.rho: got 0, want in (0, inf)");
  fails(
      "budget_id: 'b' budget { cap { approximate_dp { epsilon: 1 delta: 1 } } "
      "neighboring_relation: REPLACE_ONE privacy_unit: 'p' }",
      "budget.cap.approximateDp.delta: got 1, want in (0, 1)");
  fails(
      "budget_id: 'b' budget { cap { approximate_dp { epsilon: 1 delta: 0.1 order: 2 } } "
      "neighboring_relation: REPLACE_ONE privacy_unit: 'p' }",
      "budget.cap.approximateDp.order: got 2, want unset");
  fails(
      "budget_id: 'b' budget { cap { approximate_dp { epsilon: 1 delta: 0.1 filter: "
      "RENYI_ONE_ORDER } } neighboring_relation: REPLACE_ONE privacy_unit: 'p' }",
      "budget.cap.approximateDp.order: got nothing, want in (1, inf)");
  fails("budget_id: 'b' budget { cap { zcdp { rho: 1 } } privacy_unit: 'p' }",
        "budget.neighboringRelation: got KIND_UNSPECIFIED, want one of ADD_OR_REMOVE_ONE");
  fails("budget_id: 'b' budget { cap { zcdp { rho: 1 } } neighboring_relation: REPLACE_ONE }",
        "budget.privacyUnit: got 0 bytes, want 1 to 128");
  fails("budget_id: 'b' budget { display_name: 'a\\nb'" + good + "}",
        "budget.displayName: got \"a\\nb\", want text without control characters");
  EXPECT_EQ(client().GetBudget("budgets/b").code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(BudgetRpc, TheListHoldsEveryBudgetOnceInOrder) {
  for (const char* id : {"c", "a", "e", "b", "d"}) {
    ASSERT_TRUE(client().CreateBudget(id, "zcdp { rho: 1 }").ok());
  }
  std::string token;
  std::string names;
  do {
    const auto page =
        TestClient::Call(*client().budgets, &v1::BudgetService::Stub::ListBudgets,
                         Parse<v1::ListBudgetsRequest>("page_size: 2 page_token: '" + token + "'"));
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    for (const v1::Budget& budget : page.response.budgets()) names += budget.name() + " ";
    token = page.response.next_page_token();
  } while (!token.empty());
  EXPECT_EQ(names, "budgets/a budgets/b budgets/c budgets/d budgets/e ");
}

TEST_F(BudgetRpc, TheHeadIsThatOfTheRootAndGrowsWithEveryChange) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  ASSERT_TRUE(client().CreateBudget("child", "zcdp { rho: 1 }", "parent: 'budgets/b'").ok());
  const auto head = [&](const char* budget) {
    return TestClient::Call(
        *client().audit, &v1::AuditService::Stub::GetLedgerHead,
        Parse<v1::GetLedgerHeadRequest>("budget: '" + std::string(budget) + "'"));
  };
  const auto before = head("budgets/child");
  ASSERT_TRUE(before.ok()) << before.status.error_message();
  EXPECT_EQ(before.response.root_budget(), "budgets/b");
  EXPECT_EQ(before.response.hash().size(), 32u);
  EXPECT_EQ(before.response.SerializeAsString(), head("budgets/b").response.SerializeAsString());
  client().Charge(kAttempt, "refused", kOneEpsilon, 11);
  const auto after = head("budgets/b");
  EXPECT_GT(after.response.sequence(), before.response.sequence());
  EXPECT_NE(after.response.hash(), before.response.hash());
  EXPECT_EQ(head("budgets/none").code(), grpc::StatusCode::NOT_FOUND);
}

// What a budget that supersedes others says of its sessions, and what would be said of this
// history.
class SupersededRpc : public BudgetRpc {
 protected:
  v1::GetBudgetGuaranteesResponse Guarantees(const std::string& id, const std::string& group = "") {
    const auto reply = TestClient::Call(
        *client().budgets, &v1::BudgetService::Stub::GetBudgetGuarantees,
        Parse<v1::GetBudgetGuaranteesRequest>(
            "name: 'budgets/" + id + "' delta: 1e-6 type_one_error: 0.01 group: '" + group + "'"));
    EXPECT_TRUE(reply.ok()) << reply.status.error_message();
    return reply.response;
  }
  void Create(const std::string& id, const std::string& parent) {
    ASSERT_TRUE(client()
                    .CreateBudget(id, "pure_epsilon { epsilon: 50 }",
                                  parent.empty() ? "" : "parent: 'budgets/" + parent + "'")
                    .ok());
  }
  // One session with `count` charges of epsilon 1.
  void Spend(const std::string& id, int64_t count, const std::string& group = "") {
    ASSERT_TRUE(
        client()
            .CreateSession(id, "s", "mode: ADAPTIVE no_own_cap: true group: '" + group + "'")
            .ok());
    const std::string session = "budgets/" + id + "/sessions/s";
    ASSERT_TRUE(client().OpenAttempt(session).ok());
    ASSERT_TRUE(client().Charge(session + "/attempts/1", "a", kOneEpsilon, count).ok());
  }
  void Supersede(const std::string& id, const std::string& by) {
    const auto reply = TestClient::Call(
        *client().budgets, &v1::BudgetService::Stub::SupersedeBudget,
        Parse<v1::SupersedeBudgetRequest>("name: 'budgets/" + id + "' successor_id: '" + by +
                                          "' reason: 'more' cap { pure_epsilon { epsilon: 60 } }"));
    ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  }
  void ExpectSpent(const std::string& id, int epsilon, int session_count) {
    const v1::GetBudgetGuaranteesResponse got = Guarantees(id);
    EXPECT_EQ(got.session_count(), session_count) << id;
    ASSERT_GT(got.readings_size(), 0);
    EXPECT_EQ(got.readings(0).accountant(), v1::Accountant::BASIC);
    EXPECT_EQ(got.readings(0).guarantee().upper(), epsilon) << id;
    // A test with false positive rate a is right at most min(e^epsilon a, ...) of the time, and
    // `epsilon` uses of randomized response at 1 reach more than a itself (Kairouz et al. 2015).
    if (epsilon == 0) {
      EXPECT_EQ(got.true_positive_rate_upper(), 0.01);
    } else {
      EXPECT_GE(got.true_positive_rate_upper(), std::min(0.02, 0.01 * std::exp(epsilon)));
    }
    EXPECT_EQ(client().GetBudget("budgets/" + id).response.cells(0).spent(), epsilon) << id;
  }
};

TEST_F(SupersededRpc, ASuccessorAnswersForWhatItTookOver) {
  Create("first", "");
  Spend("first", 3);
  Supersede("first", "second");
  ExpectSpent("second", 3, 1);
  Spend("second", 1);
  Supersede("second", "third");
  ExpectSpent("third", 4, 2);
  ExpectSpent("first", 3, 1);
}

TEST_F(SupersededRpc, SoDoesOneBelowAParentWhichCountsNothingTwice) {
  Create("root", "");
  Create("first", "root");
  Spend("first", 3, "search");
  Create("below", "first");
  Spend("below", 2);
  Supersede("first", "second");
  ExpectSpent("second", 5, 2);
  Spend("second", 1);
  Supersede("second", "third");
  Spend("third", 4, "search");
  ExpectSpent("third", 10, 4);
  ExpectSpent("root", 10, 4);
  EXPECT_EQ(Guarantees("root", "search").session_count(), 2);
  EXPECT_EQ(Guarantees("third", "search").readings(0).guarantee().upper(), 7);
}

TEST(BudgetTree, IsReadPageByPageParentsFirst) {
  TestServer server;
  TestClient& client = server.client;
  const std::string cap = "pure_epsilon { epsilon: 1 }";
  ASSERT_TRUE(client.CreateBudget("root", cap).ok());
  std::vector<std::string> expected = {"budgets/root"};
  for (int i = 0; i < 70; ++i) {  // more than are read at once
    const std::string id = "child-" + std::to_string(99 - i);
    ASSERT_TRUE(client.CreateBudget(id, cap, "parent: 'budgets/root'").ok());
    expected.push_back("budgets/" + id);
    for (int k = 0; i % 3 == 0 && k < 2; ++k) {
      const std::string below = id + "-" + std::to_string(k);
      ASSERT_TRUE(client.CreateBudget(below, cap, "parent: 'budgets/" + id + "'").ok());
      expected.push_back("budgets/" + below);
    }
  }
  ASSERT_TRUE(client.CreateBudget("another", cap).ok());
  const auto page_of = [&](const std::string& fields) {
    return TestClient::Call(*client.budgets, &v1::BudgetService::Stub::GetBudgetTree,
                            Parse<v1::GetBudgetTreeRequest>("name: 'budgets/root' " + fields));
  };
  for (const int size : {0, 1, 7, 1000}) {
    std::vector<std::string> names;
    std::string token;
    do {
      const auto page =
          page_of("page_size: " + std::to_string(size) + " page_token: '" + token + "'");
      ASSERT_TRUE(page.ok()) << page.status.error_message();
      if (size > 0) {
        EXPECT_LE(page.response.budgets_size(), size);
      }
      for (const v1::Budget& budget : page.response.budgets()) names.push_back(budget.name());
      token = page.response.next_page_token();
    } while (!token.empty());
    EXPECT_EQ(names, expected) << size;
  }
  // A part of it ends where it ends.
  const auto part = TestClient::Call(*client.budgets, &v1::BudgetService::Stub::GetBudgetTree,
                                     Parse<v1::GetBudgetTreeRequest>("name: 'budgets/child-99'"));
  EXPECT_EQ(part.response.budgets_size(), 3);
  EXPECT_EQ(page_of("page_size: 1001").code(), grpc::StatusCode::INVALID_ARGUMENT);
  const std::string foreign = client
                                  .Call(*client.budgets, &v1::BudgetService::Stub::ListBudgets,
                                        Parse<v1::ListBudgetsRequest>("page_size: 1"))
                                  .response.next_page_token();
  EXPECT_EQ(page_of("page_token: '" + foreign + "'").code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace epsledger::transport
