#ifndef EPSLEDGER_ACCOUNTING_PLD_PRECISION_H_
#define EPSLEDGER_ACCOUNTING_PLD_PRECISION_H_

#include <cstdint>
#include <limits>

namespace epsledger::accounting {

// The wanted width of a bracket and the work that may be spent on it.
struct Precision {
  // (upper - lower) / upper, of an epsilon or of a delta.
  double relative_width = 1e-3;
  // An absolute width of an epsilon, and of a delta, that is narrow enough however small the value
  // is.
  double absolute_epsilon = 1e-6;
  double absolute_delta = 0;
  // An upper bound of at most this value is narrow enough: another direction of the same pair is
  // known to be as large, and the answer is the larger of the two.
  double exceeded_epsilon = 0;
  double exceeded_log_delta = -std::numeric_limits<double>::infinity();
  // Lattice points of the composed distribution; about 100 bytes each while it is made.
  int64_t max_points = int64_t{1} << 20;
  // Points that may be discretized, each weighted by PrivacyProfile::Cost, and transformed for one
  // question; a million take a third of a second. Every 128 different profiles add as much again.
  // 0: only lattices built for earlier questions are used.
  double max_work = 0x1p21;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_PRECISION_H_
