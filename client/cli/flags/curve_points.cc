#include "client/cli/flags/curve_points.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "epsledger/rounded_number.h"

namespace epsledger::cli {
namespace {

// Returns "PLD, UPPER_BOUND: <theorem>" if the theorem is the same at every point, else "".
template <class Points, class GuaranteeOf>
std::string Summary(const Points& points, const GuaranteeOf& guarantee_of) {
  const v1::Guarantee& first = guarantee_of(points[0]);
  for (const auto& point : points) {
    if (guarantee_of(point).theorem() != first.theorem()) return "";
  }
  return absl::StrCat(v1::Accountant::Kind_Name(first.accountant()), ", ",
                      v1::Guarantee::Kind_Name(first.kind()), ": ", first.theorem());
}

// Returns a point of the curve as the user asked for it.
TableCell Exactly(double x) { return TableCell(ExactNumber(x)); }

TableCell Bound(bool known, double value, Rounding rounding) {
  return known ? TableCell(value, rounding) : TableCell("");
}

Table ProfileTable(const v1::GetPrivacyProfileResponse& profile) {
  Table table({"epsilon", "delta upper", "delta lower", "log delta upper", "kind", "accountant"});
  for (const v1::PrivacyProfilePoint& point : profile.points()) {
    const v1::Guarantee& delta = point.delta();
    table.AddRow({Exactly(point.epsilon()), Bound(delta.has_upper(), delta.upper(), Rounding::kUp),
                  Bound(delta.has_lower(), delta.lower(), Rounding::kDown),
                  Bound(delta.has_log_upper(), delta.log_upper(), Rounding::kUp),
                  v1::Guarantee::Kind_Name(delta.kind()),
                  v1::Accountant::Kind_Name(delta.accountant())});
  }
  return table;
}

// Returns the end that privacy promises; for an approximation, the end that it has.
TableCell TruePositiveRate(const v1::TradeOffPoint& point) {
  if (point.has_true_positive_rate_upper()) {
    return TableCell(point.true_positive_rate_upper(), Rounding::kUp);
  }
  return Bound(point.type_two_error().kind() == v1::Guarantee::APPROXIMATION &&
                   point.has_true_positive_rate_lower(),
               point.true_positive_rate_lower(), Rounding::kUp);
}

Table TradeOffTable(const v1::GetTradeOffCurveResponse& curve) {
  Table table(
      {"type I error", "type II lower", "type II upper", "TPR at FPR", "kind", "accountant"});
  for (const v1::TradeOffPoint& point : curve.points()) {
    const v1::Guarantee& type_two = point.type_two_error();
    table.AddRow({Exactly(point.type_one_error()),
                  Bound(type_two.has_lower(), type_two.lower(), Rounding::kDown),
                  Bound(type_two.has_upper(), type_two.upper(), Rounding::kUp),
                  TruePositiveRate(point), v1::Guarantee::Kind_Name(type_two.kind()),
                  v1::Accountant::Kind_Name(type_two.accountant())});
  }
  return table;
}

// Prints a response that is a list of points.
template <class Response, class GuaranteeOf>
void PrintPoints(Invocation& invocation, const Response& response, Table table,
                 const GuaranteeOf& guarantee_of) {
  std::vector<const google::protobuf::Message*> points;
  for (const auto& point : response.points()) points.push_back(&point);
  invocation.Print({.messages = std::move(points),
                    .is_list = true,
                    .table = std::move(table),
                    .whole = &response,
                    .summary = Summary(response.points(), guarantee_of)});
}

}  // namespace

void PointFlags::AddTo(CLI::App& command, const char* group) {
  command.add_option("--at", at, "these points, separated by commas")
      ->type_name("X,X,...")
      ->delimiter(',')
      ->group(group);
  command.add_option("--from", from, "the first point; default: 0, with --logarithmic 1e-6")
      ->type_name("X")
      ->group(group);
  command.add_option("--to", to, "the last point; default: 1 for type I errors, 10 for epsilons")
      ->type_name("X")
      ->group(group);
  command.add_option("--points", points, "how many; default: 21")->type_name("N")->group(group);
  command.add_flag("--logarithmic", logarithmic, "evenly spaced in the logarithm")->group(group);
}

absl::Status PointFlags::CheckNoRange() const {
  if (!from && !to && !points && !logarithmic) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "curve: got --at with --from, --to, --points or --logarithmic, want one or the other");
}

void PointFlags::FillRange(double usual_last, v1::PointRange* range) const {
  range->set_first(from.value_or(logarithmic ? 1e-6 : 0));
  range->set_last(to.value_or(usual_last));
  range->set_count(points.value_or(21));
  range->set_logarithmic(logarithmic);
}

void PrintProfile(Invocation& invocation, const v1::GetPrivacyProfileResponse& profile) {
  PrintPoints(
      invocation, profile, ProfileTable(profile),
      [](const v1::PrivacyProfilePoint& point) -> const v1::Guarantee& { return point.delta(); });
}

void PrintTradeOff(Invocation& invocation, const v1::GetTradeOffCurveResponse& curve) {
  PrintPoints(invocation, curve, TradeOffTable(curve),
              [](const v1::TradeOffPoint& point) -> const v1::Guarantee& {
                return point.type_two_error();
              });
}

}  // namespace epsledger::cli
