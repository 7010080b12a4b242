#include "server/access/denial_counts.h"

#include "gtest/gtest.h"

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

TEST(DenialCounts, AClockThatIsSetBackHoldsUpForAnIntervalOnly) {
  DenialCounts counts;
  counts.Add({.principal = "p"});
  EXPECT_EQ(Sum(counts.TakeDue(kStart + absl::Hours(10))), 1);
  counts.Recorded();
  counts.Add({.principal = "p"});
  EXPECT_TRUE(counts.TakeDue(kStart).empty());
  EXPECT_EQ(Sum(counts.TakeDue(kStart + kRecordingInterval)), 1);
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

TEST(DenialCounts, StrangersAndNeighboursHideNothingOfATenant) {
  DenialCounts counts;
  const core::DenialCount of_victim = {
      .tenant = "victim", .principal = "tokens/1", .method = "m", .reason = "r"};
  int64_t added = 0;
  for (int i = 0; i < 1000; ++i, added += 2) {
    counts.AddStranger({.principal = std::to_string(i)});
    counts.Add({.tenant = "hostile", .principal = std::to_string(i)});
  }
  for (int i = 0; i < 3; ++i, ++added) counts.Add(of_victim);
  const auto count_of_victim = [&](const std::vector<core::DenialCount>& all) {
    int64_t found = 0;
    for (const core::DenialCount& count : all) {
      if (count.tenant == "victim" && count.principal == "tokens/1") found += count.count;
    }
    return found;
  };
  EXPECT_EQ(count_of_victim(counts.Pending()), 3);
  EXPECT_EQ(Sum(counts.Pending()), added);
  // The hostile tenant's own rest is its own.
  int64_t of_hostile = 0;
  size_t keys_of_hostile = 0;
  for (const core::DenialCount& count : counts.Pending()) {
    if (count.tenant != "hostile") continue;
    of_hostile += count.count;
    ++keys_of_hostile;
  }
  EXPECT_EQ(of_hostile, 1000);
  EXPECT_EQ(keys_of_hostile, kMaxDenialKeysOfTenant + 1);
  // Strangers use up nothing of what tenants may record.
  EXPECT_EQ(count_of_victim(counts.TakeDue(kStart)), 3);
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
