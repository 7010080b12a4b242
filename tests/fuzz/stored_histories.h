#ifndef EPSLEDGER_TESTS_FUZZ_STORED_HISTORIES_H_
#define EPSLEDGER_TESTS_FUZZ_STORED_HISTORIES_H_

#include <vector>

#include "tests/server/core/random_history.h"

namespace epsledger::fuzz {

inline constexpr int kStoredHistories = 12;

// Returns the entries of some used ledgers, the same in every process. They hold every kind of
// entry.
inline const std::vector<core::Entry>& StoredHistory(int which) {
  static const auto& histories = *new std::vector<std::vector<core::Entry>>([] {
    std::vector<std::vector<core::Entry>> made;
    for (int i = 0; i < kStoredHistories; ++i) {
      core::RandomHistory history(static_cast<uint64_t>(i),
                                  i % 2 == 0 ? accounting::NeighboringRelation::kAddOrRemoveOne
                                             : accounting::NeighboringRelation::kReplaceOne);
      for (int step = 0; step < 60; ++step) history.Take();
      made.push_back(history.entries());
    }
    return made;
  }());
  return histories[static_cast<size_t>(which)];
}

}  // namespace epsledger::fuzz

#endif  // EPSLEDGER_TESTS_FUZZ_STORED_HISTORIES_H_
