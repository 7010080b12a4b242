#include "server/transport/http/change_window.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace epsledger::transport {
namespace {

ChangeEvent EventOfSize(int64_t sequence, size_t size) {
  return {sequence, std::make_shared<const std::string>(size, 'x')};
}

std::vector<int64_t> SequencesAfter(const ChangeWindow& window, int64_t position) {
  std::vector<int64_t> sequences;
  for (auto next = window.After(position); next != window.end(); ++next) {
    sequences.push_back(next->sequence);
  }
  return sequences;
}

TEST(ChangeWindow, BeginsEmptyAtItsPosition) {
  const ChangeWindow window(7);
  EXPECT_EQ(window.low(), 7);
  EXPECT_EQ(window.high(), 7);
  EXPECT_EQ(window.After(7), window.end());
}

// Sequence numbers have gaps: not every entry is for every client to see.
TEST(ChangeWindow, GivesWhatIsAfterAPosition) {
  ChangeWindow window(0);
  for (const int64_t sequence : {2, 3, 7}) window.Add(EventOfSize(sequence, 1));
  EXPECT_EQ(SequencesAfter(window, 0), (std::vector<int64_t>{2, 3, 7}));
  EXPECT_EQ(SequencesAfter(window, 2), (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(SequencesAfter(window, 4), (std::vector<int64_t>{7}));
  EXPECT_EQ(SequencesAfter(window, 7), std::vector<int64_t>());
  EXPECT_EQ(SequencesAfter(window, 9), std::vector<int64_t>());  // a client of a newer window
  EXPECT_EQ(window.low(), 0);
  EXPECT_EQ(window.high(), 7);
}

TEST(ChangeWindow, HasEverythingAfterLowWhenItIsFull) {
  ChangeWindow window(0);
  constexpr auto kMax = static_cast<int64_t>(ChangeWindow::kMaxEvents);
  for (int64_t sequence = 1; sequence <= kMax + 3; ++sequence) {
    window.Add(EventOfSize(sequence, 1));
    const std::vector<int64_t> all = SequencesAfter(window, window.low());
    ASSERT_EQ(static_cast<int64_t>(all.size()), sequence - window.low());
    ASSERT_EQ(all.front(), window.low() + 1);
    ASSERT_EQ(all.back(), window.high());
  }
  EXPECT_EQ(window.low(), 3);
  EXPECT_EQ(window.high(), kMax + 3);
}

TEST(ChangeWindow, HoldsMoreBytesThanItMayForASingleChangeOnly) {
  ChangeWindow window(0);
  window.Add(EventOfSize(1, ChangeWindow::kMaxBytes));
  EXPECT_EQ(window.low(), 0);
  window.Add(EventOfSize(2, 1));
  EXPECT_EQ(SequencesAfter(window, window.low()), std::vector<int64_t>{2});
  window.Add(EventOfSize(3, ChangeWindow::kMaxBytes + 1));
  EXPECT_EQ(SequencesAfter(window, window.low()), std::vector<int64_t>{3});
  EXPECT_EQ(window.low(), 2);
}

}  // namespace
}  // namespace epsledger::transport
