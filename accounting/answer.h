#ifndef EPSLEDGER_ACCOUNTING_ANSWER_H_
#define EPSLEDGER_ACCOUNTING_ANSWER_H_

// The entry point to the mathematics: takes a history, an accountant and a query, returns a
// guarantee.

#include <memory>

#include "absl/status/statusor.h"
#include "accounting/guarantee.h"
#include "accounting/question.h"

namespace epsledger::accounting {

// Returns a guarantee that holds for every pair of neighbors under question.relation, for
// sequences of events chosen in advance. Rounding is part of the bound.
//
// Special values: an empty history answers 0; a nonPrivate event answers epsilon = +inf and
// delta = 1 under every accountant; where no finite bound exists the answer is +inf, never 0.
// BEST takes the smallest upper bound and the largest lower bound of all accountants that prove
// theirs. Once one accountant has answered from both sides to relative_width, BEST does not ask the
// slower ones. Cost: see each accountant.
// Status: INVALID_ARGUMENT names the field in proto3 JSON form, its value and the domain
// (fields are named as in the request: "events[0].event...", "query.epsilonAtDelta");
// UNIMPLEMENTED if the accountant does not know one of the events or the query, with the reason;
// FAILED_PRECONDITION if a calibration has no solution; INTERNAL if an answer contradicts itself or
// another answer; no guarantee is returned then.
absl::StatusOr<Guarantee> Answer(const Question& question);

// A history for many questions. Each accountant composes the history once, when it is first asked;
// each answer has the meaning that Answer states. Results of one question are reused for the next
// ones (a trade-off curve is tabulated once, so that one accountant answers a convex and
// non-increasing curve), so an answer may depend, within its bounds, on earlier questions. Not safe
// to share between threads.
class ComposedHistory {
 public:
  // Ask without an accountant asks `history.accountant`. `history.query` must be valid and is not
  // answered. Status: INVALID_ARGUMENT as Answer.
  static absl::StatusOr<ComposedHistory> Create(Question history);
  ComposedHistory(ComposedHistory&&) noexcept;
  ComposedHistory& operator=(ComposedHistory&&) noexcept;
  ~ComposedHistory();

  // Returns Answer(history) with this query, or with this accountant and query. Status: as Answer.
  absl::StatusOr<Guarantee> Ask(const Query& query);
  absl::StatusOr<Guarantee> Ask(Accountant accountant, const Query& query);

 private:
  struct State;
  explicit ComposedHistory(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ANSWER_H_
