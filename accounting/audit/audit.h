#ifndef EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_H_

// The entry point to the audits: takes the results of an attack and the claims about a mechanism,
// returns what the results show.

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/status/statusor.h"
#include "accounting/audit/audit_target.h"
#include "accounting/audit/canary_scores.h"
#include "accounting/audit/one_run.h"
#include "accounting/audit/two_arm.h"
#include "accounting/question.h"

namespace epsledger::accounting {

// Numbers as in proto/epsledger/v1/accounting_service.proto.
enum class AuditMethod : uint8_t {
  kTwoArmThreshold = 1,
  kTwoArmGdp = 2,
  kOneRun = 3,
  kOneRunFDp = 4,
};

// The assumption about the mechanism under which the lower bound on epsilon holds. Numbers as
// above.
enum class AuditHypothesis : uint8_t {
  // No assumption.
  kNone = 1,
  // Its trade-off function is Gaussian.
  kGaussianTradeOff = 2,
};

struct AuditQuestion {
  AuditMethod method = AuditMethod::kTwoArmThreshold;
  AuditTarget target;
  std::variant<CanaryScores, TwoArmCounts, OneRunCounts> evidence;
  // One run, with scores: the number of guesses that was fixed before the run. If unset,
  // DefaultGuesses, each with its share of the failure probability.
  std::optional<int64_t> guesses;
  // The claimed epsilon at target.delta. In [0, inf).
  std::optional<double> claimed_epsilon;
  // The charged history. Its query is not answered.
  std::optional<Question> history;
};

struct AuditAnswer {
  // kind kLowerBound, with `lower` set: <= the epsilon of the mechanism at delta with probability
  // >= confidence, provided the hypothesis holds.
  Guarantee epsilon;
  AuditHypothesis hypothesis = AuditHypothesis::kNone;
  // <= the smallest mu at which the mechanism is mu-GDP; needs no hypothesis. Unset for kOneRun.
  std::optional<double> mu_lower;
  // Two arms, with scores: the threshold at which the scores were cut.
  std::optional<double> threshold;
  // The counts; with several numbers of guesses, those of the number that shows most.
  std::variant<TwoArmCounts, OneRunCounts> counts;
  // Two arms: both hold with probability >= confidence.
  std::optional<double> true_positive_rate_lower;
  std::optional<double> false_positive_rate_upper;
  // Set with a claim: true if epsilon.lower is above the claimed epsilon.
  std::optional<bool> contradicts_claim;
  // Set with a history: the epsilon that it certifies at delta, and whether the counts contradict
  // the certificate at this confidence. Needs no hypothesis: two arms are compared with the
  // certified trade-off function at their rates, kOneRun with the certified epsilon, kOneRunFDp
  // with the function.
  std::optional<Guarantee> certified_epsilon;
  std::optional<bool> contradicts_certificate;
  // kOneRunFDp with a history: an upper bound on the probability of at least `correct` right
  // guesses.
  std::optional<double> certificate_p_value;
};

// Status: INVALID_ARGUMENT names the field as the request does ("claimedEpsilon: got -1, want in
// [0, inf)", "memberScores[3]: got NaN, want a number"), also where the evidence does not belong to
// the method. Other errors are those of the accountants for the history. Cost: see each method.
absl::StatusOr<AuditAnswer> Audit(const AuditQuestion& question);

// Returns the errors of Audit that can be found without computing.
absl::Status Validate(const AuditQuestion& question);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_H_
