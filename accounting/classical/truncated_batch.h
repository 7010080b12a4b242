#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_TRUNCATED_BATCH_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_TRUNCATED_BATCH_H_

#include <cstdint>

#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// How often a Poisson batch of records that are drawn with probability q each is full, and what
// happens to one more record then. K ~ Binomial(others, q) of the other records are drawn; of a
// batch with more than `capacity` records a uniformly random `capacity` are kept. Given K >=
// capacity, the kept part of the others is a uniform subset whatever K is, so that the record
// enters it with one probability
//
//   kept = E[q capacity / (K + 1) | K >= capacity]
//        = capacity / (others + 1) P[Binomial(others + 1, q) > capacity] / P[K >= capacity].
struct TruncatedBatch {
  Bounds full;      // P[K >= capacity], in [0, 1]
  double not_full;  // >= P[K < capacity]
  double kept;      // >= kept, in [0, 1], and at most q capacity / (capacity + 1) rounded up
};

// q in (0, 1], others in [0, 2^53], capacity in [1, 2^53]. full is {0, 0} exactly where capacity >
// others. Relative width: some 1e-13 (1 + |log P|) where the capacity is at most 10,000 away from
// the end of the tail that matters; farther away, or where P is not small and others is beyond some
// 1e8, a geometric series or 1 takes the place of the terms that are not summed. Cost: at most
// 20,000 terms of a few ns.
TruncatedBatch TruncateBatch(double q, int64_t others, int64_t capacity);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_TRUNCATED_BATCH_H_
