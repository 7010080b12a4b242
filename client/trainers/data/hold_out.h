#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_HOLD_OUT_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_HOLD_OUT_H_

#include <vector>

#include "client/trainers/data/libsvm_data.h"

namespace epsledger::trainers {

// One in so many records is held out of a set without a test file.
inline constexpr int kHoldOutEvery = 4;

// A set in two parts, by the numbers of its records, ascending.
struct Split {
  std::vector<int> train;
  std::vector<int> held_out;
};

// Splits a set that has no test file. With `is_known` content, which is public, the records 0, 4,
// 8, ... are held out: fixed, so that no run ever trains on a record that another run evaluates on.
//
// Guarantee for any other content: in which part a record is depends on that record alone (on the
// SHA-256 of its canonical text). A record more or less moves no other one, as it would by
// position; equal records are together. What is held out is evaluated without noise and has NO
// guarantee.
Split SplitRecords(const ParsedRecords& records, bool is_known);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_HOLD_OUT_H_
