#include "accounting/accountant.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/calibration.h"
#include "accounting/composition.h"
#include "accounting/event/domain.h"
#include "accounting/event/history.h"
#include "accounting/event/validation.h"
#include "accounting/question.h"

namespace epsledger::accounting {
namespace {

// Those that BEST takes the minimum over. MOMENTS is left out: it is never below RENYI.
constexpr Accountant kCompeting[] = {Accountant::kGaussian, Accountant::kRenyi, Accountant::kZcdp,
                                     Accountant::kBasic, Accountant::kAdvanced};

// One query put to one composed history.
struct Ask {
  const Composition& composition;

  absl::StatusOr<Guarantee> operator()(const EpsilonAtDelta& q) const {
    return composition.Epsilon(q.log_delta);
  }
  absl::StatusOr<Guarantee> operator()(const DeltaAtEpsilon& q) const {
    return composition.Delta(q.epsilon);
  }
  absl::StatusOr<Guarantee> operator()(const RenyiDivergenceAtOrder& q) const {
    return composition.RenyiDivergence(q.order);
  }
  absl::StatusOr<Guarantee> operator()(const TypeTwoErrorAt& q) const {
    return composition.TypeTwoError(q.type_one_error);
  }
  absl::StatusOr<Guarantee> operator()(const InverseTypeTwoErrorAt& q) const {
    // Every trade-off function answered here is its own inverse: it belongs to a symmetric pair.
    return composition.TypeTwoError(q.type_two_error);
  }
  absl::StatusOr<Guarantee> operator()(const Advantage&) const { return composition.Delta(0); }
  absl::StatusOr<Guarantee> operator()(const GaussianDpMu& q) const {
    return composition.GaussianDpMu(q.alpha_min);
  }
  absl::StatusOr<Guarantee> operator()(const CentralLimit&) const {
    return absl::UnimplementedError(
        "the functionals of the central limit theorem come with the privacy loss distribution "
        "engine");
  }
  absl::StatusOr<Guarantee> operator()(const Calibrate&) const {
    return absl::InternalError("a calibration is a search, not a question to a composition");
  }
};

// Everything is revealed: the answer under every accountant.
struct AskNonPrivate {
  Guarantee Exactly(double value) const {
    Guarantee answer;
    answer.theorem = "a release without privacy is in the history";
    answer.upper = value;
    answer.lower = value;
    return answer;
  }
  Guarantee Delta() const {
    Guarantee answer = Exactly(1);
    answer.log_upper = 0;
    answer.log_lower = 0;
    return answer;
  }
  absl::StatusOr<Guarantee> operator()(const EpsilonAtDelta& q) const {
    return Exactly(q.log_delta == 0 ? 0 : kInfinity);
  }
  absl::StatusOr<Guarantee> operator()(const DeltaAtEpsilon&) const { return Delta(); }
  absl::StatusOr<Guarantee> operator()(const RenyiDivergenceAtOrder&) const {
    return Exactly(kInfinity);
  }
  absl::StatusOr<Guarantee> operator()(const TypeTwoErrorAt&) const { return Exactly(0); }
  absl::StatusOr<Guarantee> operator()(const InverseTypeTwoErrorAt&) const { return Exactly(0); }
  absl::StatusOr<Guarantee> operator()(const Advantage&) const { return Delta(); }
  absl::StatusOr<Guarantee> operator()(const GaussianDpMu&) const { return Exactly(kInfinity); }
  absl::StatusOr<Guarantee> operator()(const CentralLimit&) const {
    return absl::UnimplementedError("a release without privacy has no central limit theorem");
  }
  absl::StatusOr<Guarantee> operator()(const Calibrate&) const {
    return absl::FailedPreconditionError(
        "query.calibrate: a release without privacy is in the history");
  }
};

// How good an answer is; smaller is better. A type II error is good where its lower bound is high.
double Cost(const Query& query, const Guarantee& answer) {
  if (std::holds_alternative<TypeTwoErrorAt>(query) ||
      std::holds_alternative<InverseTypeTwoErrorAt>(query)) {
    return -answer.lower.value_or(-1);
  }
  if (answer.log_upper.has_value()) return *answer.log_upper;
  return answer.upper.value_or(kInfinity);
}

absl::StatusOr<Guarantee> AnswerBy(Accountant accountant, const std::vector<Use>& uses,
                                   const Question& question) {
  const absl::StatusOr<std::unique_ptr<Composition>> composition = Compose(
      accountant, uses, SettingOf(question),
      {.group_size = question.group_size, .advanced_delta_slack = question.advanced_delta_slack});
  if (!composition.ok()) return composition.status();
  return std::visit(Ask{**composition}, question.query);
}

absl::StatusOr<Guarantee> AnswerByBest(const std::vector<Use>& uses, const Question& question) {
  absl::StatusOr<Guarantee> best = absl::UnimplementedError("");
  std::string reasons;
  for (const Accountant accountant : kCompeting) {
    absl::StatusOr<Guarantee> answer = AnswerBy(accountant, uses, question);
    if (absl::IsUnimplemented(answer.status())) {
      absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", answer.status().message());
      continue;
    }
    if (!answer.ok()) return answer;
    if (!best.ok() || Cost(question.query, *answer) < Cost(question.query, *best)) {
      best = std::move(answer);
    }
  }
  if (!best.ok()) {
    return absl::UnimplementedError(
        absl::StrCat("no accountant answers this for this history: ", reasons));
  }
  return best;
}

absl::StatusOr<Guarantee> AnswerValid(const Question& question) {
  bool claimed = false;
  bool revealed = false;
  for (const CountedEvent& e : question.events) {
    claimed = claimed || ContainsUnverifiedClaim(*e.event);
    revealed = revealed || ContainsNonPrivate(*e.event);
  }
  absl::StatusOr<Guarantee> answer = absl::InternalError("no answer");
  if (revealed) {
    answer = std::visit(AskNonPrivate(), question.query);
    if (answer.ok()) answer->accountant = question.accountant;
  } else if (std::holds_alternative<Calibrate>(question.query)) {
    return AnswerCalibration(question, AnswerValid);
  } else if (question.events.empty()) {
    // Nothing was released: 0-GDP, whoever is asked.
    answer = AnswerBy(Accountant::kGaussian, {}, question);
    if (answer.ok()) {
      answer->accountant = question.accountant;
      answer->theorem = "nothing was released";
    }
  } else {
    const std::vector<Use> uses = Flatten(question.events);
    answer = question.accountant == Accountant::kBest
                 ? AnswerByBest(uses, question)
                 : AnswerBy(question.accountant, uses, question);
  }
  if (answer.ok()) answer->contains_unverified_claim = claimed;
  return answer;
}

}  // namespace

absl::StatusOr<Guarantee> Answer(const Question& question) {
  if (absl::Status status = Validate(question); !status.ok()) return status;
  return AnswerValid(question);
}

}  // namespace epsledger::accounting
