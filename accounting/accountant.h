#ifndef EPSLEDGER_ACCOUNTING_ACCOUNTANT_H_
#define EPSLEDGER_ACCOUNTING_ACCOUNTANT_H_

// The one door to the mathematics: a history, an accountant and a query in; a guarantee out.

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/guarantee.h"

namespace epsledger::accounting {

// The smallest epsilon at which the history is (epsilon, delta)-DP.
struct EpsilonAtDelta {
  // Natural logarithm of delta: -inf (delta = 0) to 0. Deltas below 1e-308 are welcome.
  double log_delta = 0;
  // The delta that was asked for, where it was not given as a logarithm: messages name it.
  std::optional<double> given_delta = std::nullopt;
  // log(delta) rounded down, so that the answer holds at delta itself. delta in [0, 1].
  static EpsilonAtDelta FromDelta(double delta);
};
// The smallest delta at which the history is (epsilon, delta)-DP. epsilon finite, any sign.
struct DeltaAtEpsilon {
  double epsilon = 0;
};
// The Renyi divergence of the whole history. order in (1, inf).
struct RenyiDivergenceAtOrder {
  double order = 0;
};
// The trade-off function at a type I error in [0, 1], and its inverse. For one direction P =
// "with", Q = "without" (REMOVE) it is f = T(Q, P), whose inverse T(P, Q) is the function of ADD;
// without a direction it is the lower convex envelope of both, which is its own inverse.
struct TypeTwoErrorAt {
  double type_one_error = 0;
};
struct InverseTypeTwoErrorAt {
  double type_two_error = 0;
};
// delta(0), the largest advantage of a membership attack.
struct Advantage {};
// The mu fit on type I errors in [alpha_min, 1 - alpha_min], with its regret: `upper`, which is an
// APPROXIMATION unless the history is Gaussian throughout.
struct GaussianDpMu {
  double alpha_min = 0;
};
// The functionals of the central limit theorem, whoever is asked: `value` is mu. With a type I
// error, `lower` and `upper` are the Berry-Esseen band of the trade-off function there, a bound.
struct CentralLimit {
  std::optional<double> type_one_error;
};
// The value of one parameter of the first event at which the history spends what is wanted:
// (epsilon, delta), or mu, or a true positive rate at a false positive rate.
struct Calibrate {
  enum class Variable : uint8_t { kNoiseMultiplier = 1, kCount = 2, kSamplingProbability = 3 };
  // An attack may not find more than this share of the members at this rate of false alarms.
  struct OperatingPoint {
    double false_positive_rate = 0;
    double true_positive_rate = 0;
  };
  double epsilon = 0;
  double delta = 0;
  Variable variable = Variable::kNoiseMultiplier;
  // With one of these, epsilon and delta are not looked at.
  std::optional<double> mu = std::nullopt;
  std::optional<OperatingPoint> operating_point = std::nullopt;
};

using Query = std::variant<EpsilonAtDelta, DeltaAtEpsilon, RenyiDivergenceAtOrder, TypeTwoErrorAt,
                           InverseTypeTwoErrorAt, Advantage, GaussianDpMu, CentralLimit, Calibrate>;

// A run-length encoded history and what is asked of it.
struct Question {
  Accountant accountant = Accountant::kBest;
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;
  // One direction of add-or-remove-one; unset takes the worse of both.
  std::optional<Adjacency> adjacency;
  SensitivityRelation sensitivity_relation = SensitivityRelation::kContribution;
  // Composed in this order; the order does not change any answer. Empty: nothing was released.
  std::vector<CountedEvent> events;
  Query query;
  // Wanted (upper - lower) / upper of a two-sided accountant, in (0, 1).
  double relative_width = 1e-3;
  // The guarantee for groups of this many privacy units. >= 1.
  int64_t group_size = 1;
  // delta' of the advanced composition theorem; unset takes half of the target delta.
  std::optional<double> advanced_delta_slack;
};

// Returns a guarantee that holds for every pair of neighbors under question.relation, for
// sequences of events chosen in advance. Rounding is part of the bound.
//
// Special values: an empty history answers 0; a nonPrivate event answers epsilon = +inf and
// delta = 1 under every accountant; where no finite bound exists the answer is +inf, never 0.
// BEST takes the smallest upper bound and the largest lower bound of all accountants that prove
// theirs; once one has answered from both sides to relative_width, the slower ones are not asked.
// Cost: see each accountant.
// Status: INVALID_ARGUMENT names the field in proto3 JSON form, its value and the domain
// (fields are named as in the request: "events[0].event...", "query.epsilonAtDelta");
// UNIMPLEMENTED if the accountant does not know one of the events or the query, with the reason;
// FAILED_PRECONDITION if a calibration has no solution; INTERNAL if an answer contradicts itself or
// another one: nothing is then answered.
absl::StatusOr<Guarantee> Answer(const Question& question);

// A history that is composed once, by each accountant when it is first asked, and asked many
// questions: each answer means what Answer says of it. What was computed for one question serves
// the next ones (a trade-off curve is tabulated once, so that it comes out convex and
// non-increasing from one accountant), so an answer may depend, within its bounds, on what was
// asked before. Not safe to share between threads.
class ComposedHistory {
 public:
  // `history.accountant` is the one that is asked where none is named; `history.query` must be
  // valid and is not asked. Status: INVALID_ARGUMENT as Answer.
  static absl::StatusOr<ComposedHistory> Create(Question history);
  ComposedHistory(ComposedHistory&&) noexcept;
  ComposedHistory& operator=(ComposedHistory&&) noexcept;
  ~ComposedHistory();

  // Answer(history) with this query, or with this accountant and query. Status: as Answer.
  absl::StatusOr<Guarantee> Ask(const Query& query);
  absl::StatusOr<Guarantee> Ask(Accountant accountant, const Query& query);

 private:
  struct State;
  explicit ComposedHistory(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ACCOUNTANT_H_
