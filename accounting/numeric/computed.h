#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_COMPUTED_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_COMPUTED_H_

namespace epsledger::accounting {

// A computed number and a bound on its absolute error: |value - truth| <= error.
struct Computed {
  double value;
  double error;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_COMPUTED_H_
