#include "proto/bridge/canary_audit.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/guarantee_convert.h"
#include "proto/bridge/history_convert.h"

namespace epsledger::bridge {
namespace {

using accounting::OutOfDomain;

absl::Status ReadEvidence(const v1::AuditCanariesRequest& request, int64_t max_scores,
                          accounting::AuditQuestion* question) {
  const int64_t scores = int64_t{request.member_scores_size()} + request.non_member_scores_size();
  const int kinds = (scores > 0 ? 1 : 0) + (request.has_two_arm_counts() ? 1 : 0) +
                    (request.has_one_run_counts() ? 1 : 0);
  if (kinds != 1) {
    return OutOfDomain("memberScores",
                       kinds == 0 ? "neither scores nor counts" : "scores and counts",
                       "one of scores, twoArmCounts and oneRunCounts");
  }
  if (scores > max_scores) {
    return OutOfDomain("memberScores", absl::StrCat(scores, " scores in both lists"),
                       absl::StrCat("at most ", max_scores, ": count, and send the counts"));
  }
  if (request.has_two_arm_counts()) {
    const v1::TwoArmCounts& counts = request.two_arm_counts();
    question->evidence = accounting::TwoArmCounts{.members = counts.members(),
                                                  .true_positives = counts.true_positives(),
                                                  .non_members = counts.non_members(),
                                                  .false_positives = counts.false_positives()};
  } else if (request.has_one_run_counts()) {
    const v1::OneRunCounts& counts = request.one_run_counts();
    question->evidence = accounting::OneRunCounts{
        .canaries = counts.canaries(), .guesses = counts.guesses(), .correct = counts.correct()};
  } else {
    accounting::CanaryScores read;
    read.members.assign(request.member_scores().begin(), request.member_scores().end());
    read.non_members.assign(request.non_member_scores().begin(), request.non_member_scores().end());
    question->evidence = std::move(read);
  }
  return absl::OkStatus();
}

absl::Status ReadCertificate(const v1::AuditCanariesRequest& request,
                             accounting::AuditQuestion* question) {
  accounting::Question history;
  history.query = accounting::Advantage{};
  RETURN_IF_ERROR(ReadHistory(HistoryFields{.events = request.events(),
                                            .neighboring_relation = request.neighboring_relation(),
                                            .adjacency = v1::Adjacency::KIND_UNSPECIFIED,
                                            .sensitivity_relation = request.sensitivity_relation()},
                              &history));
  if (request.events_size() > 0) question->history = std::move(history);
  return absl::OkStatus();
}

v1::AuditCanariesResponse::Hypothesis ToProto(accounting::AuditHypothesis hypothesis) {
  return static_cast<v1::AuditCanariesResponse::Hypothesis>(hypothesis);
}

void FillCounts(const accounting::AuditAnswer& answer, v1::AuditCanariesResponse* response) {
  if (const auto* counts = std::get_if<accounting::TwoArmCounts>(&answer.counts)) {
    response->mutable_two_arm_counts()->set_members(counts->members);
    response->mutable_two_arm_counts()->set_true_positives(counts->true_positives);
    response->mutable_two_arm_counts()->set_non_members(counts->non_members);
    response->mutable_two_arm_counts()->set_false_positives(counts->false_positives);
  } else if (const auto* run = std::get_if<accounting::OneRunCounts>(&answer.counts)) {
    response->mutable_one_run_counts()->set_canaries(run->canaries);
    response->mutable_one_run_counts()->set_guesses(run->guesses);
    response->mutable_one_run_counts()->set_correct(run->correct);
  }
}

}  // namespace

absl::StatusOr<accounting::AuditQuestion> ToQuestion(const v1::AuditCanariesRequest& request,
                                                     int64_t max_scores) {
  accounting::AuditQuestion question;
  absl::Status status =
      CheckEnum(request.method(), v1::AuditCanariesRequest::Method_descriptor(), "method");
  if (!status.ok()) return status;
  question.method = static_cast<accounting::AuditMethod>(request.method());
  question.target = {.delta = request.delta(), .confidence = request.confidence()};
  status = ReadEvidence(request, max_scores, &question);
  if (!status.ok()) return status;
  if (request.has_guesses()) question.guesses = request.guesses();
  if (request.has_claimed_epsilon()) question.claimed_epsilon = request.claimed_epsilon();
  status = ReadCertificate(request, &question);
  if (status.ok()) status = accounting::Validate(question);
  if (!status.ok()) return status;
  return question;
}

absl::StatusOr<v1::AuditCanariesResponse> AuditCanaries(const accounting::AuditQuestion& question) {
  ASSIGN_OR_RETURN(const accounting::AuditAnswer answer, accounting::Audit(question));
  v1::AuditCanariesResponse response;
  ToProto(answer.epsilon, response.mutable_epsilon_lower_bound());
  // No accountant gives this answer.
  response.mutable_epsilon_lower_bound()->clear_accountant();
  response.set_hypothesis(ToProto(answer.hypothesis));
  if (answer.mu_lower) response.set_mu_lower_bound(*answer.mu_lower);
  if (answer.threshold) response.set_threshold(*answer.threshold);
  FillCounts(answer, &response);
  if (answer.true_positive_rate_lower) {
    response.set_true_positive_rate_lower(*answer.true_positive_rate_lower);
  }
  if (answer.false_positive_rate_upper) {
    response.set_false_positive_rate_upper(*answer.false_positive_rate_upper);
  }
  response.set_method(static_cast<v1::AuditCanariesRequest::Method>(question.method));
  response.set_confidence(question.target.confidence);
  response.set_delta(question.target.delta);
  if (question.claimed_epsilon) response.set_claimed_epsilon(*question.claimed_epsilon);
  if (answer.contradicts_claim) response.set_contradicts_claim(*answer.contradicts_claim);
  if (answer.certified_epsilon) {
    ToProto(*answer.certified_epsilon, response.mutable_certified_epsilon());
  }
  if (answer.contradicts_certificate) {
    response.set_contradicts_certificate(*answer.contradicts_certificate);
  }
  if (answer.certificate_p_value) {
    response.set_certificate_p_value(*answer.certificate_p_value);
  }
  return response;
}

}  // namespace epsledger::bridge
