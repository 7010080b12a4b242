#ifndef EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_MEASUREMENT_H_
#define EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_MEASUREMENT_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace epsledger::accounting {

// The seconds that `work` takes.
double SecondsOf(absl::FunctionRef<void()> work);

// The middle one of the values; of an even number, the mean of the two. REQUIRES: not empty.
double Median(std::vector<double> values);

// Returns by how many bytes the resident memory of this process grows at most while `work` runs, or
// -1 where the kernel does not say. What earlier work left in the allocator is not counted: ask in
// a process that has done nothing else.
int64_t PeakGrowthOf(absl::FunctionRef<void()> work);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_BENCHMARK_ACCOUNTING_MEASUREMENT_H_
