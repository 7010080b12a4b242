#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "accounting/event/status_macros.h"
#include "client/cli/commands/cap_calibration.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/history_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/progress.h"
#include "proto/bridge/compute.h"

namespace epsledger::cli {
namespace {

using Variable = v1::CalibrateQuery;

struct CalibrateFlags {
  HistoryFlags history;
  v1::Accountant::Kind accountant = v1::Accountant::BEST;
  // What to find.
  bool noise_multiplier = false;
  bool count = false;
  bool sampling_probability = false;
  // The target.
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::optional<double> mu;
  std::optional<double> fpr;
  std::optional<double> tpr;
  // In place of a target: the caps above one of these, which the server checks.
  std::string budget;
  std::string session;
};

absl::StatusOr<Sought> SoughtBy(const CalibrateFlags& flags) {
  const int sought =
      int{flags.noise_multiplier} + int{flags.count} + int{flags.sampling_probability};
  if (sought != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("calibrate: got ", sought,
                     " parameters to find, want one: --noise-multiplier, or --count or "
                     "--sampling-probability without a value"));
  }
  if (flags.noise_multiplier) return Sought::kNoiseMultiplier;
  return flags.count ? Sought::kCount : Sought::kSamplingProbability;
}

// Makes the value of an option of EventFlags optional: without a value, the option is sought. The
// search ignores `placeholder`.
void MakeSought(CLI::App& command, const std::string& option, const std::string& shown,
                const std::string& placeholder, bool& sought) {
  constexpr char kLeftOut[] = "?";
  command.get_option(option)
      ->expected(0, 1)
      ->default_str(kLeftOut)
      ->option_text(absl::StrCat("[", shown, "]"))
      ->transform(CLI::Validator(
          [&sought, placeholder, kLeftOut](std::string& value) {
            if (value == kLeftOut) {
              sought = true;
              value = placeholder;
            }
            return std::string();
          },
          ""));
}

absl::StatusOr<v1::CalibrateQuery> ToQuery(const CalibrateFlags& flags) {
  ASSIGN_OR_RETURN(const Sought sought, SoughtBy(flags));
  const bool spends = flags.epsilon.has_value() || flags.delta.has_value();
  const bool rates = flags.fpr.has_value() || flags.tpr.has_value();
  if (int{spends} + int{flags.mu.has_value()} + int{rates} != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("calibrate: got ", int{spends} + int{flags.mu.has_value()} + int{rates},
                     " targets, want one: --epsilon with --delta, --mu, or --fpr with --tpr"));
  }
  if (flags.epsilon.has_value() != flags.delta.has_value()) {
    return absl::InvalidArgumentError(
        "calibrate: got one of --epsilon and --delta, want both (for pure DP: --delta 0)");
  }
  if (flags.fpr.has_value() != flags.tpr.has_value()) {
    return absl::InvalidArgumentError("calibrate: got one of --fpr and --tpr, want both");
  }
  v1::CalibrateQuery query;
  query.set_variable(sought == Sought::kNoiseMultiplier ? Variable::NOISE_MULTIPLIER
                     : sought == Sought::kCount         ? Variable::COUNT
                                                        : Variable::SAMPLING_PROBABILITY);
  if (spends) {
    query.set_epsilon(*flags.epsilon);
    query.set_delta(*flags.delta);
  } else if (rates) {
    query.mutable_operating_point()->set_false_positive_rate(*flags.fpr);
    query.mutable_operating_point()->set_true_positive_rate(*flags.tpr);
  } else {
    query.set_mu(*flags.mu);
  }
  return query;
}

// The value, rounded to its safe side, and the target's own quantity at that value.
Table CalibrationTable(const v1::CalibrateQuery& query, const v1::ComputeResponse& answer) {
  std::string reached = "epsilon there";
  if (query.has_mu()) reached = "mu there";
  if (query.has_operating_point()) reached = "true positive rate there";
  Table table({absl::AsciiStrToLower(absl::StrReplaceAll(
                   v1::CalibrateQuery::Variable_Name(query.variable()), {{"_", " "}})),
               reached, "kind", "accountant", "theorem", "note"});
  TableCell value("");
  if (query.variable() == Variable::COUNT) {
    value = TableCell(static_cast<int64_t>(answer.value()));
  } else {
    value =
        TableCell(answer.value(),
                  query.variable() == Variable::NOISE_MULTIPLIER ? Rounding::kUp : Rounding::kDown);
  }
  table.AddRow(
      {value, answer.has_upper() ? TableCell(answer.upper(), Rounding::kUp) : TableCell(""),
       v1::Guarantee::Kind_Name(answer.kind()), v1::Accountant::Kind_Name(answer.accountant()),
       answer.theorem(), answer.contains_unverified_claim() ? "unverified claim" : ""});
  return table;
}

void CalibrateByServer(Invocation& invocation, const CalibrateFlags& flags) {
  const absl::StatusOr<Sought> sought = SoughtBy(flags);
  if (!sought.ok()) return invocation.FailOffline(sought.status());
  if (flags.epsilon || flags.delta || flags.mu || flags.fpr || flags.tpr ||
      !flags.history.events_file.empty()) {
    return invocation.FailOffline(absl::InvalidArgumentError(
        "calibrate: got --budget or --session with another target or --events, want none of "
        "--epsilon, --delta, --mu, --fpr, --tpr and --events"));
  }
  if (!flags.budget.empty() && !flags.session.empty()) {
    return invocation.FailOffline(
        absl::InvalidArgumentError("calibrate: got --budget and --session, want one of them"));
  }
  std::string budget;
  std::string session;
  if (!flags.budget.empty()) {
    absl::StatusOr<std::string> name = BudgetName(flags.budget);
    if (!name.ok()) return invocation.FailOffline(name.status());
    budget = *std::move(name);
  } else {
    absl::StatusOr<std::string> name = SessionName(flags.session);
    if (!name.ok()) return invocation.FailOffline(name.status());
    session = *std::move(name);
  }
  EventFlags event = flags.history.event;
  if (flags.noise_multiplier && !event.any()) event.gaussian = 1;
  CalibrateAgainstCap(invocation, budget, session, event, *sought);
}

void Calibrate(Invocation& invocation, CalibrateFlags flags) {
  if (!flags.budget.empty() || !flags.session.empty()) return CalibrateByServer(invocation, flags);
  const absl::StatusOr<v1::CalibrateQuery> query = ToQuery(flags);
  if (!query.ok()) return invocation.FailOffline(query.status());
  EventFlags& event = flags.history.event;
  if (flags.noise_multiplier && !event.any() && flags.history.events_file.empty()) {
    event.gaussian = 1;  // sought
  }
  // The JSON of an event contains its sampling.
  if (flags.sampling_probability && (!event.json.empty() || !event.any())) {
    event.sampling_probability.reset();
  }
  v1::ComputeRequest request;
  absl::Status status = flags.history.Fill(invocation.terminal().in, &request);
  if (!status.ok()) return invocation.FailOffline(status);
  request.set_accountant(flags.accountant);
  *request.mutable_query()->mutable_calibrate() = *query;
  absl::StatusOr<v1::ComputeResponse> answer;
  {
    const Progress progress(invocation.terminal(), "calibrating");
    answer = bridge::Compute(request);
  }
  if (!answer.ok()) return invocation.FailOffline(answer.status());
  invocation.Print({.messages = {&*answer}, .table = CalibrationTable(*query, *answer)});
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* calibrate = app.add_subcommand(
      "calibrate",
      "Find the noise, count or sampling probability that meets a target or fits a cap");
  calibrate->fallthrough();
  flags->history.AddTo(*calibrate);
  calibrate
      ->add_flag("--noise-multiplier", flags->noise_multiplier,
                 "find the smallest noise multiplier; so does --gaussian or --laplace\n"
                 "without a value")
      ->group("What to find (one; leave out its value)");
  MakeSought(*calibrate, "--gaussian", "Z", "1", flags->noise_multiplier);
  MakeSought(*calibrate, "--laplace", "Z", "1", flags->noise_multiplier);
  MakeSought(*calibrate, "--count", "N", "1", flags->count);
  MakeSought(*calibrate, "--sampling-probability", "P", "0.5", flags->sampling_probability);
  const char* group = "Target (one)";
  calibrate->add_option("--epsilon", flags->epsilon, "spend at most this epsilon at --delta")
      ->type_name("EPSILON")
      ->group(group);
  calibrate->add_option("--delta", flags->delta, "with --epsilon")
      ->type_name("DELTA")
      ->group(group);
  calibrate->add_option("--mu", flags->mu, "be mu-GDP")->type_name("MU")->group(group);
  calibrate
      ->add_option("--fpr", flags->fpr,
                   "at this false positive rate, no membership test has a true positive\n"
                   "rate above --tpr")
      ->type_name("RATE")
      ->group(group);
  calibrate->add_option("--tpr", flags->tpr, "with --fpr")->type_name("RATE")->group(group);
  calibrate
      ->add_option(
          "--budget", flags->budget,
          "fit into what is left of the caps of this budget and those above it, for a new\n"
          "session that expects the event; asks the server")
      ->type_name("BUDGET")
      ->group(group);
  calibrate
      ->add_option("--session", flags->session,
                   "fit into what is left of the caps of this session; asks the server")
      ->type_name("BUDGET/SESSION")
      ->group(group);
  AddAccountantFlag(*calibrate, flags->accountant);
  calibrate->footer(
      "Finds the smallest noise multiplier, or the largest count or sampling probability, of the\n"
      "first event. --count and --sampling-probability without a value are to be found; with a\n"
      "value they are given. The answer is on the safe side of the edge, and so are its digits in\n"
      "a table; csv and json have all of them.\n"
      "Examples:\n"
      "  epsctl calibrate --noise-multiplier --sampling-probability 0.01 --count 1000 \\\n"
      "      --epsilon 3 --delta 1e-5\n"
      "  epsctl calibrate --count --gaussian 40 --epsilon 1 --delta 1e-6\n"
      "  epsctl calibrate --noise-multiplier --laplace --count 10 --epsilon 1 --delta 0\n"
      "  epsctl calibrate --noise-multiplier --count 100 --fpr 0.01 --tpr 0.05\n"
      "  epsctl calibrate --noise-multiplier --sampling-probability 0.01 --count 1000 \\\n"
      "      --budget adult");
  calibrate->callback([&invocation, flags] { Calibrate(invocation, *flags); });
}

}  // namespace epsledger::cli
