// Charging over the wire: acceptance, refusal, idempotency, fencing, batches, lists.

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ChargeRpc : public ::testing::Test {
 protected:
  double Spent() { return client().GetBudget("budgets/b").response.cells(0).spent(); }
  TestClient& client() { return server_.client; }

  TestServer server_;
};

TEST_F(ChargeRpc, AnAcceptedChargeIsReturnedAndCounted) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  const auto reply = client().Charge(kAttempt, "step-1", kOneEpsilon, 3);
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.response.name(), "budgets/b/sessions/s/attempts/1/charges/step-1");
  EXPECT_EQ(reply.response.decision(), v1::Charge::ACCEPTED);
  EXPECT_EQ(reply.response.count(), 3);
  EXPECT_EQ(reply.response.event().pure_dp().epsilon(), 1);
  EXPECT_FALSE(reply.response.has_refusal());
  EXPECT_GT(reply.response.sequence(), 0);
  EXPECT_GT(reply.response.create_time().seconds(), 1'600'000'000);
  EXPECT_EQ(Spent(), 3);

  const auto stored =
      TestClient::Call(*client().charges, &v1::ChargeService::Stub::GetCharge,
                       Parse<v1::GetChargeRequest>("name: '" + reply.response.name() + "'"));
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored.response.SerializeAsString(), reply.response.SerializeAsString());
}

TEST_F(ChargeRpc, ARefusalSaysWhichCapWhatIsSpentAndHowManyStepsFit) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  ASSERT_TRUE(client().Charge(kAttempt, "a", kOneEpsilon, 7).ok());
  const auto reply = client().Charge(kAttempt, "b", kOneEpsilon, 4);
  EXPECT_EQ(reply.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(reply.status.error_message(),
              AllOf(HasSubstr("charge refused: the cap of budgets/b has no room"),
                    HasSubstr("epsilon 7 of 10 is spent"), HasSubstr("4 is asked for"),
                    HasSubstr("3 single steps of this event would fit")));
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(FindDetail(reply.status, &info));
  EXPECT_EQ(info.reason(), "BUDGET_EXHAUSTED");
  EXPECT_EQ(info.domain(), "epsledger.dev");
  EXPECT_EQ(info.metadata().at("limitingResource"), "budgets/b");
  EXPECT_EQ(info.metadata().at("quantity"), "EPSILON");
  EXPECT_EQ(info.metadata().at("cap"), "10");
  EXPECT_EQ(info.metadata().at("spent"), "7");
  EXPECT_EQ(info.metadata().at("requested"), "4");
  EXPECT_EQ(info.metadata().at("stepsThatFit"), "3");
  v1::Charge charge;
  ASSERT_TRUE(FindDetail(reply.status, &charge));
  EXPECT_EQ(charge.name(), "budgets/b/sessions/s/attempts/1/charges/b");
  EXPECT_EQ(charge.decision(), v1::Charge::REFUSED);
  EXPECT_EQ(charge.refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED);
  EXPECT_EQ(charge.refusal().steps_that_fit(), 3);
  EXPECT_EQ(charge.refusal().cell().remaining(), 3);
  EXPECT_EQ(charge.event().pure_dp().epsilon(), 1);
  EXPECT_EQ(Spent(), 7);
}

TEST_F(ChargeRpc, ARefusalOfALargeEventFitsIntoTrailers) {
  client().MakeSession("pure_epsilon { epsilon: 1 }");
  std::string event = "mixture_of_gaussians { noise_multiplier: 1";
  for (int i = 0; i < 4'096; ++i) {  // each 2^-12
    event += " sensitivities: 1 probabilities: 0.000244140625";
  }
  const auto reply = client().Charge(
      kAttempt, "big", "composed { events { count: 1 event { " + event + " } } } }", 1);
  ASSERT_EQ(reply.code(), grpc::StatusCode::FAILED_PRECONDITION) << reply.status.error_message();
  v1::Charge charge;
  ASSERT_TRUE(FindDetail(reply.status, &charge));
  EXPECT_EQ(charge.decision(), v1::Charge::REFUSED);
  EXPECT_EQ(charge.refusal().reason(), v1::Refusal::EVENT_NOT_CHARGEABLE);
}

TEST_F(ChargeRpc, ARetryAHundredTimesLeavesTheBalanceAsItWas) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  const auto first = client().Charge(kAttempt, "step-1", kOneEpsilon, 3);
  ASSERT_TRUE(first.ok());
  const auto refused = client().Charge(kAttempt, "too-much", kOneEpsilon, 8);
  ASSERT_EQ(refused.code(), grpc::StatusCode::FAILED_PRECONDITION);
  const std::string before = client().GetBudget("budgets/b").response.SerializeAsString();
  for (int i = 0; i < 100; ++i) {
    const auto again = client().Charge(kAttempt, "step-1", kOneEpsilon, 3);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.response.SerializeAsString(), first.response.SerializeAsString());
    const auto again_refused = client().Charge(kAttempt, "too-much", kOneEpsilon, 8);
    EXPECT_EQ(again_refused.code(), refused.code());
    EXPECT_EQ(again_refused.status.error_message(), refused.status.error_message());
    v1::Charge charge, first_charge;
    ASSERT_TRUE(FindDetail(again_refused.status, &charge));
    ASSERT_TRUE(FindDetail(refused.status, &first_charge));
    EXPECT_EQ(charge.SerializeAsString(), first_charge.SerializeAsString());
  }
  EXPECT_EQ(client().GetBudget("budgets/b").response.SerializeAsString(), before);
  EXPECT_EQ(Spent(), 3);
}

TEST_F(ChargeRpc, OfAnEventThatWasRefusedTheLedgerKeepsWhatItWas) {
  client().MakeSession("pure_epsilon { epsilon: 0.5 }");
  const auto refused = client().Charge(kAttempt, "a", kOneEpsilon, 1);
  v1::Charge answer;
  ASSERT_TRUE(FindDetail(refused.status, &answer));
  EXPECT_EQ(answer.event().pure_dp().epsilon(), 1);
  const auto got = TestClient::Call(
      *client().charges, &v1::ChargeService::Stub::GetCharge,
      Parse<v1::GetChargeRequest>("name: 'budgets/b/sessions/s/attempts/1/charges/a'"));
  ASSERT_TRUE(got.ok()) << got.status.error_message();
  EXPECT_FALSE(got.response.has_event());
  EXPECT_EQ(got.response.event_description(), "pureDp{epsilon: 1}");
  EXPECT_EQ(got.response.event_digest().size(), 32u);
  EXPECT_EQ(got.response.event_digest(), answer.event_digest());
  EXPECT_EQ(got.response.sequence(), answer.sequence());
  const auto listed =
      TestClient::Call(*client().charges, &v1::ChargeService::Stub::ListCharges,
                       Parse<v1::ListChargesRequest>("parent: 'budgets/b/sessions/s'"));
  ASSERT_EQ(listed.response.charges_size(), 1);
  EXPECT_EQ(listed.response.charges(0).event_description(), "pureDp{epsilon: 1}");
}

TEST_F(ChargeRpc, AKeyWithOtherContentIsRefusedNamingTheDifference) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  ASSERT_TRUE(client().Charge(kAttempt, "k", kOneEpsilon, 3).ok());
  const auto other_count = client().Charge(kAttempt, "k", kOneEpsilon, 2);
  EXPECT_EQ(other_count.code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(ReasonOf(other_count.status), "CONTENT_DIFFERS");
  EXPECT_THAT(other_count.status.error_message(),
              AllOf(HasSubstr("count"), HasSubstr("got 2"), HasSubstr("3")));
  const auto other_event = client().Charge(kAttempt, "k", "pure_dp { epsilon: 0.5 }", 3);
  EXPECT_EQ(other_event.code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(other_event.status.error_message(),
              AllOf(HasSubstr("event"), HasSubstr("pureDp{epsilon: 0.5}")));
  EXPECT_EQ(Spent(), 3);
}

TEST_F(ChargeRpc, AFencedAttemptIsAbortedAndMayStillAskForWhatItDid) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  const auto first = client().Charge(kAttempt, "a", kOneEpsilon, 1);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(client().OpenAttempt("budgets/b/sessions/s").response.number(), 2);
  const auto fenced = client().Charge(kAttempt, "b", kOneEpsilon, 1);
  EXPECT_EQ(fenced.code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(ReasonOf(fenced.status), "ATTEMPT_FENCED");
  v1::Charge charge;
  ASSERT_TRUE(FindDetail(fenced.status, &charge));
  EXPECT_EQ(charge.refusal().reason(), v1::Refusal::ATTEMPT_FENCED);
  EXPECT_FALSE(charge.refusal().has_cell());
  const auto replayed = client().Charge(kAttempt, "a", kOneEpsilon, 1);
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(replayed.response.SerializeAsString(), first.response.SerializeAsString());
  EXPECT_TRUE(client().Charge("budgets/b/sessions/s/attempts/2", "b", kOneEpsilon, 1).ok());
  EXPECT_EQ(Spent(), 2);
}

TEST_F(ChargeRpc, WhatIsMissingIsNotFound) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  for (const char* attempt :
       {"budgets/c/sessions/s/attempts/1", "budgets/b/sessions/t/attempts/1",
        "budgets/b/sessions/s/attempts/2", "budgets/b/sessions/s/attempts/9223372036854775807"}) {
    const auto reply = client().Charge(attempt, "a", kOneEpsilon, 1);
    EXPECT_EQ(reply.code(), grpc::StatusCode::NOT_FOUND) << attempt;
    EXPECT_EQ(ReasonOf(reply.status), "RESOURCE_NOT_FOUND");
  }
  for (const char* name :
       {"budgets/b/sessions/s/attempts/1/charges/x", "budgets/b/sessions/t/attempts/1/charges/x"}) {
    EXPECT_EQ(TestClient::Call(*client().charges, &v1::ChargeService::Stub::GetCharge,
                               Parse<v1::GetChargeRequest>("name: '" + std::string(name) + "'"))
                  .code(),
              grpc::StatusCode::NOT_FOUND);
  }
}

std::string Item(const std::string& id, int count) {
  return "items { charge_id: '" + id +
         "' event { pure_dp { epsilon: 1 } } count: " + std::to_string(count) + " } ";
}

TEST_F(ChargeRpc, ABatchIsDecidedItemByItemOrAsAWhole) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  const std::string head = "attempt: '" + std::string(kAttempt) + "' ";
  const auto per_item =
      TestClient::Call(*client().charges, &v1::ChargeService::Stub::BatchCharge,
                       Parse<v1::BatchChargeRequest>(head + "mode: PER_ITEM " + Item("a", 6) +
                                                     Item("b", 6) + Item("c", 1)));
  ASSERT_TRUE(per_item.ok()) << per_item.status.error_message();
  ASSERT_EQ(per_item.response.results_size(), 3);
  EXPECT_TRUE(per_item.response.results(0).has_accepted());
  EXPECT_TRUE(per_item.response.results(1).has_refused());
  EXPECT_EQ(per_item.response.results(1).refused().refusal().reason(),
            v1::Refusal::BUDGET_EXHAUSTED);
  EXPECT_TRUE(per_item.response.results(2).has_accepted());
  EXPECT_EQ(Spent(), 7);

  const auto whole = TestClient::Call(
      *client().charges, &v1::ChargeService::Stub::BatchCharge,
      Parse<v1::BatchChargeRequest>(head + "mode: ALL_OR_NOTHING " + Item("d", 1) + Item("e", 9)));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole.response.results(0).refused().refusal().reason(), v1::Refusal::BATCH_REFUSED);
  EXPECT_EQ(whole.response.results(1).refused().refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED);
  EXPECT_EQ(Spent(), 7);
}

TEST_F(ChargeRpc, ABatchNamesTheItemThatIsWrong) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  const std::string head = "attempt: '" + std::string(kAttempt) + "' mode: PER_ITEM ";
  const auto fails = [&](const std::string& rest, const std::string& want) {
    const auto reply = TestClient::Call(*client().charges, &v1::ChargeService::Stub::BatchCharge,
                                        Parse<v1::BatchChargeRequest>(head + rest));
    EXPECT_EQ(reply.code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(reply.status.error_message(), HasSubstr(want));
  };
  fails("", "items: got 0 items, want 1 to 1000");
  fails(Item("a", 1) + Item("a", 1), "items[1].chargeId: got \"a\", want ids that are distinct");
  fails(Item("a", 1) + Item("b", 0), "items[1].count: got 0, want in [1, ");
  fails(Item("a", 1) + "items { charge_id: 'b' count: 1 }", "items[1].event: unset");
  std::string many;
  for (int i = 0; i <= 1000; ++i) many += Item("i" + std::to_string(i), 1);
  fails(many, "items: got 1001 items, want 1 to 1000");
  EXPECT_EQ(Spent(), 0);
}

TEST_F(ChargeRpc, APreviewDecidesAndChangesNothing) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  const auto preview = [&](int count) {
    return TestClient::Call(
        *client().charges, &v1::ChargeService::Stub::PreviewCharge,
        Parse<v1::PreviewChargeRequest>("session: 'budgets/b/sessions/s' event { pure_dp { "
                                        "epsilon: 1 } } count: " +
                                        std::to_string(count)));
  };
  EXPECT_EQ(preview(10).response.decision(), v1::Charge::ACCEPTED);
  EXPECT_EQ(preview(10).response.steps_that_fit(), 10);
  EXPECT_EQ(preview(11).response.decision(), v1::Charge::REFUSED);
  EXPECT_EQ(preview(11).response.refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED);
  EXPECT_EQ(Spent(), 0);
}

TEST_F(ChargeRpc, APreviewMayBeOfANewAttempt) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  const auto preview = [&](const std::string& of) {
    return TestClient::Call(*client().charges, &v1::ChargeService::Stub::PreviewCharge,
                            Parse<v1::PreviewChargeRequest>(
                                "event { poisson_sampled { sampling_probability: 0.5 event { "
                                "pure_dp { epsilon: 1 } } } } count: 1 " +
                                of));
  };
  const std::string session = "session: 'budgets/b/sessions/s' ";
  const auto now = preview(session);
  EXPECT_EQ(now.response.decision(), v1::Charge::ACCEPTED);
  EXPECT_FALSE(now.response.for_new_attempt());
  const auto same = preview(session + "provenance { sampler: POISSON }");
  EXPECT_EQ(same.response.decision(), v1::Charge::ACCEPTED);
  EXPECT_TRUE(same.response.for_new_attempt());
  const auto other = preview(session + "provenance { sampler: SHUFFLED }");
  EXPECT_EQ(other.response.decision(), v1::Charge::REFUSED);
  EXPECT_EQ(other.response.refusal().reason(), v1::Refusal::POLICY_VIOLATION);
  EXPECT_TRUE(other.response.for_new_attempt());
  for (const std::string& wrong :
       {session + "provenance { clip_norm: -1 }", session + "provenance { normalizer: 9 }",
        std::string("budget: 'budgets/b' provenance {}")}) {
    const auto refused = preview(wrong);
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_NE(refused.status.error_message().find("provenance"), std::string::npos);
  }
}

TEST_F(ChargeRpc, TheListHoldsEveryChargeOnceInOrder) {
  client().MakeSession("pure_epsilon { epsilon: 10 }");
  for (int i = 0; i < 13; ++i) client().Charge(kAttempt, "c" + std::to_string(i), kOneEpsilon, 1);
  std::string token;
  std::set<std::string> names;
  int64_t last = 0;
  int pages = 0;
  do {
    const auto page = TestClient::Call(
        *client().charges, &v1::ChargeService::Stub::ListCharges,
        Parse<v1::ListChargesRequest>("parent: 'budgets/b/sessions/s' page_size: 5 page_token: '" +
                                      token + "'"));
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    EXPECT_LE(page.response.charges_size(), 5);
    for (const v1::Charge& charge : page.response.charges()) {
      EXPECT_TRUE(names.insert(charge.name()).second);
      EXPECT_GT(charge.sequence(), last);
      last = charge.sequence();
      EXPECT_EQ(charge.has_refusal(), charge.decision() == v1::Charge::REFUSED);
    }
    token = page.response.next_page_token();
    ++pages;
  } while (!token.empty());
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(pages, 3);
}

}  // namespace
}  // namespace epsledger::transport
