#ifndef EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_MEASUREMENT_H_
#define EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_MEASUREMENT_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace epsledger::accounting {

// Returns the seconds that `work` takes.
double SecondsOf(absl::FunctionRef<void()> work);

// Returns the median of the values; for an even number of values, the mean of the middle two.
// REQUIRES: not empty.
double Median(std::vector<double> values);

// Returns the largest growth in bytes of this process's resident memory while `work` runs, or -1 if
// the kernel does not report it. Memory that earlier work left in the allocator does not count, so
// call this in a process that has done nothing else.
int64_t PeakGrowthOf(absl::FunctionRef<void()> work);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_MEASUREMENT_H_
