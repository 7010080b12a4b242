#include "client/alerts/delivery/courier.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace epsledger::alerts {
namespace {

using ::testing::ElementsAre;

constexpr RetryPolicy kFast = {.initial = absl::Milliseconds(1), .most = absl::Milliseconds(4)};

Alert Now(const std::string& id) {
  return {.id = id, .time_micros = absl::ToUnixMicros(absl::Now())};
}

TEST(Backoff, DoublesBetweenHalfAndWholeUpToTheMost) {
  const RetryPolicy policy = {.initial = absl::Seconds(1), .most = absl::Seconds(10)};
  const double longest[] = {1, 2, 4, 8, 10, 10};
  for (int failures = 1; failures <= 6; ++failures) {
    const absl::Duration most = absl::Seconds(longest[failures - 1]);
    EXPECT_EQ(Backoff(policy, failures, 0, absl::ZeroDuration()), most / 2) << failures;
    EXPECT_LE(Backoff(policy, failures, 0.999, absl::ZeroDuration()), most) << failures;
  }
  EXPECT_EQ(Backoff(policy, 1'000'000'000, 0, absl::ZeroDuration()), absl::Seconds(5));
}

TEST(Backoff, WaitsAsLongAsTheReceiverAsksUpToTheMost) {
  const RetryPolicy policy = {.initial = absl::Seconds(1), .most = absl::Seconds(10)};
  EXPECT_EQ(Backoff(policy, 1, 0, absl::Seconds(7)), absl::Seconds(7));
  EXPECT_EQ(Backoff(policy, 1, 0, absl::Hours(7)), absl::Seconds(10));
}

TEST(Courier, TriesAgainUntilTheAlertIsTakenAndKeepsTheOrder) {
  std::vector<std::string> tried;
  std::vector<std::string> reports;
  absl::Notification done;
  int failures_left = 3;
  {
    Courier courier(
        [&](const Alert& alert, const std::function<bool()>&) -> SendOutcome {
          tried.push_back(alert.id);
          if (failures_left-- > 0) return {.status = absl::UnavailableError("not now")};
          return {};
        },
        kFast,
        [&](const Alert& alert, const absl::Status& status, int tries, absl::Duration) {
          reports.push_back(alert.id + (status.ok() ? " taken " : " later ") +
                            std::to_string(tries));
          if (alert.id == "second") done.Notify();
        });
    courier.Give(Now("first"));
    courier.Give(Now("second"));
    done.WaitForNotification();
  }
  EXPECT_THAT(tried, ElementsAre("first", "first", "first", "first", "second"));
  EXPECT_THAT(reports, ElementsAre("first later 1", "first later 2", "first later 3",
                                   "first taken 4", "second taken 1"));
}

TEST(Courier, DoesNotRepeatWhatTheReceiverRefusesNorWhatIsTooOld) {
  std::vector<std::string> tried;
  std::vector<absl::StatusCode> codes;
  absl::Notification done;
  {
    Courier courier(
        [&](const Alert& alert, const std::function<bool()>&) -> SendOutcome {
          tried.push_back(alert.id);
          return {.status = alert.id == "refused" ? absl::FailedPreconditionError("no")
                                                  : absl::UnavailableError("not now")};
        },
        kFast,
        [&](const Alert& alert, const absl::Status& status, int, absl::Duration) {
          codes.push_back(status.code());
          if (alert.id == "old") done.Notify();
        });
    courier.Give(Now("refused"));
    courier.Give({.id = "old", .time_micros = 0});
    done.WaitForNotification();
  }
  EXPECT_THAT(tried, ElementsAre("refused", "old"));
  EXPECT_THAT(codes, ElementsAre(absl::StatusCode::kFailedPrecondition,
                                 absl::StatusCode::kFailedPrecondition));
}

TEST(Courier, AStopDoesNotWaitForTheNextTry) {
  absl::Notification failed;
  const RetryPolicy slow = {.initial = absl::Hours(1), .most = absl::Hours(1)};
  {
    Courier courier(
        [&](const Alert&, const std::function<bool()>&) -> SendOutcome {
          return {.status = absl::UnavailableError("not now")};
        },
        slow, [&](const Alert&, const absl::Status&, int, absl::Duration) { failed.Notify(); });
    courier.Give(Now("one"));
    failed.WaitForNotification();
  }  // the destructor returns
}

}  // namespace
}  // namespace epsledger::alerts
