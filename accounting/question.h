#ifndef EPSLEDGER_ACCOUNTING_QUESTION_H_
#define EPSLEDGER_ACCOUNTING_QUESTION_H_

#include "absl/status/status.h"
#include "accounting/accountant.h"
#include "accounting/event/history.h"

namespace epsledger::accounting {

// OK if every field of the question is in its domain. Otherwise INVALID_ARGUMENT with the first
// offending field as the request names it: "query.epsilonAtDelta: got 1.5, want in [0, 1]".
absl::Status Validate(const Question& question);
// Of one of its fields.
absl::Status Validate(Accountant accountant);
absl::Status Validate(const Query& query);

// The neighbors that the question is about. REQUIRES: Validate(question) is OK.
Setting SettingOf(const Question& question);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_QUESTION_H_
