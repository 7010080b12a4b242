#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/curve_points.h"
#include "client/cli/flags/history_flags.h"
#include "proto/bridge/curves.h"

namespace epsledger::cli {
namespace {

struct CurveFlags {
  HistoryFlags history;
  v1::Accountant::Kind accountant = v1::Accountant::BEST;
  bool profile = false;
  PointFlags points;
};

void Profile(Invocation& invocation, const CurveFlags& flags) {
  v1::GetPrivacyProfileRequest request;
  absl::Status status = flags.history.Fill(invocation.terminal().in, &request);
  if (status.ok()) {
    status = flags.points.Fill(10, request.mutable_epsilons(),
                               [&request] { return request.mutable_epsilon_range(); });
  }
  if (!status.ok()) return invocation.FailOffline(status);
  request.set_accountant(flags.accountant);
  const absl::StatusOr<bridge::CurveQuestion> question = bridge::ToQuestion(request);
  if (!question.ok()) return invocation.FailOffline(question.status());
  const auto profile = bridge::PrivacyProfile(*question, [] { return false; });
  if (!profile.ok()) return invocation.FailOffline(profile.status());
  PrintProfile(invocation, *profile);
}

void TradeOff(Invocation& invocation, const CurveFlags& flags) {
  v1::GetTradeOffCurveRequest request;
  absl::Status status = flags.history.Fill(invocation.terminal().in, &request);
  if (status.ok()) {
    status = flags.points.Fill(1, request.mutable_type_one_errors(),
                               [&request] { return request.mutable_type_one_error_range(); });
  }
  if (!status.ok()) return invocation.FailOffline(status);
  request.set_accountant(flags.accountant);
  const absl::StatusOr<bridge::CurveQuestion> question = bridge::ToQuestion(request);
  if (!question.ok()) return invocation.FailOffline(question.status());
  const auto curve = bridge::TradeOffCurve(*question, [] { return false; });
  if (!curve.ok()) return invocation.FailOffline(curve.status());
  PrintTradeOff(invocation, *curve);
}

}  // namespace

void AddCurveCommand(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<CurveFlags>();
  CLI::App* curve = app.add_subcommand(
      "curve",
      "The trade-off curve of a history, or with --profile delta at epsilon; needs no server");
  curve->fallthrough();
  flags->history.AddTo(*curve);
  AddAccountantFlag(*curve, flags->accountant);
  curve->add_flag("--profile", flags->profile, "delta against epsilon");
  flags->points.AddTo(*curve, "Points (up to 1,000 type I errors; with --profile epsilons)");
  curve->footer(
      "The type I error of a membership test is its false positive rate (FPR); 1 - its type II\n"
      "error is its true positive rate (TPR). \"type II lower\" is what privacy promises: no test\n"
      "does better; \"TPR at FPR\" is 1 - that. Type II errors are rounded down, rates, epsilons\n"
      "and deltas up; csv and json have every digit.\n"
      "Examples:\n"
      "  epsctl curve --gaussian 40 --count 100\n"
      "  epsctl curve --gaussian 40 --count 100 --at 0.001,0.01,0.1\n"
      "  epsctl curve --profile --gaussian 40 --count 100 --to 3 --points 7");
  curve->callback([&invocation, flags] {
    flags->profile ? Profile(invocation, *flags) : TradeOff(invocation, *flags);
  });
}

}  // namespace epsledger::cli
