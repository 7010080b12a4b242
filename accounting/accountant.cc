#include "accounting/accountant.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/calibration.h"
#include "accounting/central_limit/reading.h"
#include "accounting/composition.h"
#include "accounting/event/domain.h"
#include "accounting/event/history.h"
#include "accounting/event/validation.h"
#include "accounting/question.h"

namespace epsledger::accounting {
namespace {

// Those that BEST takes the minimum over, the tight and the cheap ones first. MOMENTS is left out:
// it is never below RENYI; CLT and MOMENTS_AS_PUBLISHED prove nothing.
constexpr Accountant kCompeting[] = {
    Accountant::kGaussian, Accountant::kBasic, Accountant::kTradeOff, Accountant::kOptimal,
    Accountant::kPld,      Accountant::kRenyi, Accountant::kZcdp,     Accountant::kAdvanced};

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
    // `composition` is that of SettingFor, the other direction: f^-1 of T(Q, P) is T(P, Q).
    return composition.TypeTwoError(q.type_two_error);
  }
  absl::StatusOr<Guarantee> operator()(const Advantage&) const { return composition.Delta(0); }
  absl::StatusOr<Guarantee> operator()(const GaussianDpMu& q) const {
    return composition.GaussianDpMu(q.alpha_min);
  }
  absl::StatusOr<Guarantee> operator()(const CentralLimit&) const {
    return absl::InternalError("functionals are read off a history, not off a composition");
  }
  absl::StatusOr<Guarantee> operator()(const Calibrate&) const {
    return absl::InternalError("a calibration is a search, not a question to a composition");
  }
};

// Under an unordered relation the trade-off function is its own inverse; in one direction the
// inverse is the function of the other one.
Setting SettingFor(const Question& question) {
  Setting setting = SettingOf(question);
  if (std::holds_alternative<InverseTypeTwoErrorAt>(question.query) && setting.adjacency) {
    setting.adjacency =
        *setting.adjacency == Adjacency::kAdd ? Adjacency::kRemove : Adjacency::kAdd;
  }
  // G_mu is its own inverse: it is below one direction's function where it is below the other's.
  if (std::holds_alternative<GaussianDpMu>(question.query)) setting.adjacency.reset();
  return setting;
}

bool AsksTypeTwoError(const Query& query) {
  return std::holds_alternative<TypeTwoErrorAt>(query) ||
         std::holds_alternative<InverseTypeTwoErrorAt>(query);
}

// An answer that contradicts itself is a defect here, and no answer.
absl::Status CheckConsistent(const Guarantee& answer) {
  for (const std::optional<double>& x : {answer.upper, answer.lower, answer.value, answer.log_upper,
                                         answer.log_lower, answer.order, answer.regret}) {
    if (x.has_value() && std::isnan(*x)) return absl::InternalError("an answer is NaN; refused");
  }
  const auto ordered = [](const std::optional<double>& lower, const std::optional<double>& upper) {
    return !lower.has_value() || !upper.has_value() || *lower <= *upper;
  };
  if (!ordered(answer.lower, answer.upper) || !ordered(answer.log_lower, answer.log_upper)) {
    return absl::InternalError(absl::StrCat(
        "the lower bound ", FormatDouble(answer.log_lower.value_or(*answer.lower)),
        " is above the upper bound ", FormatDouble(answer.log_upper.value_or(*answer.upper)),
        " of the ", std::string(Name(answer.accountant)), " accountant; refused"));
  }
  return absl::OkStatus();
}

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
  if (AsksTypeTwoError(query)) return -answer.lower.value_or(-1);
  if (answer.log_upper.has_value()) return *answer.log_upper;
  return answer.upper.value_or(kInfinity);
}

// Nobody can be better than this answer by more than the width that was asked for.
bool IsTight(const Question& question, const Guarantee& answer) {
  if (!answer.lower.has_value() || !answer.upper.has_value()) return false;
  if (AsksTypeTwoError(question.query)) {
    return *answer.upper - *answer.lower <= question.relative_width * *answer.lower;
  }
  if (answer.log_upper.has_value()) {
    return answer.log_lower.has_value() &&
           (*answer.log_lower == *answer.log_upper ||
            *answer.log_upper - *answer.log_lower <= question.relative_width);
  }
  // An infinite upper bound beside a finite lower one is not tight, whatever the arithmetic says.
  return *answer.lower == *answer.upper ||
         (std::isfinite(*answer.upper) &&
          *answer.upper - *answer.lower <= question.relative_width * *answer.upper);
}

// TRADE_OFF adds something to what the others know of a trade-off function only: everything else it
// reads off the same privacy loss as PLD. A mu is fitted by who knows most.
bool Competes(Accountant accountant, const Query& query) {
  if (accountant == Accountant::kBasic && std::holds_alternative<GaussianDpMu>(query)) return false;
  return accountant != Accountant::kTradeOff || AsksTypeTwoError(query) ||
         std::holds_alternative<GaussianDpMu>(query);
}

absl::StatusOr<Guarantee> AnswerBy(Accountant accountant, const std::vector<Use>& uses,
                                   const Question& question) {
  const absl::StatusOr<std::unique_ptr<Composition>> composition =
      Compose(accountant, uses, SettingFor(question),
              {.group_size = question.group_size,
               .advanced_delta_slack = question.advanced_delta_slack,
               .relative_width = question.relative_width});
  if (!composition.ok()) return composition.status();
  return std::visit(Ask{**composition}, question.query);
}

absl::StatusOr<Guarantee> AnswerByBest(const std::vector<Use>& uses, const Question& question) {
  std::optional<Guarantee> best;
  std::optional<Guarantee> highest;  // the answer with the largest lower bound
  std::string reasons;
  for (const Accountant accountant : kCompeting) {
    if (!Competes(accountant, question.query)) continue;
    absl::StatusOr<Guarantee> answer = AnswerBy(accountant, uses, question);
    if (absl::IsUnimplemented(answer.status())) {
      absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", answer.status().message());
      continue;
    }
    if (!answer.ok()) return answer;
    if (absl::Status status = CheckConsistent(*answer); !status.ok()) return status;
    // Approximations are not compared: the first that answers is the best informed.
    if (answer->kind == GuaranteeKind::kApproximation) {
      if (!best.has_value()) return answer;
      continue;
    }
    const bool tight = IsTight(question, *answer);
    if (answer->lower.has_value() &&
        (!highest.has_value() || *answer->lower > *highest->lower ||
         answer->log_lower.value_or(-kInfinity) > highest->log_lower.value_or(-kInfinity))) {
      highest = *answer;
    }
    if (!best.has_value() || Cost(question.query, *answer) < Cost(question.query, *best)) {
      best = *std::move(answer);
    }
    if (tight) break;
  }
  if (!best.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("no accountant answers this for this history: ", reasons));
  }
  if (AsksTypeTwoError(question.query)) return *best;
  if (highest.has_value()) {
    best->lower = highest->lower;
    best->log_lower = highest->log_lower;
    if (absl::Status status = CheckConsistent(*best); !status.ok()) {
      return absl::InternalError(absl::StrCat(
          "two accountants contradict each other: ", std::string(Name(highest->accountant)),
          " bounds from below and ", std::string(Name(best->accountant)), " from above; ",
          status.message()));
    }
  }
  return *best;
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
  } else if (const auto* central_limit = std::get_if<CentralLimit>(&question.query)) {
    answer = ReadCentralLimit(Flatten(question.events), SettingOf(question), question.group_size,
                              central_limit->type_one_error);
  } else if (question.events.empty()) {
    // Nothing was released: 0-GDP, whoever is asked.
    answer = AnswerBy(Accountant::kGaussian, {}, question);
    if (answer.ok()) {
      answer->accountant = question.accountant;
      answer->theorem = "nothing was released";
    }
  } else {
    std::vector<Use> uses = Flatten(question.events);
    if (question.group_size == 1) {
      uses = OpenBandedMatrixFactorizations(std::move(uses), SettingOf(question));
    }
    answer = question.accountant == Accountant::kBest
                 ? AnswerByBest(uses, question)
                 : AnswerBy(question.accountant, uses, question);
  }
  if (!answer.ok()) return answer;
  if (absl::Status status = CheckConsistent(*answer); !status.ok()) return status;
  answer->contains_unverified_claim = claimed;
  return answer;
}

}  // namespace

absl::StatusOr<Guarantee> Answer(const Question& question) {
  if (absl::Status status = Validate(question); !status.ok()) return status;
  return AnswerValid(question);
}

}  // namespace epsledger::accounting
