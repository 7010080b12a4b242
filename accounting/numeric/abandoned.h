#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_ABANDONED_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_ABANDONED_H_

namespace epsledger::accounting {

// What a long computation is given to ask, where the answer is wanted in any case. A computation
// that is asked to stop returns an error, never a smaller answer.
inline bool NeverAbandoned() { return false; }

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_ABANDONED_H_
