#include "accounting/accountants/composition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/accountants/composers.h"
#include "accounting/event/domain.h"
#include "accounting/numeric/rounding.h"
#include "accounting/trade_off/gaussian_fit.h"
#include "accounting/trade_off/type_two_error.h"

namespace epsledger::accounting {
namespace {

// Returns e^log_delta for the upper end of a delta: never 0 where the logarithm is finite.
double DeltaUp(double log_delta) {
  if (log_delta == -kInfinity) return 0;
  return std::min(1.0, RoundUp(std::exp(log_delta), 1));
}

// Upper bounds on delta from a composition, as a profile; keeps the first failure.
class DeltaCurve {
 public:
  explicit DeltaCurve(const Composition& composition) : composition_(composition) {}

  Bounds At(double epsilon) {
    const absl::StatusOr<Guarantee> delta = composition_.Delta(epsilon);
    const double told = RoundDownNonNegative(-std::expm1(epsilon), 2);
    if (!delta.ok() || !delta->upper.has_value()) {
      if (status_.ok()) status_ = delta.ok() ? absl::InternalError("no delta") : delta.status();
      return Bounds{told, 1};
    }
    if (theorem_.empty()) theorem_ = delta->theorem;
    return Bounds{std::min(told, *delta->upper), *delta->upper};
  }

  const absl::Status& status() const { return status_; }
  const std::string& theorem() const { return theorem_; }

 private:
  const Composition& composition_;
  absl::Status status_;
  std::string theorem_;
};

}  // namespace

absl::StatusOr<Guarantee> Composition::RenyiDivergence(double) const {
  return Unknown("a Renyi divergence");
}

absl::StatusOr<Guarantee> Composition::TypeTwoError(double type_one_error) const {
  DeltaCurve curve(*this);
  const Bounds f =
      accounting::TypeTwoError([&](double epsilon) { return curve.At(epsilon); }, type_one_error);
  if (!curve.status().ok()) return curve.status();
  Guarantee answer = Answer(
      absl::StrCat(curve.theorem(), curve.theorem().empty() ? "" : " ; ", "[DRS19] Prop 2.12"));
  answer.lower = f.lower;
  answer.upper = std::min(1.0, RoundUp(1 - type_one_error));
  return answer;
}

absl::StatusOr<Guarantee> Composition::GaussianDpMu(double alpha_min) const {
  DeltaCurve curve(*this);
  const absl::StatusOr<GaussianSummary> fit =
      FitGaussian([&](double epsilon) { return curve.At(epsilon).upper; }, alpha_min);
  if (!curve.status().ok()) return curve.status();
  if (!fit.ok()) return fit.status();
  Guarantee answer =
      Answer(absl::StrCat(curve.theorem(), " ; [Gomez25], a fit on [alphaMin, 1 - alphaMin]"));
  answer.kind = GuaranteeKind::kApproximation;
  answer.upper = fit->mu;
  answer.regret = fit->regret;
  return answer;
}

Guarantee Composition::Answer(std::string theorem) const {
  Guarantee answer;
  answer.kind = GuaranteeKind::kUpperBound;
  answer.accountant = accountant_;
  answer.theorem = std::move(theorem);
  return answer;
}

Guarantee Composition::DeltaBelow(double log_delta, double order, std::string theorem) const {
  Guarantee answer = Answer(std::move(theorem));
  answer.log_upper = log_delta;
  answer.upper = DeltaUp(log_delta);
  if (order > 0) answer.order = order;
  return answer;
}

Guarantee Composition::DeltaBetween(Bounds log_delta, std::string theorem) const {
  Guarantee answer = DeltaBelow(log_delta.upper, 0, std::move(theorem));
  answer.log_lower = log_delta.lower;
  answer.lower = RoundDownNonNegative(std::exp(log_delta.lower), 1);
  return answer;
}

absl::Status Composition::Unknown(const std::string& question) const {
  return absl::UnimplementedError(absl::StrCat("the ", std::string(Name(accountant_)),
                                               " accountant does not answer ", question));
}

absl::Status UnknownGroup(Accountant accountant, const std::string& reason) {
  return absl::UnimplementedError(absl::StrCat("the ", std::string(Name(accountant)),
                                               " accountant does not know groups: ", reason));
}

absl::StatusOr<std::unique_ptr<Composition>> Compose(Accountant accountant,
                                                     const std::vector<Use>& uses,
                                                     const Setting& setting,
                                                     const CompositionOptions& options) {
  switch (accountant) {
    case Accountant::kGaussian:
      return ComposeByGaussian(uses, setting, options);
    case Accountant::kRenyi:
    case Accountant::kMoments:
      return ComposeByRenyi(uses, setting, options, accountant);
    case Accountant::kMomentsHolder:
    case Accountant::kMomentsAsPublished:
      return ComposeByMoments(uses, setting, options, accountant);
    case Accountant::kZcdp:
      return ComposeByZcdp(uses, setting, options);
    case Accountant::kBasic:
      return ComposeByBasic(uses, setting, options);
    case Accountant::kAdvanced:
      return ComposeByAdvanced(uses, setting, options);
    case Accountant::kOptimal:
      return ComposeByOptimal(uses, setting, options);
    case Accountant::kClt:
      return ComposeByCentralLimit(uses, setting, options);
    case Accountant::kPld:
      return ComposeByPld(uses, setting, options, accountant);
    case Accountant::kTradeOff:
      return ComposeByTradeOff(uses, setting, options);
    case Accountant::kBest:
      break;
  }
  return absl::InternalError("BEST asks other accountants and composes nothing itself");
}

}  // namespace epsledger::accounting
