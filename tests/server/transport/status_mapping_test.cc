#include "server/transport/grpc/status/status_mapping.h"

#include <string>

#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

TEST(StatusMapping, KeepsTheCodeAndSaysTheReason) {
  for (const auto& [code, reason] : std::vector<std::pair<absl::StatusCode, std::string>>{
           {absl::StatusCode::kInvalidArgument, "INVALID_FIELD"},
           {absl::StatusCode::kNotFound, "RESOURCE_NOT_FOUND"},
           {absl::StatusCode::kAlreadyExists, "CONTENT_DIFFERS"},
           {absl::StatusCode::kFailedPrecondition, "STATE_FORBIDS"},
           {absl::StatusCode::kUnavailable, "TRY_AGAIN"},
           {absl::StatusCode::kDataLoss, "LEDGER_DAMAGED"},
           {absl::StatusCode::kUnimplemented, "NOT_IN_THIS_VERSION"},
           {absl::StatusCode::kInternal, "UNEXPECTED"}}) {
    const grpc::Status status = ToGrpcStatus(absl::Status(code, "a: b"));
    EXPECT_EQ(static_cast<int>(status.error_code()), static_cast<int>(code));
    EXPECT_EQ(status.error_message(), "a: b");
    EXPECT_EQ(ReasonOf(status), reason);
    google::rpc::Status details;
    ASSERT_TRUE(details.ParseFromString(status.error_details()));
    EXPECT_EQ(details.code(), static_cast<int>(code));
    EXPECT_EQ(details.message(), "a: b");
  }
}

TEST(StatusMapping, AWrongFieldIsABadRequestWithItsName) {
  google::rpc::BadRequest bad;
  ASSERT_TRUE(FindDetail(
      ToGrpcStatus(absl::InvalidArgumentError("budget.cap: unset, want one of x")), &bad));
  EXPECT_EQ(bad.field_violations(0).field(), "budget.cap");
  EXPECT_EQ(bad.field_violations(0).description(), "unset, want one of x");
}

TEST(StatusMapping, WhatMaySucceedLaterSaysWhen) {
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(FindDetail(ToGrpcStatus(absl::UnavailableError("busy")), &retry));
  EXPECT_GT(retry.retry_delay().nanos(), 0);
  EXPECT_TRUE(FindDetail(Stopping(), &retry));
  for (const absl::Status& overload : {TooManyCalls(), TooBusy(), TooManyStreams()}) {
    const grpc::Status status = ToGrpcStatus(overload);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(ReasonOf(status), "OVERLOADED");
    EXPECT_TRUE(FindDetail(status, &retry));
    EXPECT_GT(retry.retry_delay().nanos(), 0);
  }
}

TEST(StatusMapping, EveryErrorFitsIntoTheTrailersThatClientsTake) {
  const std::string endless(1 << 20, 'x');
  v1::Charge charge;
  charge.set_name("budgets/" + std::string(63, 'b') + "/sessions/" + std::string(63, 's') +
                  "/attempts/9223372036854775807/charges/" + std::string(64, 'c'));
  charge.mutable_event()->mutable_non_private()->set_reason(endless);
  charge.set_decision(v1::Charge::REFUSED);
  charge.mutable_refusal()->set_reason(v1::Refusal::BUDGET_EXHAUSTED);
  charge.mutable_refusal()->set_limiting_resource("budgets/" + std::string(63, 'b'));
  charge.mutable_refusal()->mutable_cell()->set_quantity(v1::CellBalance::RENYI_DIVERGENCE);
  charge.mutable_refusal()->mutable_cell()->set_order(1.0000000000000002);
  for (const grpc::Status& status :
       {RefusedCharge(charge), RefusedPlan("budgets/b/sessions/s", charge.refusal()),
        ToGrpcStatus(absl::InvalidArgumentError(endless + ": " + endless)),
        ToGrpcStatus(absl::AlreadyExistsError(endless)), HeldTooLong()}) {
    EXPECT_LE(status.error_message().size(), kMaxStatusMessageBytes);
    EXPECT_LE(status.error_message().size() * 3 / 2 + status.error_details().size() * 4 / 3,
              8'000u);
  }
  v1::Charge detail;
  ASSERT_TRUE(FindDetail(RefusedCharge(charge), &detail));
  EXPECT_FALSE(detail.has_event());
  EXPECT_EQ(detail.name(), charge.name());
}

TEST(StatusMapping, EveryReasonOfARefusalIsASentence) {
  const auto* reasons = v1::Refusal::Reason_descriptor();
  for (int i = 0; i < reasons->value_count(); ++i) {
    if (reasons->value(i)->number() == 0) continue;
    v1::Refusal refusal;
    refusal.set_reason(static_cast<v1::Refusal::Reason>(reasons->value(i)->number()));
    EXPECT_THAT(Sentence(refusal), ::testing::Not(HasSubstr("does not know")))
        << reasons->value(i)->name();
  }
}

TEST(ShownText, IsShortAndPrintable) {
  EXPECT_EQ(Shown("a"), "\"a\"");
  EXPECT_EQ(Shown("\xff\n"), "\"\\xff\\n\"");
  EXPECT_LT(Shown(std::string(1 << 16, '\xff')).size(), 300u);
  EXPECT_EQ(Shortened("\xce\xb5\xce\xb5\xce\xb5", 6), "\xce\xb5\xce\xb5\xce\xb5");
  EXPECT_EQ(Shortened("\xce\xb5\xce\xb5\xce\xb5\xce\xb5", 6), "\xce\xb5...");
}

}  // namespace
}  // namespace epsledger::transport
