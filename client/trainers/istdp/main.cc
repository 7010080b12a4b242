// istdp: trains sparse logistic regression and asks the ledger for a permit before every noisy
// gradient. command_line.h says what it takes, README.md why it is private.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/trainers/istdp/command_line.h"
#include "client/trainers/istdp/data_source.h"
#include "client/trainers/istdp/istdp.h"
#include "client/trainers/istdp/ledger_release.h"
#include "client/trainers/istdp/logistic_loss.h"
#include "client/trainers/istdp/noise_choice.h"
#include "client/trainers/istdp/run_report.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "epsledger/rounded_number.h"

namespace epsledger::istdp {
namespace {

enum ExitCode { kTrained = 0, kFailed = 1, kRefusedFromTheStart = 3 };

// The delta of reports where no cap has one.
constexpr double kUsualDelta = 1e-5;

int Fail(const absl::Status& status) {
  if (const std::optional<RefusalDetails> refusal = RefusalOf(status); refusal.has_value()) {
    std::cerr << "istdp: " << RefusalText(*refusal) << "\n";
    return kRefusedFromTheStart;
  }
  std::cerr << "istdp: " << status.ToString(absl::StatusToStringMode::kWithNoExtraData) << "\n";
  return kFailed;
}

// The numbers of training records that the known sets were published with: public, and used
// whatever the number of records in the file is.
absl::StatusOr<std::int64_t> PublicRecordCount(const CommandLine& options,
                                               const std::string& data_name) {
  if (options.record_count.has_value()) return *options.record_count;
  const struct {
    const char* name;
    std::int64_t count;
  } published[] = {
      {"a9a", 32561}, {"wdbc", 426}, {"digits", 1347}, {"german", 750}, {"w8a", 49749}};
  for (const auto& set : published) {
    if (data_name == set.name) return set.count;
  }
  return absl::InvalidArgumentError(
      "--record-count: not given; sums are divided by it, and the exact number of records is "
      "private: give a public number near it");
}

double ReportDelta(const CommandLine& options, const Budget& budget) {
  if (options.delta.has_value()) return *options.delta;
  const auto* cap = std::get_if<ApproximateDpCap>(&budget.cap);
  return cap != nullptr ? cap->delta : kUsualDelta;
}

std::string ClientDescription() {
  char host[128] = "unknown host";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat("istdp on ", host, ", process ", getpid());
}

// A session with its noise, ready to train.
struct OpenRun {
  Session session;
  double noise_multiplier;
};

absl::StatusOr<OpenRun> OpenSession(const CommandLine& options, const Budget& budget,
                                    Client& client) {
  std::optional<ApproximateDpCap> own_cap;
  if (options.epsilon.has_value()) {
    own_cap = ApproximateDpCap{.epsilon = *options.epsilon, .delta = *options.delta};
  }
  std::optional<double> multiplier = options.noise_multiplier;
  if (!multiplier.has_value() && own_cap.has_value() && options.declared) {
    multiplier = NoiseMultiplierByZcdp(*own_cap, options.steps, options.relation);
  }
  if (!multiplier.has_value() && !own_cap.has_value()) {
    const absl::StatusOr<double> fills = NoiseMultiplierThatFills(
        {budget.cells, budget.all_cells_must_fit}, options.steps, options.relation);
    if (!fills.ok()) return fills.status();
    multiplier = *fills;
  }

  NewSession create{.neighboring_relation = options.relation,
                    .no_own_cap = !own_cap.has_value() && !options.declared,
                    .display_name = absl::StrCat("ISTDP on ", options.data)};
  if (own_cap.has_value()) create.own_cap = *own_cap;
  if (options.declared) {
    create.plan = Plan{.events = {{Mechanism::Gaussian(*multiplier), options.steps}},
                       .delta = ReportDelta(options, budget)};
  }
  absl::StatusOr<Session> session = client.OpenSession({.budget = budget.name,
                                                        .session = options.session,
                                                        .create = create,
                                                        .client_description = ClientDescription()});
  if (!session.ok()) return session.status();
  if (!multiplier.has_value()) {
    const absl::StatusOr<std::vector<CellBalance>> cells = session->OwnCells();
    if (!cells.ok()) return cells.status();
    // The filter of own_cap is the one over Renyi orders, where one cell with room is enough.
    const absl::StatusOr<double> fills =
        NoiseMultiplierThatFills({*cells, false}, options.steps, options.relation);
    if (!fills.ok()) return fills.status();
    multiplier = *fills;
  }
  return OpenRun{*std::move(session), *multiplier};
}

int Run(const CommandLine& options) {
  DataRequest request = ParseDataArgument(options.data);
  request.test_path = options.test_data;
  request.positive_class = options.positive_class;
  absl::StatusOr<LocatedData> data = FindData(request, DataPlaces::FromEnvironment());
  if (!data.ok()) return Fail(data.status());
  std::cout << data->description << "\n";

  LabeledRows train = WithBiasColumn(data->train);
  HeldOutRows held_out{WithBiasColumn(data->held_out.rows)};
  for (LabeledRows* rows : {&train, &held_out.rows}) {
    if (absl::Status clipped = ClipRowNorms(options.row_norm_bound, rows); !clipped.ok()) {
      return Fail(clipped);
    }
  }
  absl::StatusOr<LogisticLoss> loss =
      LogisticLoss::Create(std::move(train), options.row_norm_bound);
  if (!loss.ok()) return Fail(loss.status());
  const absl::StatusOr<std::int64_t> record_count = PublicRecordCount(options, data->name);
  if (!record_count.ok()) return Fail(record_count.status());

  TrainingOptions training;
  training.max_steps = options.max_steps;
  training.public_record_count = *record_count;
  const double lipschitz_constant = LipschitzConstant(options.row_norm_bound);
  training.steps = options.fixed_steps ? FixedSteps(lipschitz_constant)
                                       : BarzilaiBorweinSteps(lipschitz_constant);
  training.regularizer = McpPenalty{.lambda = options.lambda, .shape = options.shape};
  training.tolerance = options.tolerance;
  if (absl::Status valid = ValidateRegularizer(training.regularizer); !valid.ok()) {
    return Fail(valid);
  }

  absl::StatusOr<Client> client = Client::Connect(options.client);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<Budget> budget = client->GetBudget(options.budget);
  if (!budget.ok()) return Fail(budget.status());
  absl::StatusOr<OpenRun> run = OpenSession(options, *budget, *client);
  if (!run.ok()) return Fail(run.status());

  LedgerRelease release(run->session, run->noise_multiplier, options.lease);
  std::cout << "Session " << run->session.name() << ", "
            << (options.declared ? "DECLARED" : "ADAPTIVE") << ", noise multiplier "
            << RoundedNumber(run->noise_multiplier, Rounding::kDown)
            << (options.noise_multiplier.has_value()
                    ? ""
                    : absl::StrCat(", so that ", options.steps, " steps fit into the cap"))
            << "; at most " << options.max_steps << " steps." << std::endl;
  const RunReport report{.out = std::cout,
                         .redraw = isatty(STDOUT_FILENO) == 1 && std::getenv("CI") == nullptr,
                         .session = run->session,
                         .mechanism = release.mechanism(),
                         .delta = ReportDelta(options, *budget),
                         .held_out = held_out,
                         .regularizer = training.regularizer,
                         .max_steps = options.max_steps};
  Progress progress(report);
  const absl::StatusOr<TrainingResult> result =
      TrainSound(*loss, training, release, [&](const StepReport& step) { progress.Show(step); });
  progress.Finish();
  if (!result.ok()) return Fail(result.status());
  PrintResult(report, *result);
  switch (result->stop_reason) {
    case StopReason::kConverged:
    case StopReason::kStepLimit:
      return kTrained;
    case StopReason::kRefused:
      return result->releases > 0 ? kTrained : kRefusedFromTheStart;
    case StopReason::kReleaseFailed:
      break;
  }
  return kFailed;
}

}  // namespace
}  // namespace epsledger::istdp

int main(int argc, char** argv) {
  const epsledger::istdp::ParsedCommandLine parsed = epsledger::istdp::ParseCommandLine(argc, argv);
  return parsed.options.has_value() ? epsledger::istdp::Run(*parsed.options) : parsed.exit_code;
}
