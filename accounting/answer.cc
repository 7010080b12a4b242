#include "accounting/answer.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/accountants/composition.h"
#include "accounting/calibration.h"
#include "accounting/central_limit/reading.h"
#include "accounting/event/domain.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "accounting/question.h"
#include "accounting/trade_off/attack_success.h"

namespace epsledger::accounting {
namespace {

// The accountants over which BEST takes the minimum, the tight and the cheap ones first. MOMENTS is
// left out because it is never below RENYI; CLT and MOMENTS_AS_PUBLISHED prove nothing.
constexpr Accountant kCompeting[] = {
    Accountant::kGaussian, Accountant::kBasic, Accountant::kTradeOff, Accountant::kOptimal,
    Accountant::kPld,      Accountant::kRenyi, Accountant::kZcdp,     Accountant::kAdvanced};

// The work of each step of a calibration, which asks some 30 times.
constexpr double kSearchWork = CompositionOptions{}.max_work / 8;

// Asks one query of one composed history.
struct AskComposition {
  const Composition& composition;

  absl::StatusOr<Guarantee> operator()(const EpsilonAtDelta& q) const {
    return composition.Epsilon(q);
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
  absl::StatusOr<Guarantee> operator()(const TruePositiveRateAt& q) const {
    ASSIGN_OR_RETURN(const Guarantee f, composition.TypeTwoError(q.false_positive_rate));
    return TruePositiveRate(f);
  }
  absl::StatusOr<Guarantee> operator()(const BayesSuccessAt& q) const {
    const BayesPoint point = BayesPointOf(q.prior);
    ASSIGN_OR_RETURN(const Guarantee delta, composition.Delta(point.epsilon));
    return BayesSuccess(point, delta);
  }
  absl::StatusOr<Guarantee> operator()(const ReconstructionSuccessAt& q) const {
    ASSIGN_OR_RETURN(const Guarantee f, composition.TypeTwoError(q.baseline));
    return TruePositiveRate(f);  // for BEST to compare; Compositions::Ask makes the bound of it
  }
};

// Under an unordered relation the trade-off function is its own inverse; in one direction the
// inverse is the function of the other direction.
Setting SettingFor(const Query& query, Setting setting) {
  if (std::holds_alternative<InverseTypeTwoErrorAt>(query) && setting.adjacency) {
    setting.adjacency =
        *setting.adjacency == Adjacency::kAdd ? Adjacency::kRemove : Adjacency::kAdd;
  }
  if (setting.relation == NeighboringRelation::kAddOrRemoveOne) {
    // Neither question has a direction of its own: each is about one of the two.
    if (const auto* bayes = std::get_if<BayesSuccessAt>(&query)) {
      setting.adjacency =
          BayesPointOf(bayes->prior).with_against_without ? Adjacency::kRemove : Adjacency::kAdd;
    }
    if (std::holds_alternative<ReconstructionSuccessAt>(query)) {
      setting.adjacency = Adjacency::kRemove;
    }
  }
  // G_mu is its own inverse: it is below one direction's function, in all, where it is below the
  // other's.
  if (std::holds_alternative<GaussianDpMu>(query)) setting.adjacency.reset();
  return setting;
}

bool AsksTypeTwoError(const Query& query) {
  return std::holds_alternative<TypeTwoErrorAt>(query) ||
         std::holds_alternative<InverseTypeTwoErrorAt>(query);
}

// An answer that contradicts itself is a defect of this code and is not returned.
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
  absl::StatusOr<Guarantee> operator()(const TruePositiveRateAt&) const { return Exactly(1); }
  absl::StatusOr<Guarantee> operator()(const BayesSuccessAt&) const { return Exactly(1); }
  absl::StatusOr<Guarantee> operator()(const ReconstructionSuccessAt&) const { return Exactly(1); }
};

// Returns how good an answer is; smaller is better. A type II error is better if its lower bound is
// higher.
double Cost(const Query& query, const Guarantee& answer) {
  if (AsksTypeTwoError(query)) return -answer.lower.value_or(-1);
  if (answer.log_upper.has_value()) return *answer.log_upper;
  return answer.upper.value_or(kInfinity);
}

// True if no accountant can be better than this answer by more than the requested width.
bool IsTight(const Query& query, double relative_width, const Guarantee& answer) {
  if (!answer.lower.has_value() || !answer.upper.has_value()) return false;
  if (AsksTypeTwoError(query)) {
    return *answer.upper - *answer.lower <= relative_width * *answer.lower;
  }
  if (answer.log_upper.has_value()) {
    return answer.log_lower.has_value() &&
           (*answer.log_lower == *answer.log_upper ||
            *answer.log_upper - *answer.log_lower <= relative_width);
  }
  // An infinite upper bound with a finite lower bound is not tight, whatever the arithmetic gives.
  return *answer.lower == *answer.upper ||
         (std::isfinite(*answer.upper) &&
          *answer.upper - *answer.lower <= relative_width * *answer.upper);
}

// TRADE_OFF competes only where the trade-off function itself is read, and for mu: for every other
// query it uses the same privacy loss as PLD. BASIC does not compete for mu.
bool Competes(Accountant accountant, const Query& query) {
  if (accountant == Accountant::kBasic && std::holds_alternative<GaussianDpMu>(query)) return false;
  return accountant != Accountant::kTradeOff || AsksTypeTwoError(query) ||
         std::holds_alternative<TruePositiveRateAt>(query) ||
         std::holds_alternative<ReconstructionSuccessAt>(query) ||
         std::holds_alternative<GaussianDpMu>(query);
}

// One history, composed by each accountant and for each direction in question.
class Compositions {
 public:
  // Borrows `history`; ignores its query and accountant. REQUIRES: Validate(history) is OK.
  explicit Compositions(const Question& history, double max_work = CompositionOptions{}.max_work)
      : history_(history), setting_(SettingOf(history_)), max_work_(max_work) {
    for (const CountedEvent& e : history_.events) {
      claimed_ = claimed_ || ContainsUnverifiedClaim(*e.event);
      revealed_ = revealed_ || ContainsNonPrivate(*e.event);
    }
    uses_ = Flatten(history_.events);
    if (history_.group_size == 1) {
      opened_ = OpenBandedMatrixFactorizations(uses_, setting_);
    } else {
      opened_ = uses_;
    }
  }

  absl::StatusOr<Guarantee> Ask(Accountant accountant, const Query& query) {
    absl::StatusOr<Guarantee> answer = absl::InternalError("no answer");
    if (revealed_) {
      answer = std::visit(AskNonPrivate(), query);
      if (answer.ok()) answer->accountant = accountant;
    } else if (std::holds_alternative<Calibrate>(query)) {
      Question question = history_;
      question.accountant = accountant;
      question.query = query;
      return AnswerCalibration(question, [](const Question& other) {
        return Compositions(other, kSearchWork).Ask(other.accountant, other.query);
      });
    } else if (const auto* central_limit = std::get_if<CentralLimit>(&query)) {
      answer =
          ReadCentralLimit(uses_, setting_, history_.group_size, central_limit->type_one_error);
    } else if (uses_.empty()) {
      // Nothing was released: 0-GDP under every accountant.
      answer = AskOne(Accountant::kGaussian, query);
      if (answer.ok()) {
        answer->accountant = accountant;
        answer->theorem = "nothing was released";
      }
    } else {
      answer = accountant == Accountant::kBest ? AskBest(query) : AskOne(accountant, query);
    }
    if (!answer.ok()) return answer;
    RETURN_IF_ERROR(CheckConsistent(*answer));
    if (std::holds_alternative<ReconstructionSuccessAt>(query)) {
      answer = AsReconstructionBound(*answer);
    }
    if (std::holds_alternative<GaussianDpMu>(query) && setting_.adjacency.has_value()) {
      // The answer is of both directions: one of them can do with a smaller mu where its function
      // does not take the range of type I errors to itself.
      answer->lower.reset();
    }
    answer->contains_unverified_claim = claimed_;
    return answer;
  }

 private:
  using Composed = absl::StatusOr<std::unique_ptr<Composition>>;

  const Composed& By(Accountant accountant, const Query& query) {
    const Setting setting = SettingFor(query, setting_);
    const auto key = std::pair(accountant, setting.adjacency);
    const auto known = composed_.find(key);
    if (known != composed_.end()) return known->second;
    return composed_
        .emplace(key, Compose(accountant, opened_, setting,
                              {.group_size = history_.group_size,
                               .advanced_delta_slack = history_.advanced_delta_slack,
                               .relative_width = history_.relative_width,
                               .max_work = max_work_}))
        .first->second;
  }

  absl::StatusOr<Guarantee> AskOne(Accountant accountant, const Query& query) {
    const Composed& composition = By(accountant, query);
    if (!composition.ok()) return composition.status();
    return std::visit(AskComposition{**composition}, query);
  }

  absl::StatusOr<Guarantee> AskBest(const Query& query) {
    std::optional<Guarantee> best;
    std::optional<Guarantee> highest;  // the answer with the largest lower bound
    std::string reasons;
    bool losses_asked = false;
    for (const Accountant accountant : kCompeting) {
      if (!Competes(accountant, query)) continue;
      if (accountant == Accountant::kPld && losses_asked) continue;
      absl::StatusOr<Guarantee> answer = AskOne(accountant, query);
      if (absl::IsUnimplemented(answer.status())) {
        absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", answer.status().message());
        continue;
      }
      if (!answer.ok()) return answer;
      RETURN_IF_ERROR(CheckConsistent(*answer));
      losses_asked = losses_asked || (*By(accountant, query))->is_privacy_loss();
      // Approximations are not compared: the first accountant that answers is the best informed.
      if (answer->kind == GuaranteeKind::kApproximation) {
        if (!best.has_value()) return answer;
        continue;
      }
      const bool tight = IsTight(query, history_.relative_width, *answer);
      if (answer->lower.has_value() &&
          (!highest.has_value() || *answer->lower > *highest->lower ||
           answer->log_lower.value_or(-kInfinity) > highest->log_lower.value_or(-kInfinity))) {
        highest = *answer;
      }
      if (!best.has_value() || Cost(query, *answer) < Cost(query, *best)) {
        best = *std::move(answer);
      }
      if (tight) break;
    }
    if (!best.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("no accountant answers this for this history: ", reasons));
    }
    if (AsksTypeTwoError(query)) return *best;
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

  const Question& history_;
  const Setting setting_;
  const double max_work_;
  bool claimed_ = false;
  bool revealed_ = false;
  std::vector<Use> uses_;  // borrow the events of history_
  std::vector<Use> opened_;
  std::map<std::pair<Accountant, std::optional<Adjacency>>, Composed> composed_;
};

}  // namespace

struct ComposedHistory::State {
  explicit State(Question given) : history(std::move(given)), compositions(history) {}
  const Question history;
  Compositions compositions;
};

ComposedHistory::ComposedHistory(std::unique_ptr<State> state) : state_(std::move(state)) {}
ComposedHistory::ComposedHistory(ComposedHistory&&) noexcept = default;
ComposedHistory& ComposedHistory::operator=(ComposedHistory&&) noexcept = default;
ComposedHistory::~ComposedHistory() = default;

absl::StatusOr<ComposedHistory> ComposedHistory::Create(Question history) {
  RETURN_IF_ERROR(Validate(history));
  return ComposedHistory(std::make_unique<State>(std::move(history)));
}

absl::StatusOr<Guarantee> ComposedHistory::Ask(const Query& query) {
  return Ask(state_->history.accountant, query);
}

absl::StatusOr<Guarantee> ComposedHistory::Ask(Accountant accountant, const Query& query) {
  absl::Status status = Validate(accountant);
  if (status.ok()) status = Validate(query);
  if (status.ok()) status = ValidateDirection(state_->history.adjacency, query);
  if (!status.ok()) return status;
  return state_->compositions.Ask(accountant, query);
}

absl::StatusOr<Guarantee> Answer(const Question& question) {
  RETURN_IF_ERROR(Validate(question));
  return Compositions(question).Ask(question.accountant, question.query);
}

}  // namespace epsledger::accounting
