#include "accounting/composition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/classical/composition.h"
#include "accounting/event/domain.h"
#include "accounting/gaussian/composition.h"
#include "accounting/gaussian/profile.h"
#include "accounting/gaussian/trade_off.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/conversion.h"
#include "accounting/renyi/moments.h"
#include "accounting/renyi/profile.h"
#include "accounting/zcdp/zcdp.h"

namespace epsledger::accounting {
namespace {

// e^log_delta for a delta's upper end: never 0 where the logarithm is finite.
double DeltaUp(double log_delta) {
  if (log_delta == -kInfinity) return 0;
  return std::min(1.0, RoundUp(std::exp(log_delta), 1));
}
double DeltaDown(double log_delta) { return RoundDownNonNegative(std::exp(log_delta), 1); }

constexpr char kConversion[] = "[CKS20] Prop 12";
constexpr char kRenyiComposition[] = "[Mironov17] Prop 1";

class GaussianComposition final : public Composition {
 public:
  explicit GaussianComposition(Bounds mu) : Composition(Accountant::kGaussian), mu_(mu) {}

  absl::StatusOr<Guarantee> Epsilon(double log_delta) const override {
    const Bounds epsilon = GaussianEpsilon(mu_, log_delta);
    Guarantee answer = Answer("[DRS19] Cor 3.3 ; [BW18] Thm 8");
    answer.upper = epsilon.upper;
    answer.lower = epsilon.lower;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    const Bounds log_delta = GaussianLogDelta(mu_, epsilon);
    Guarantee answer = DeltaBelow(log_delta.upper, 0, "[DRS19] Cor 3.3 ; [BW18] Thm 8");
    answer.log_lower = log_delta.lower;
    answer.lower = DeltaDown(log_delta.lower);
    return answer;
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    Guarantee answer = Answer("[DRS19] Cor 3.3 ; [Mironov17] Prop 7");
    answer.upper = RoundUpNonNegative(0.5 * order * mu_.upper * mu_.upper, 3);
    if (mu_.upper > 0 && *answer.upper == 0) answer.upper = NextUp(0);
    answer.lower = RoundDownNonNegative(0.5 * order * mu_.lower * mu_.lower, 3);
    answer.order = order;
    return answer;
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    const Bounds f = GaussianTradeOff(mu_, type_one_error);
    Guarantee answer = Answer("[DRS19] Cor 3.3 and eq. 6");
    answer.upper = f.upper;
    answer.lower = f.lower;
    return answer;
  }
  absl::StatusOr<Guarantee> GaussianDpMu(double) const override {
    Guarantee answer = Answer("[DRS19] Cor 3.3");
    answer.upper = mu_.upper;
    answer.lower = mu_.lower;
    return answer;
  }

 private:
  const Bounds mu_;
};

class RenyiComposition final : public Composition {
 public:
  RenyiComposition(Accountant accountant, RenyiProfile profile)
      : Composition(accountant), profile_(std::move(profile)) {}

  absl::StatusOr<Guarantee> Epsilon(double log_delta) const override {
    Guarantee answer = Answer(Theorem());
    const double left = LogDeltaLeft(log_delta, profile_.delta_sum());
    if (std::isnan(left)) {  // the events' own deltas already exceed the target
      answer.upper = kInfinity;
      return answer;
    }
    const auto divergence = [this](double order) { return profile_.Divergence(order); };
    const Conversion conversion = accountant() == Accountant::kMoments
                                      ? EpsilonFromMoments(divergence, left)
                                      : EpsilonFromRenyi(divergence, left);
    answer.upper = conversion.value;
    if (conversion.order > 0) answer.order = conversion.order;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    const auto divergence = [this](double order) { return profile_.Divergence(order); };
    const Conversion conversion = accountant() == Accountant::kMoments
                                      ? LogDeltaFromMoments(divergence, epsilon)
                                      : LogDeltaFromRenyi(divergence, epsilon);
    return DeltaBelow(LogDeltaPlus(conversion.value, profile_.delta_sum()), conversion.order,
                      Theorem());
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    Guarantee answer = Answer(kRenyiComposition);
    answer.upper = profile_.delta_sum() > 0 ? kInfinity : profile_.Divergence(order);
    answer.order = order;
    return answer;
  }

 private:
  std::string Theorem() const {
    std::string theorem = kRenyiComposition;
    absl::StrAppend(
        &theorem, " ; ",
        accountant() == Accountant::kMoments ? "[ACG+16] Thm 2, moments to 32" : kConversion);
    if (profile_.delta_sum() > 0) absl::StrAppend(&theorem, " ; [KOV15] Thm 3.1");
    return theorem;
  }
  const RenyiProfile profile_;
};

class ZcdpComposition final : public Composition {
 public:
  explicit ZcdpComposition(ZcdpParameters zcdp) : Composition(Accountant::kZcdp), zcdp_(zcdp) {}

  absl::StatusOr<Guarantee> Epsilon(double log_delta) const override {
    const Conversion conversion = EpsilonFromZcdp(zcdp_, log_delta);
    Guarantee answer = Answer(Theorem());
    answer.upper = conversion.value;
    if (conversion.order > 0) answer.order = conversion.order;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    const Conversion conversion = LogDeltaFromZcdp(zcdp_, epsilon);
    return DeltaBelow(conversion.value, conversion.order, Theorem());
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    Guarantee answer = Answer("[BS16] Lemma 1.7");
    answer.upper =
        zcdp_.delta > 0 ? kInfinity : RoundUpNonNegative(zcdp_.rho * order + zcdp_.xi, 2);
    answer.order = order;
    return answer;
  }

 private:
  static std::string Theorem() { return absl::StrCat("[BS16] Lemma 1.7 ; ", kConversion); }
  const ZcdpParameters zcdp_;
};

class BasicComposed final : public Composition {
 public:
  explicit BasicComposed(ApproximateDpParameters total)
      : Composition(Accountant::kBasic), total_(total) {}

  absl::StatusOr<Guarantee> Epsilon(double log_delta) const override {
    Guarantee answer = Answer("[DR14] Thm 3.16");
    const bool fits = !std::isnan(LogDeltaLeft(log_delta, total_.delta));
    answer.upper = log_delta >= 0 ? 0 : fits ? total_.epsilon : kInfinity;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    return DeltaBelow(
        ApproximateDpLogDelta(total_, epsilon), 0,
        epsilon >= total_.epsilon ? "[DR14] Thm 3.16" : "[DR14] Thm 3.16 ; [KOV15] Thm 3.1");
  }

 private:
  const ApproximateDpParameters total_;
};

class AdvancedComposed final : public Composition {
 public:
  AdvancedComposed(AdvancedSums sums, std::optional<double> slack)
      : Composition(Accountant::kAdvanced), sums_(sums), slack_(slack) {}

  absl::StatusOr<Guarantee> Epsilon(double log_delta) const override {
    Guarantee answer = Answer(kTheorem);
    if (log_delta >= 0) {
      answer.upper = 0;
      return answer;
    }
    const double log_slack = slack_.has_value() ? RoundDown(std::log(*slack_))
                                                : RoundDown(log_delta - 0.6931471805599453);
    const double left = LogDeltaLeft(log_delta, sums_.delta);
    const bool fits = sums_.squares == 0 ? !std::isnan(left) : left >= log_slack;
    answer.upper = fits ? AdvancedEpsilon(sums_, log_slack) : kInfinity;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    if (!slack_.has_value()) return DeltaBelow(AdvancedLogDelta(sums_, epsilon), 0, kTheorem);
    const bool holds = AdvancedEpsilon(sums_, RoundDown(std::log(*slack_))) <= epsilon;
    return DeltaBelow(holds ? LogDeltaPlus(RoundUp(std::log(*slack_)), sums_.delta) : 0, 0,
                      kTheorem);
  }

 private:
  static constexpr char kTheorem[] = "[DRV10] Thm III.3";
  const AdvancedSums sums_;
  const std::optional<double> slack_;
};

absl::Status NoGroups(Accountant accountant) {
  return absl::UnimplementedError(absl::StrCat("the ", std::string(Name(accountant)),
                                               " accountant does not know this history for groups "
                                               "yet: no group theorem for it is proved here"));
}

template <class T, class... Args>
std::unique_ptr<Composition> Make(Args&&... args) {
  return std::make_unique<T>(std::forward<Args>(args)...);
}

}  // namespace

absl::StatusOr<Guarantee> Composition::RenyiDivergence(double) const {
  return Unknown("a Renyi divergence");
}
absl::StatusOr<Guarantee> Composition::TypeTwoError(double) const {
  return Unknown("a trade-off function");
}
absl::StatusOr<Guarantee> Composition::GaussianDpMu(double) const {
  return Unknown("a mu of Gaussian differential privacy");
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

absl::Status Composition::Unknown(const std::string& question) const {
  return absl::UnimplementedError(absl::StrCat("the ", std::string(Name(accountant_)),
                                               " accountant does not answer ", question));
}

absl::StatusOr<std::unique_ptr<Composition>> Compose(Accountant accountant,
                                                     const std::vector<Use>& uses,
                                                     const Setting& setting,
                                                     const CompositionOptions& options) {
  const double group = static_cast<double>(options.group_size);
  switch (accountant) {
    case Accountant::kGaussian: {
      absl::StatusOr<Bounds> mu = ComposeGaussianMu(uses, setting);
      if (!mu.ok()) return mu.status();
      if (group > 1) {  // [DRS19] Thm 2.14
        *mu =
            Bounds{RoundDownNonNegative(group * mu->lower), RoundUpNonNegative(group * mu->upper)};
      }
      return Make<GaussianComposition>(*mu);
    }
    case Accountant::kRenyi:
    case Accountant::kMoments: {
      if (group > 1) return NoGroups(accountant);
      absl::StatusOr<RenyiProfile> profile = RenyiProfile::Create(uses, setting, accountant);
      if (!profile.ok()) return profile.status();
      return Make<RenyiComposition>(accountant, *std::move(profile));
    }
    case Accountant::kZcdp: {
      absl::StatusOr<ZcdpParameters> zcdp = ComposeZcdp(uses, setting);
      if (!zcdp.ok()) return zcdp.status();
      if (group > 1) {  // [BS16] Prop 1.9
        if (zcdp->xi > 0 || zcdp->delta > 0) return NoGroups(accountant);
        zcdp->rho = RoundUpNonNegative(group * group * zcdp->rho, 2);
      }
      return Make<ZcdpComposition>(*zcdp);
    }
    case Accountant::kBasic: {
      const auto parameters = ApproximateDpOf(uses, setting, accountant);
      if (!parameters.ok()) return parameters.status();
      return Make<BasicComposed>(GroupPrivacy(BasicComposition(*parameters), group));
    }
    case Accountant::kAdvanced: {
      if (group > 1) return NoGroups(accountant);
      const auto parameters = ApproximateDpOf(uses, setting, accountant);
      if (!parameters.ok()) return parameters.status();
      return Make<AdvancedComposed>(SumForAdvanced(*parameters), options.advanced_delta_slack);
    }
    case Accountant::kOptimal:
    case Accountant::kMomentsHolder:
    case Accountant::kMomentsAsPublished:
    case Accountant::kClt:
    case Accountant::kPld:
    case Accountant::kTradeOff:
    case Accountant::kBest:
      break;
  }
  return absl::UnimplementedError(absl::StrCat("the ", std::string(Name(accountant)),
                                               " accountant is not built yet: it comes with the "
                                               "privacy loss distribution engine"));
}

}  // namespace epsledger::accounting
