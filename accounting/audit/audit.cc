#include "accounting/audit/audit.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/answer.h"
#include "accounting/audit/certified_trade_off.h"
#include "accounting/audit/one_run_trade_off.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"
#include "accounting/question.h"

namespace epsledger::accounting {
namespace {

constexpr size_t kSmallestArm = 8;

bool IsOneRun(AuditMethod method) {
  return method == AuditMethod::kOneRun || method == AuditMethod::kOneRunFDp;
}

std::string Theorem(AuditMethod method, size_t shares) {
  const std::string bonferroni =
      shares > 1 ? absl::StrCat(" ; Bonferroni over ", shares, " numbers of guesses") : "";
  switch (method) {
    case AuditMethod::kTwoArmThreshold:
      return "[CP34] at half of the failure probability for each rate";
    case AuditMethod::kTwoArmGdp:
      return "[CP34] at half of the failure probability for each rate ; [DRS19] Def 2.6 and Cor "
             "2.13";
    case AuditMethod::kOneRun:
      return "[SNJ23] Thm 5.2" + bonferroni;
    case AuditMethod::kOneRunFDp:
      return "[MMC24] for the family G_mu, proved in accounting/audit/README.md ; [DRS19] Cor "
             "2.13" +
             bonferroni;
  }
  return "";
}

Guarantee LowerBound(double epsilon, std::string theorem) {
  Guarantee guarantee;
  guarantee.kind = GuaranteeKind::kLowerBound;
  guarantee.theorem = std::move(theorem);
  guarantee.lower = epsilon;
  return guarantee;
}

absl::Status AnswerTwoArms(const AuditQuestion& question, AuditAnswer* answer) {
  const bool by_mu = question.method == AuditMethod::kTwoArmGdp;
  TwoArmAudit audit;
  if (const auto* counts = std::get_if<TwoArmCounts>(&question.evidence)) {
    ASSIGN_OR_RETURN(const TwoArmAudit counted, AuditTwoArms(*counts, question.target));
    audit = counted;
    answer->counts = *counts;
  } else {
    ASSIGN_OR_RETURN(
        const TwoArmScoreAudit scored,
        AuditTwoArmScores(std::get<CanaryScores>(question.evidence),
                          by_mu ? AuditObjective::kMu : AuditObjective::kEpsilon, question.target));
    audit = scored.audit;
    answer->counts = scored.counts;
    answer->threshold = scored.threshold;
  }
  answer->true_positive_rate_lower = audit.true_positive_rate_lower;
  answer->false_positive_rate_upper = audit.false_positive_rate_upper;
  answer->mu_lower = audit.mu_lower;
  answer->hypothesis = by_mu ? AuditHypothesis::kGaussianTradeOff : AuditHypothesis::kNone;
  answer->epsilon = LowerBound(by_mu ? audit.epsilon_lower_if_gaussian : audit.epsilon_lower,
                               Theorem(question.method, 1));
  return absl::OkStatus();
}

// Returns the counts for every number of guesses to try.
absl::StatusOr<std::vector<OneRunCounts>> CountsOf(const AuditQuestion& question) {
  if (const auto* counts = std::get_if<OneRunCounts>(&question.evidence)) {
    return std::vector<OneRunCounts>{*counts};
  }
  const auto& scores = std::get<CanaryScores>(question.evidence);
  std::vector<int64_t> tried =
      DefaultGuesses(static_cast<int64_t>(scores.members.size() + scores.non_members.size()));
  if (question.guesses.has_value()) tried = {*question.guesses};
  std::vector<OneRunCounts> all;
  for (const int64_t guesses : tried) {
    ASSIGN_OR_RETURN(OneRunCounts counts, CountGuesses(scores, guesses));
    all.push_back(counts);
  }
  if (all.empty()) return OutOfDomain("memberScores", "0 scores", "at least 1 in all");
  return all;
}

absl::Status AnswerOneRun(const AuditQuestion& question, const TradeOffFunction* certified,
                          AuditAnswer* answer) {
  ASSIGN_OR_RETURN(const std::vector<OneRunCounts> all, CountsOf(question));
  const auto shares = static_cast<double>(all.size());
  AuditTarget share = question.target;
  // Rounds the confidence up, so that the shares do not add up to more than the failure
  // probability.
  share.confidence = std::min(
      NextDown(1.0), NextUp(1 - RoundDown(question.target.failure_probability() / shares)));
  double best = -1;
  for (const OneRunCounts& counts : all) {
    double value = 0;
    if (question.method == AuditMethod::kOneRun) {
      ASSIGN_OR_RETURN(const double epsilon, OneRunEpsilonLowerBound(counts, share));
      value = epsilon;
      if (value > best) answer->epsilon = LowerBound(value, Theorem(question.method, all.size()));
    } else {
      ASSIGN_OR_RETURN(const OneRunGaussianAudit audit, AuditOneRunGaussian(counts, share));
      value = audit.mu_lower;
      if (value > best) {
        answer->mu_lower = value;
        answer->hypothesis = AuditHypothesis::kGaussianTradeOff;
        answer->epsilon =
            LowerBound(audit.epsilon_lower_if_gaussian, Theorem(question.method, all.size()));
      }
      if (certified != nullptr) {
        const double p_value =
            std::min(1.0, RoundUp(OneRunTradeOffPValue(counts, *certified) * shares));
        answer->certificate_p_value = std::min(answer->certificate_p_value.value_or(1), p_value);
      }
    }
    if (value > best) {
      best = value;
      answer->counts = counts;
    }
  }
  return absl::OkStatus();
}

absl::Status CompareWithCertificate(const AuditQuestion& question,
                                    const TradeOffFunction* certified, AuditAnswer* answer) {
  Question history = *question.history;
  history.query = EpsilonAtDelta::FromDelta(question.target.delta);
  ASSIGN_OR_RETURN(Guarantee epsilon, Answer(history));
  const double upper =
      epsilon.kind == GuaranteeKind::kApproximation ? kInfinity : epsilon.upper.value_or(kInfinity);
  answer->certified_epsilon = std::move(epsilon);
  if (question.method == AuditMethod::kOneRun) {
    answer->contradicts_certificate = *answer->epsilon.lower > upper;
  } else if (question.method == AuditMethod::kOneRunFDp) {
    answer->contradicts_certificate =
        *answer->certificate_p_value <= question.target.failure_probability();
  } else {
    // No test of type I error <= a has a type II error below f(a), f non-increasing.
    const double type_two_error = NextUp(1 - *answer->true_positive_rate_lower);
    answer->contradicts_certificate =
        type_two_error < certified->At(*answer->false_positive_rate_upper).lower;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const AuditQuestion& question) {
  const auto number = static_cast<int>(question.method);
  if (number < 1 || number > 4) {
    return OutOfDomain("method", absl::StrCat(number), "a method of audit");
  }
  absl::Status status = Validate(question.target);
  if (!status.ok()) return status;
  const bool one_run = IsOneRun(question.method);
  if (one_run && std::holds_alternative<TwoArmCounts>(question.evidence)) {
    return OutOfDomain("twoArmCounts", "counts", "oneRunCounts or scores with this method");
  }
  if (!one_run && std::holds_alternative<OneRunCounts>(question.evidence)) {
    return OutOfDomain("oneRunCounts", "counts", "twoArmCounts or scores with this method");
  }
  const auto* scores = std::get_if<CanaryScores>(&question.evidence);
  if (scores != nullptr) {
    status = Validate(*scores, one_run ? 0 : kSmallestArm);
  } else if (const auto* counts = std::get_if<OneRunCounts>(&question.evidence)) {
    status = Validate(*counts);
  }
  if (!status.ok()) return status;
  if (question.guesses.has_value() && (!one_run || scores == nullptr)) {
    return OutOfDomain("guesses", absl::StrCat(*question.guesses),
                       "none: it belongs to the scores of one run");
  }
  if (question.claimed_epsilon.has_value()) {
    status = CheckInterval("claimedEpsilon", *question.claimed_epsilon, kNonNegative);
    if (!status.ok()) return status;
  }
  if (!question.history.has_value()) return absl::OkStatus();
  if (question.history->adjacency.has_value()) {
    return OutOfDomain("adjacency", "a direction", "none: an audit is of both");
  }
  return Validate(*question.history);
}

absl::StatusOr<AuditAnswer> Audit(const AuditQuestion& question) {
  absl::Status status = Validate(question);
  if (!status.ok()) return status;
  std::optional<TradeOffFunction> certified;
  if (question.history.has_value() && question.method != AuditMethod::kOneRun) {
    ASSIGN_OR_RETURN(TradeOffFunction f, CertifiedTradeOff(*question.history));
    certified = std::move(f);
  }
  const TradeOffFunction* function = certified.has_value() ? &*certified : nullptr;
  AuditAnswer answer;
  status = IsOneRun(question.method) ? AnswerOneRun(question, function, &answer)
                                     : AnswerTwoArms(question, &answer);
  if (!status.ok()) return status;
  if (question.claimed_epsilon.has_value()) {
    answer.contradicts_claim = *answer.epsilon.lower > *question.claimed_epsilon;
  }
  if (question.history.has_value()) {
    status = CompareWithCertificate(question, function, &answer);
    if (!status.ok()) return status;
  }
  return answer;
}

}  // namespace epsledger::accounting
