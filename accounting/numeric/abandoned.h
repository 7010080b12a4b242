#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_ABANDONED_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_ABANDONED_H_

namespace epsledger::accounting {

// The `abandoned` callback for callers who want the answer in any case. A long computation calls
// it; if it returns true, the computation stops with an error, never with a smaller answer.
inline bool NeverAbandoned() { return false; }

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_ABANDONED_H_
