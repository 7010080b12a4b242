#ifndef EPSLEDGER_ACCOUNTING_MATRIX_PARTICIPATION_H_
#define EPSLEDGER_ACCOUNTING_MATRIX_PARTICIPATION_H_

#include <algorithm>
#include <cstdint>

namespace epsledger::accounting {

// The sets of steps in which one privacy unit may take part: at most max_participations of the
// steps 0, ..., steps - 1, any two of them at least min_separation apart. All three >= 1.
struct Participation {
  int64_t steps = 1;
  int64_t max_participations = 1;
  int64_t min_separation = 1;

  // The size of the largest such set within the first `length` steps.
  int64_t MostOf(int64_t length) const {
    return length <= 0 ? 0 : std::min(max_participations, (length - 1) / min_separation + 1);
  }
  int64_t Most() const { return MostOf(steps); }
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_MATRIX_PARTICIPATION_H_
