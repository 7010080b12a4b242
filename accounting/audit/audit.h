#ifndef EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_H_

// The one door to the audits: what an attack found out and what is claimed in; what that shows out.

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

// What must be true of the mechanism for the lower bound on epsilon to hold. Numbers as above.
enum class AuditHypothesis : uint8_t {
  // Nothing.
  kNone = 1,
  // Its trade-off function is Gaussian.
  kGaussianTradeOff = 2,
};

struct AuditQuestion {
  AuditMethod method = AuditMethod::kTwoArmThreshold;
  AuditTarget target;
  std::variant<CanaryScores, TwoArmCounts, OneRunCounts> evidence;
  // One run, with scores: how many guesses were fixed before the run. Unset: DefaultGuesses, each
  // with its share of the failure probability.
  std::optional<int64_t> guesses;
  // What is claimed at target.delta. In [0, inf).
  std::optional<double> claimed_epsilon;
  // What was charged. Its query is not asked.
  std::optional<Question> history;
};

struct AuditAnswer {
  // kind kLowerBound, with `lower` set: <= the epsilon of the mechanism at delta with probability
  // >= confidence, provided the hypothesis.
  Guarantee epsilon;
  AuditHypothesis hypothesis = AuditHypothesis::kNone;
  // <= the smallest mu at which the mechanism is mu-GDP; needs no hypothesis. Unset for kOneRun.
  std::optional<double> mu_lower;
  // Two arms, with scores: what the scores were cut at.
  std::optional<double> threshold;
  // What was counted; with several numbers of guesses, for the one that shows most.
  std::variant<TwoArmCounts, OneRunCounts> counts;
  // Two arms: both hold with probability >= confidence.
  std::optional<double> true_positive_rate_lower;
  std::optional<double> false_positive_rate_upper;
  // Set with a claim: epsilon.lower is above it.
  std::optional<bool> contradicts_claim;
  // Set with a history: what it certifies at delta, and whether what was counted cannot be at this
  // confidence. Needs no hypothesis: two arms are held against the certified trade-off function at
  // their rates, kOneRun against the certified epsilon, kOneRunFDp against the function.
  std::optional<Guarantee> certified_epsilon;
  std::optional<bool> contradicts_certificate;
  // kOneRunFDp with a history: the probability of so many right guesses, at most.
  std::optional<double> certificate_p_value;
};

// Status: INVALID_ARGUMENT names the field as the request does ("claimedEpsilon: got -1, want in
// [0, inf)", "memberScores[3]: got NaN, want a number"), also where the evidence does not belong to
// the method. Otherwise as the accountants, for the history. Cost: see each method.
absl::StatusOr<AuditAnswer> Audit(const AuditQuestion& question);

// What of that can be said without computing.
absl::Status Validate(const AuditQuestion& question);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_H_
