#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/history_flags.h"
#include "proto/convert/curves.h"

namespace epsledger::cli {
namespace {

struct CurveFlags {
  HistoryFlags history;
  v1::Accountant::Kind accountant = v1::Accountant::BEST;
  bool profile = false;
  std::vector<double> at;
  std::optional<double> from;
  std::optional<double> to;
  std::optional<int> points;
  bool logarithmic = false;
};

// Sets the list of a request, or its range. Without either: from 0 to `usual_last`.
template <class MutableRange>
absl::Status FillPoints(const CurveFlags& flags, double usual_last,
                        google::protobuf::RepeatedField<double>* list,
                        const MutableRange& mutable_range) {
  if (!flags.at.empty()) {
    if (flags.from || flags.to || flags.points || flags.logarithmic) {
      return absl::InvalidArgumentError(
          "curve: got --at with --from, --to, --points or --logarithmic, want one or the other");
    }
    list->Add(flags.at.begin(), flags.at.end());
    return absl::OkStatus();
  }
  v1::PointRange* range = mutable_range();
  range->set_first(flags.from.value_or(flags.logarithmic ? 1e-6 : 0));
  range->set_last(flags.to.value_or(usual_last));
  range->set_count(flags.points.value_or(21));
  range->set_logarithmic(flags.logarithmic);
  return absl::OkStatus();
}

// "PLD: <theorem>" if it is the same at every point.
template <class Points, class GuaranteeOf>
std::string Summary(const Points& points, const GuaranteeOf& guarantee_of) {
  const v1::Guarantee& first = guarantee_of(points[0]);
  for (const auto& point : points) {
    if (guarantee_of(point).theorem() != first.theorem()) return "";
  }
  return absl::StrCat(v1::Accountant::Kind_Name(first.accountant()), ", ",
                      v1::Guarantee::Kind_Name(first.kind()), ": ", first.theorem());
}

// A point where the curve was asked, as it was asked.
Cell Exactly(double x) { return Cell(ExactNumber(x)); }

Cell Bound(bool known, double value, Rounding rounding) {
  return known ? Cell(value, rounding) : Cell("");
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

// What privacy promises; of an approximation whichever end it has.
Cell TruePositiveRate(const v1::TradeOffPoint& point) {
  if (point.has_true_positive_rate_upper()) {
    return Cell(point.true_positive_rate_upper(), Rounding::kUp);
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

void Profile(Invocation& invocation, const CurveFlags& flags) {
  v1::GetPrivacyProfileRequest request;
  absl::Status status = flags.history.Fill(invocation.terminal().in, &request);
  if (status.ok()) {
    status = FillPoints(flags, 10, request.mutable_epsilons(),
                        [&request] { return request.mutable_epsilon_range(); });
  }
  if (!status.ok()) return invocation.FailOffline(status);
  request.set_accountant(flags.accountant);
  const absl::StatusOr<convert::CurveQuestion> question = convert::ToQuestion(request);
  if (!question.ok()) return invocation.FailOffline(question.status());
  const auto profile = convert::PrivacyProfile(*question, [] { return false; });
  if (!profile.ok()) return invocation.FailOffline(profile.status());
  PrintPoints(
      invocation, *profile, ProfileTable(*profile),
      [](const v1::PrivacyProfilePoint& point) -> const v1::Guarantee& { return point.delta(); });
}

void TradeOff(Invocation& invocation, const CurveFlags& flags) {
  v1::GetTradeOffCurveRequest request;
  absl::Status status = flags.history.Fill(invocation.terminal().in, &request);
  if (status.ok()) {
    status = FillPoints(flags, 1, request.mutable_type_one_errors(),
                        [&request] { return request.mutable_type_one_error_range(); });
  }
  if (!status.ok()) return invocation.FailOffline(status);
  request.set_accountant(flags.accountant);
  const absl::StatusOr<convert::CurveQuestion> question = convert::ToQuestion(request);
  if (!question.ok()) return invocation.FailOffline(question.status());
  const auto curve = convert::TradeOffCurve(*question, [] { return false; });
  if (!curve.ok()) return invocation.FailOffline(curve.status());
  PrintPoints(invocation, *curve, TradeOffTable(*curve),
              [](const v1::TradeOffPoint& point) -> const v1::Guarantee& {
                return point.type_two_error();
              });
}

}  // namespace

void AddCurveCommand(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<CurveFlags>();
  CLI::App* curve = app.add_subcommand(
      "curve", "The trade-off curve of a history, or with --profile delta at epsilon; no server");
  curve->fallthrough();
  flags->history.AddTo(*curve);
  AddAccountantFlag(*curve, flags->accountant);
  curve->add_flag("--profile", flags->profile, "delta against epsilon");
  const char* group = "Points (up to 1,000 type I errors; with --profile epsilons)";
  curve->add_option("--at", flags->at, "these, separated by commas")
      ->type_name("X,X,...")
      ->delimiter(',')
      ->group(group);
  curve->add_option("--from", flags->from, "the first; default: 0, with --logarithmic 1e-6")
      ->type_name("X")
      ->group(group);
  curve->add_option("--to", flags->to, "the last; default: 1, with --profile 10")
      ->type_name("X")
      ->group(group);
  curve->add_option("--points", flags->points, "how many; default: 21")
      ->type_name("N")
      ->group(group);
  curve->add_flag("--logarithmic", flags->logarithmic, "evenly spaced in the logarithm")
      ->group(group);
  curve->footer(
      "A type I error is the false positive rate (FPR) of a membership test, 1 - its type II "
      "error\n"
      "the true positive rate (TPR). \"type II lower\" is what privacy promises: no test does\n"
      "better; \"TPR at FPR\" is 1 - that. Type II errors are rounded down, rates, epsilons and\n"
      "deltas up; csv and json have every digit.\n"
      "Examples:\n"
      "  epsctl curve --gaussian 40 --count 100\n"
      "  epsctl curve --gaussian 40 --count 100 --at 0.001,0.01,0.1\n"
      "  epsctl curve --profile --gaussian 40 --count 100 --to 3 --points 7");
  curve->callback([&invocation, flags] {
    flags->profile ? Profile(invocation, *flags) : TradeOff(invocation, *flags);
  });
}

}  // namespace epsledger::cli
