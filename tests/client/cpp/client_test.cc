#include "epsledger/client.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <string>
#include <variant>

#include "tests/client/cpp/fake_ledger.h"

namespace epsledger {
namespace {

using ::testing::HasSubstr;

TEST(Client, PlaintextIsForLoopbackAndUnixSocketsOnly) {
  struct Case {
    const char* address;
    bool local;
  };
  const Case cases[] = {
      {"127.0.0.1:50551", true},
      {"127.1.2.3:1", true},
      {"localhost:50551", true},
      {"localhost", true},
      {"[::1]:50551", true},
      {"unix:/run/epsledger.sock", true},
      {"unix-abstract:epsledger", true},
      {"10.0.0.1:50551", false},
      {"0.0.0.0:50551", false},
      {"[::2]:50551", false},
      {"[::1]evil:50551", false},
      {"127.0.0.1.example.com:50551", false},
      {"localhost.example.com:50551", false},
      {"dns:///localhost:50551", false},
      {"ledger.example.com:443", false},
      {"127.0.0.1:50551,10.0.0.1:50551", false},
      {"127.0.0.1:http", false},
  };
  for (const Case& row : cases) {
    ClientOptions options;
    options.address = row.address;
    const auto client = Client::Connect(options);
    EXPECT_EQ(client.ok(), row.local) << row.address << ": " << client.status();
    if (!row.local) {
      EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument);
      options.allow_insecure = true;
      EXPECT_TRUE(Client::Connect(options).ok()) << row.address;
    }
  }
}

TEST(Client, TlsOptionsMustFitTogether) {
  ClientOptions options;
  options.tls.enabled = true;
  options.tls.certificate_file = "client.pem";
  EXPECT_THAT(std::string(Client::Connect(options).status().message()), HasSubstr("key_file"));

  options.tls.key_file = "client.key";
  EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kNotFound);

  options.tls = TlsOptions{.enabled = false, .ca_file = "ca.pem"};
  EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kInvalidArgument)
      << "an authority that would not be asked";
}

TEST(Client, RetryOptionsNameWhatIsWrong) {
  const auto message = [](const RetryOptions& retry) {
    ClientOptions options;
    options.retry = retry;
    return std::string(Client::Connect(options).status().message());
  };
  using std::chrono::milliseconds;
  EXPECT_THAT(message({.call_timeout = milliseconds(0)}), HasSubstr("retry.call_timeout: got 0"));
  EXPECT_THAT(message({.overall_timeout = milliseconds(-1)}), HasSubstr("retry.overall_timeout"));
  EXPECT_THAT(message({.max_tries = -1}), HasSubstr("retry.max_tries"));
  EXPECT_THAT(message({.initial_backoff = milliseconds(-1)}), HasSubstr("retry.initial_backoff"));
  EXPECT_THAT(message({.initial_backoff = milliseconds(9), .max_backoff = milliseconds(8)}),
              HasSubstr("retry.max_backoff"));
}

TEST(Client, BudgetKeepsEveryField) {
  FakeLedger ledger;
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  const BudgetOptions options{.id = "adult",
                              .parent = "org",
                              .cap = ApproximateDpCap{.epsilon = 1,
                                                      .delta = 1e-5,
                                                      .filter = ApproximateDpFilter::kRenyiOneOrder,
                                                      .order = 12},
                              .neighboring_relation = NeighboringRelation::kReplaceOne,
                              .privacy_unit = "person",
                              .display_name = "Adult income"};
  const auto created = client->CreateBudget(options);
  ASSERT_TRUE(created.ok()) << created.status();
  const auto budget = client->GetBudget("adult");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->name, "budgets/adult");
  EXPECT_EQ(budget->parent, "budgets/org");
  ASSERT_TRUE(std::holds_alternative<ApproximateDpCap>(budget->cap));
  EXPECT_EQ(std::get<ApproximateDpCap>(budget->cap).filter, ApproximateDpFilter::kRenyiOneOrder);
  EXPECT_EQ(std::get<ApproximateDpCap>(budget->cap).order, 12);
  EXPECT_EQ(budget->neighboring_relation, NeighboringRelation::kReplaceOne);
  EXPECT_EQ(budget->privacy_unit, "person");
  EXPECT_EQ(budget->display_name, "Adult income");
  EXPECT_EQ(budget->state, "ACTIVE");
  ASSERT_EQ(budget->cells.size(), 1);
  EXPECT_EQ(budget->cells[0].quantity, Quantity::kRenyiDivergence);
  EXPECT_EQ(budget->cells[0].order, 16);
}

TEST(Client, UnsetCapIsSentUnset) {
  FakeLedger ledger;
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ(client->CreateBudget({.id = "adult"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Client, AttemptThatDoesNotFitItsSessionIsInternal) {
  FakeLedger ledger;
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  ledger.set_attempt_name("budgets/adult/sessions/run-2/attempts/1");
  SessionOptions options{.budget = "adult", .session = "run-1"};
  options.create = NewSession{.no_own_cap = true};
  EXPECT_EQ(client->OpenSession(options).status().code(), absl::StatusCode::kInternal);
}

TEST(Client, SessionIsCreatedOnlyWhenToldSo) {
  FakeLedger ledger;
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  const SessionOptions options{.budget = "adult", .session = "run-1"};
  EXPECT_EQ(client->OpenSession(options).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(ledger.session_requests().empty());
}

TEST(Client, PlanMakesADeclaredSession) {
  FakeLedger ledger;
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  SessionOptions options{.budget = "budgets/adult", .session = "run-1"};
  options.create =
      NewSession{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                 .plan = Plan{.events = {{Mechanism::Gaussian(40), 100}}, .delta = 1e-5}};
  ASSERT_TRUE(client->OpenSession(options).ok());
  ASSERT_EQ(ledger.session_requests().size(), 1);
  const v1::Session session = ledger.session_requests()[0].session();
  EXPECT_EQ(ledger.session_requests()[0].parent(), "budgets/adult");
  EXPECT_EQ(session.mode(), v1::Session::DECLARED);
  EXPECT_EQ(session.plan().events(0).count(), 100);
  EXPECT_EQ(session.plan().events(0).event().gaussian().noise_multiplier(), 40);
  EXPECT_EQ(session.plan_delta(), 1e-5);
  EXPECT_FALSE(session.has_own_cap());
}

TEST(Client, PlanThatDoesNotFitIsARefusal) {
  FakeLedger ledger;
  ledger.set_capacity(99);
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  SessionOptions options{.budget = "adult", .session = "run-1"};
  options.create = NewSession{.plan = Plan{.events = {{Mechanism::Gaussian(40), 100}}}};
  const absl::Status status = client->OpenSession(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(RefusalOf(status).has_value());
  EXPECT_EQ(RefusalOf(status)->reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ(RefusalOf(status)->limiting_resource, "budgets/adult");
}

TEST(Client, SessionOutlivesItsClient) {
  FakeLedger ledger;
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  SessionOptions options{.budget = "adult", .session = "run-1"};
  options.create = NewSession{.no_own_cap = true};
  auto session = client->OpenSession(options);
  ASSERT_TRUE(session.ok()) << session.status();
  client = absl::UnknownError("gone");
  EXPECT_TRUE(session->Charge(Mechanism::Gaussian(1)).ok());
}

}  // namespace
}  // namespace epsledger
