#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_BOUNDS_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_BOUNDS_H_

namespace epsledger::accounting {

// lower <= truth <= upper.
struct Bounds {
  double lower;
  double upper;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_BOUNDS_H_
