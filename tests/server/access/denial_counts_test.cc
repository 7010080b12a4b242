#include "server/access/denial_counts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace epsledger::access {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

int64_t Sum(const std::vector<core::DenialCount>& counts) {
  int64_t sum = 0;
  for (const core::DenialCount& count : counts) sum += count.count;
  return sum;
}

TEST(DenialCounts, OneKeyIsRecordedAtMostOnceASecondAndEveryCallCounts) {
  DenialCounts counts;
  const core::DenialCount key = {.principal = "p", .method = "m", .reason = "r"};
  int64_t recorded = 0;
  int entries = 0;
  for (int tenth = 0; tenth < 100; ++tenth) {
    counts.Add(key);
    const auto due = counts.TakeDue(kStart + tenth * absl::Milliseconds(100));
    recorded += Sum(due);
    entries += static_cast<int>(due.size());
    counts.Recorded();
  }
  EXPECT_EQ(entries, 10);
  EXPECT_EQ(recorded + Sum(counts.Pending()), 100);
}

TEST(DenialCounts, WhatIsTakenIsPendingUntilItIsRecorded) {
  DenialCounts counts;
  counts.Add({.principal = "p"});
  EXPECT_EQ(Sum(counts.TakeDue(kStart)), 1);
  counts.Add({.principal = "p"});
  EXPECT_EQ(Sum(counts.Pending()), 2);
  EXPECT_TRUE(counts.TakeDue(kStart + absl::Hours(1)).empty());  // the first is under way
  counts.Recorded();
  EXPECT_EQ(Sum(counts.Pending()), 1);
  EXPECT_EQ(Sum(counts.TakeDue(kStart + absl::Hours(1))), 1);
}

TEST(DenialCounts, AFloodOfKeysAndDaysIsBounded) {
  DenialCounts counts;
  int64_t added = 0, recorded = 0, entries = 0;
  for (int second = 0; second < 86'400; ++second) {
    for (int i = 0; i < 100; ++i, ++added) counts.Add({.principal = std::to_string(added)});
    const auto due = counts.TakeDue(kStart + absl::Seconds(second));
    EXPECT_LE(due.size(), kMaxDenialKeys + 1);
    recorded += Sum(due);
    entries += static_cast<int64_t>(due.size());
    counts.Recorded();
  }
  EXPECT_LE(entries, 86'400 * kEntryCreditPerSecond + kMaxEntryCredit);
  EXPECT_GT(entries, 8'000);
  EXPECT_EQ(recorded + Sum(counts.Pending()), added);
}

}  // namespace
}  // namespace epsledger::access
