#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_HOLD_OUT_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_HOLD_OUT_H_

#include <vector>

#include "client/trainers/data/libsvm_data.h"

namespace epsledger::trainers {

// One in this many records is held out of a set without a test file.
inline constexpr int kHoldOutEvery = 4;

// The record numbers of the two parts of a set, ascending.
struct Split {
  std::vector<int> train;
  std::vector<int> held_out;
};

// Splits a set that has no test file. With `is_known` content, which is public, the records 0, 4,
// 8, ... are held out. This split is fixed, so no run trains on a record that another run evaluates
// on.
//
// Guarantee for any other content: the part of a record depends on that record alone (on the
// SHA-256 of its canonical text). Adding or removing a record moves no other record, unlike a split
// by position; equal records are in the same part. The held-out records are evaluated without noise
// and have NO guarantee.
Split SplitRecords(const ParsedRecords& records, bool is_known);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_HOLD_OUT_H_
