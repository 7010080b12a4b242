#include "client/trainers/run/waiting_notice.h"

#include <chrono>
#include <sstream>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace epsledger::trainers {
namespace {

TEST(WaitingNotice, SpeaksAfterASecondAndThenEveryTen) {
  std::ostringstream out;
  const auto notice = WaitingNotice("trainer", "127.0.0.1:1", out);
  const auto at = [&](int milliseconds) {
    const std::chrono::milliseconds elapsed(milliseconds);
    out.str("");
    notice({.last = absl::UnavailableError("connection refused"),
            .elapsed = elapsed,
            .left = std::chrono::seconds(60) - elapsed});
    return out.str();
  };
  EXPECT_EQ(at(40), "");
  EXPECT_EQ(at(999), "");
  EXPECT_EQ(at(3'000),
            "trainer: 127.0.0.1:1 does not answer yet (connection refused); asking again for 57 "
            "s\n");
  EXPECT_EQ(at(12'999), "");
  EXPECT_NE(at(13'000), "");
  // The next call begins anew.
  EXPECT_EQ(at(50), "");
  EXPECT_NE(at(1'000), "");
}

}  // namespace
}  // namespace epsledger::trainers
