#include "client/cli/flags/cap_flags.h"

#include <limits>
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "accounting/event/status_macros.h"
#include "client/cli/flags/event_flags.h"
#include "epsledger/rounded_number.h"

namespace epsledger::cli {
namespace {

const std::map<std::string, ApproximateDpFilter>& Filters() {
  static const auto& filters = *new std::map<std::string, ApproximateDpFilter>{
      {"renyi-orders", ApproximateDpFilter::kRenyiOrders},
      {"renyi-one-order", ApproximateDpFilter::kRenyiOneOrder},
      {"basic", ApproximateDpFilter::kBasic},
      {"advanced", ApproximateDpFilter::kAdvanced},
      {"zcdp", ApproximateDpFilter::kZcdp},
      {"residue", ApproximateDpFilter::kResidue},
      {"portfolio", ApproximateDpFilter::kPortfolio},
  };
  return filters;
}

const std::map<std::string, NeighboringRelation>& Relations() {
  static const auto& relations = *new std::map<std::string, NeighboringRelation>{
      {"add-or-remove-one", NeighboringRelation::kAddOrRemoveOne},
      {"replace-one", NeighboringRelation::kReplaceOne},
      {"replace-special", NeighboringRelation::kReplaceSpecial},
  };
  return relations;
}

// Returns INVALID_ARGUMENT unless the number, if given, is in (low, high). NaN is not.
absl::Status CheckInside(const char* flag, const std::optional<double>& value, double low,
                         double high) {
  if (!value.has_value() || (*value > low && *value < high)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, ": got ", ExactNumber(*value), ", want in (",
                                                 ExactNumber(low), ", ", ExactNumber(high), ")"));
}

absl::StatusOr<Cap> ReadCurve(const std::vector<std::string>& points) {
  TradeOffCurveCap cap;
  for (const std::string& text : points) {
    const std::vector<std::string> numbers = absl::StrSplit(text, ':');
    TradeOffCurveCap::Point point;
    if (numbers.size() != 2 || !absl::SimpleAtod(numbers[0], &point.epsilon) ||
        !absl::SimpleAtod(numbers[1], &point.delta)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--curve-point: got \"", text, "\", want EPSILON:DELTA, as 1:1e-5"));
    }
    cap.points.push_back(point);
  }
  return cap;
}

}  // namespace

void CapFlags::AddTo(CLI::App& command) {
  const char* group = "Cap (one currency)";
  const auto number = [&](const char* flag, std::optional<double>& value, const char* what,
                          const char* type) {
    command.add_option(flag, value, what)->type_name(type)->group(group);
  };
  number("--epsilon", epsilon, "(epsilon, delta)-DP, with --delta", "EPSILON");
  number("--delta", delta, "in (0, 1), with --epsilon or --units", "DELTA");
  command.add_option("--filter", filter, "how (epsilon, delta) is enforced; default: portfolio")
      ->type_name("FILTER")
      ->check(CLI::IsMember(Filters()))
      ->group(group);
  number("--filter-order", filter_order, "the order of --filter renyi-one-order", "ORDER");
  number("--pure-epsilon", pure_epsilon, "pure epsilon-DP", "EPSILON");
  number("--rho", rho, "zero-concentrated DP", "RHO");
  number("--mu", mu, "Gaussian DP", "MU");
  number("--renyi-order", renyi_order, "Renyi DP at this order, with --renyi-divergence", "ORDER");
  number("--renyi-divergence", renyi_divergence, "with --renyi-order", "DIVERGENCE");
  command
      .add_option("--curve-point", curve_points,
                  "a point of a trade-off curve, for one DECLARED plan: (epsilon, delta)-DP at "
                  "every point; may be repeated, epsilons rising")
      ->type_name("EPSILON:DELTA")
      ->expected(1)
      ->take_all()
      ->group(group);
  command
      .add_option("--units", units,
                  "this many units of the reference, with --delta: promises a whole curve")
      ->type_name("COUNT")
      ->group(group);
  command
      .add_flag("--no-guarantee", no_guarantee,
                "promise nothing: for runs as published whose guarantee is not proven")
      ->group(group);
}

absl::Status CapFlags::CheckDomains() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  RETURN_IF_ERROR(CheckInside("--epsilon", epsilon, 0, kInfinity));
  RETURN_IF_ERROR(CheckInside("--delta", delta, 0, 1));
  RETURN_IF_ERROR(CheckInside("--filter-order", filter_order, 1, kInfinity));
  RETURN_IF_ERROR(CheckInside("--pure-epsilon", pure_epsilon, 0, kInfinity));
  RETURN_IF_ERROR(CheckInside("--rho", rho, 0, kInfinity));
  RETURN_IF_ERROR(CheckInside("--mu", mu, 0, kInfinity));
  RETURN_IF_ERROR(CheckInside("--renyi-order", renyi_order, 1, kInfinity));
  RETURN_IF_ERROR(CheckInside("--renyi-divergence", renyi_divergence, 0, kInfinity));
  if (!units.has_value() || *units >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--units: got ", *units, ", want 1 or more"));
}

absl::StatusOr<Cap> CapFlags::ToCap() const {
  RETURN_IF_ERROR(CheckDomains());
  const bool approximate =
      epsilon || (delta && !units) || !filter.empty() || filter_order.has_value();
  const bool renyi = renyi_order || renyi_divergence;
  const int given = int{approximate} + int{pure_epsilon.has_value()} + int{rho.has_value()} +
                    int{mu.has_value()} + int{renyi} + int{!curve_points.empty()} +
                    int{units.has_value()} + int{no_guarantee};
  if (given == 0) return Cap();
  if (given > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cap: got flags of ", given,
        " currencies, want one of --epsilon with --delta, --pure-epsilon, --rho, --mu, "
        "--renyi-order with --renyi-divergence, --curve-point, --units with --delta, "
        "--no-guarantee"));
  }
  if (approximate) {
    if (!epsilon || !delta) {
      return absl::InvalidArgumentError(
          "cap: got one of --epsilon and --delta, want both (for delta 0: --pure-epsilon)");
    }
    ApproximateDpCap cap{.epsilon = *epsilon, .delta = *delta, .order = filter_order};
    if (!filter.empty()) cap.filter = Filters().at(filter);
    return cap;
  }
  if (units) {
    if (!delta) {
      return absl::InvalidArgumentError(
          "cap: got --units, want --delta beside it: the smallest delta that matters");
    }
    return UnitsCap{.reference = std::nullopt, .count = *units, .delta = *delta};
  }
  if (no_guarantee) return NoGuaranteeCap{};
  if (pure_epsilon) return PureEpsilonCap{*pure_epsilon};
  if (rho) return ZcdpCap{*rho};
  if (mu) return GaussianDpCap{*mu};
  if (!curve_points.empty()) return ReadCurve(curve_points);
  if (!renyi_order || !renyi_divergence) {
    return absl::InvalidArgumentError(
        "cap: got one of --renyi-order and --renyi-divergence, want both");
  }
  return RenyiCap{.order = *renyi_order, .divergence = *renyi_divergence};
}

CLI::Option* AddRelationFlag(CLI::App& command, NeighboringRelation& relation) {
  return command
      .add_option_function<std::string>(
          "--relation", [&relation](const std::string& name) { relation = Relations().at(name); },
          "which data sets are neighbors")
      ->type_name("RELATION")
      ->check(CLI::IsMember(Relations()));
}

std::string DescribeCap(const v1::Cap& cap) {
  switch (cap.currency_case()) {
    case v1::Cap::kPureEpsilon:
      return absl::StrCat("pure epsilon ", ExactNumber(cap.pure_epsilon().epsilon()));
    case v1::Cap::kApproximateDp: {
      const v1::ApproximateDpCap& approximate = cap.approximate_dp();
      return absl::StrCat(
          "epsilon ", ExactNumber(approximate.epsilon()), " at delta ",
          ExactNumber(approximate.delta()), ", filter ",
          approximate.filter() == v1::ApproximateDpCap::FILTER_UNSPECIFIED
              ? "PORTFOLIO"
              : v1::ApproximateDpCap::Filter_Name(approximate.filter()),
          approximate.has_order() ? absl::StrCat(" ", ExactNumber(approximate.order())) : "",
          approximate.has_reference()
              ? absl::StrCat(", in units of ", DescribeEvent(approximate.reference()))
              : "");
    }
    case v1::Cap::kZcdp:
      return absl::StrCat("rho ", ExactNumber(cap.zcdp().rho()));
    case v1::Cap::kGaussianDp:
      return absl::StrCat("mu ", ExactNumber(cap.gaussian_dp().mu()));
    case v1::Cap::kRenyi:
      return absl::StrCat("Renyi divergence ", ExactNumber(cap.renyi().divergence()), " at order ",
                          ExactNumber(cap.renyi().order()));
    case v1::Cap::kTradeOffCurve: {
      std::string text = "trade-off curve";
      for (const v1::TradeOffCurveCap::Point& point : cap.trade_off_curve().points()) {
        absl::StrAppend(&text, " (", ExactNumber(point.epsilon()), ", ", ExactNumber(point.delta()),
                        ")");
      }
      return text;
    }
    case v1::Cap::kNoGuarantee:
      return "no guarantee";
    case v1::Cap::kUnits: {
      const v1::UnitsCap& units = cap.units();
      std::string text =
          absl::StrCat(units.count(), " units of ", DescribeEvent(units.reference()));
      for (const v1::TradeOffCurveCap::Point& point : units.guarantee()) {
        absl::StrAppend(&text, &point == &units.guarantee(0) ? ": epsilon " : ", ",
                        RoundedNumber(point.epsilon(), Rounding::kUp, 6), " at delta ",
                        ExactNumber(point.delta()));
      }
      return text;
    }
    case v1::Cap::CURRENCY_NOT_SET:
      break;
  }
  return "";
}

std::string DescribeCapBriefly(const v1::Cap& cap) {
  if (cap.has_units()) return absl::StrCat(cap.units().count(), " units");
  if (cap.has_trade_off_curve()) return "trade-off curve";
  if (!cap.has_approximate_dp()) return DescribeCap(cap);
  return absl::StrCat("epsilon ", ExactNumber(cap.approximate_dp().epsilon()), " at delta ",
                      ExactNumber(cap.approximate_dp().delta()));
}

absl::Status SetReference(const EventFlags& flags, v1::Cap* cap) {
  if (!flags.any()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const v1::CountedEvent reference, flags.ToCheckedMessage());
  if (cap->has_units()) {
    *cap->mutable_units()->mutable_reference() = reference.event();
  } else if (cap->has_approximate_dp()) {
    *cap->mutable_approximate_dp()->mutable_reference() = reference.event();
  } else {
    return absl::InvalidArgumentError(
        "event: got one with another currency, want it with --epsilon and --delta or with "
        "--units: these count units of it");
  }
  return absl::OkStatus();
}

const v1::MechanismEvent* ReferenceOf(const v1::Cap& cap) {
  if (cap.has_units()) return &cap.units().reference();
  return cap.approximate_dp().has_reference() ? &cap.approximate_dp().reference() : nullptr;
}

}  // namespace epsledger::cli
