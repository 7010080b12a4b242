#ifndef EPSLEDGER_ACCOUNTING_QUESTION_H_
#define EPSLEDGER_ACCOUNTING_QUESTION_H_

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "accounting/epsilon_at_delta.h"
#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/guarantee.h"

namespace epsledger::accounting {

// The smallest delta at which the history is (epsilon, delta)-DP. epsilon finite, any sign.
struct DeltaAtEpsilon {
  double epsilon = 0;
};
// The Renyi divergence of the whole history. order in [1, +inf]: 1 is the Kullback-Leibler
// divergence, +inf the largest privacy loss.
struct RenyiDivergenceAtOrder {
  double order = 0;
};
// The trade-off function at a type I error in [0, 1], and its inverse. For one direction P =
// "with", Q = "without" (REMOVE) the function is f = T(Q, P), whose inverse T(P, Q) is the function
// of ADD. Without a direction it is the lower convex envelope of both, which is its own inverse.
struct TypeTwoErrorAt {
  double type_one_error = 0;
};
struct InverseTypeTwoErrorAt {
  double type_two_error = 0;
};
// delta(0), the largest advantage of a membership attack.
struct Advantage {};
// The smallest mu with f >= G_mu on type I errors in [alpha_min, 1 - alpha_min], from above
// (`upper`), with its regret. Labelled an APPROXIMATION unless every event of the history is
// Gaussian: outside the range nothing is said, so the history is not proved to be mu-GDP. With a
// direction, `upper` is that of both, and there is no `lower`.
struct GaussianDpMu {
  double alpha_min = 0;
};
// The functionals of the central limit theorem, for any accountant asked: `value` is mu. With a
// type I error, `lower` and `upper` are the Berry-Esseen band of the trade-off function there, a
// bound.
struct CentralLimit {
  std::optional<double> type_one_error;
};
// The value of one parameter of the first event at which the history spends the target: (epsilon,
// delta), or mu, or a true positive rate at a false positive rate.
struct Calibrate {
  enum class Variable : uint8_t { kNoiseMultiplier = 1, kCount = 2, kSamplingProbability = 3 };
  // An attack with this rate of false alarms may not find more than this share of the members.
  struct OperatingPoint {
    double false_positive_rate = 0;
    double true_positive_rate = 0;
  };
  double epsilon = 0;
  double delta = 0;
  Variable variable = Variable::kNoiseMultiplier;
  // If one of these is set, epsilon and delta are ignored.
  std::optional<double> mu = std::nullopt;
  std::optional<OperatingPoint> operating_point = std::nullopt;
};

// The largest true positive rate of a membership test at this false positive rate, in [0, 1]: 1 -
// TypeTwoErrorAt.
struct TruePositiveRateAt {
  double false_positive_rate = 0;
};
// The largest probability with which a membership attack is right, if the record is in the data set
// with probability `prior`, in (0, 1). Under add-or-remove-one both directions give this number:
// the question has none.
struct BayesSuccessAt {
  double prior = 0;
};
// A bound on the probability that an attacker who knows the rest of the data set reconstructs a
// record, or infers one of its attributes, if without the output no guess succeeds with a
// probability above `baseline`, in [0, 1]. Under add-or-remove-one it is read in the direction
// REMOVE: the question has none.
struct ReconstructionSuccessAt {
  double baseline = 0;
};

using Query = std::variant<EpsilonAtDelta, DeltaAtEpsilon, RenyiDivergenceAtOrder, TypeTwoErrorAt,
                           InverseTypeTwoErrorAt, Advantage, GaussianDpMu, CentralLimit, Calibrate,
                           TruePositiveRateAt, BayesSuccessAt, ReconstructionSuccessAt>;

// A run-length encoded history and a query about it.
struct Question {
  Accountant accountant = Accountant::kBest;
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;
  // One direction of add-or-remove-one; unset takes the worse of both.
  std::optional<Adjacency> adjacency;
  SensitivityRelation sensitivity_relation = SensitivityRelation::kContribution;
  // Composed in this order; the order does not change any answer. Empty if nothing was released.
  std::vector<CountedEvent> events;
  Query query;
  // Wanted (upper - lower) / upper of a two-sided accountant, in (0, 1).
  double relative_width = 1e-3;
  // The guarantee is for groups of this many privacy units, >= 1, that are all added or all
  // removed. Under add-or-remove-one with sampling nothing is proved here for data sets where some
  // members of the group are added and others are removed (profile/README.md).
  int64_t group_size = 1;
  // delta' of the advanced composition theorem; unset takes half of the target delta.
  std::optional<double> advanced_delta_slack;
};

// OK if every field of the question is in its domain. Otherwise INVALID_ARGUMENT names the first
// offending field as the request does: "query.epsilonAtDelta: got 1.5, want in [0, 1]".
absl::Status Validate(const Question& question);
// The same check for one field.
absl::Status Validate(Accountant accountant);
absl::Status Validate(const Query& query);

// INVALID_ARGUMENT if there is a direction and the query is one number for both directions.
absl::Status ValidateDirection(const std::optional<Adjacency>& adjacency, const Query& query);

// The neighbors that the question is about. REQUIRES: Validate(question) is OK.
Setting SettingOf(const Question& question);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_QUESTION_H_
