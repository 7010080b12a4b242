// epsledger-istdp: trains sparse logistic regression and asks the ledger for a permit before every
// noisy gradient. command_line.h says what it takes, README.md why it is private.

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
#include "client/trainers/data/data_source.h"
#include "client/trainers/istdp/command_line.h"
#include "client/trainers/istdp/istdp.h"
#include "client/trainers/istdp/logistic_loss.h"
#include "client/trainers/istdp/run_report.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/ledger_report.h"
#include "client/trainers/run/open_run.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::istdp {
namespace {

enum ExitCode { kTrained = 0, kFailed = 1, kRefusedFromTheStart = 3 };

int Fail(const absl::Status& status) {
  std::cerr << "epsledger-istdp: " << LedgerStatusText(status) << "\n";
  return RefusalOf(status).has_value() ? kRefusedFromTheStart : kFailed;
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
  training.max_steps = options.ledger.max_steps;
  training.public_record_count = *record_count;
  const double lipschitz_constant = LipschitzConstant(options.row_norm_bound);
  training.steps = options.fixed_steps ? FixedSteps(lipschitz_constant)
                                       : BarzilaiBorweinSteps(lipschitz_constant);
  training.regularizer = McpPenalty{.lambda = options.lambda, .shape = options.shape};
  training.tolerance = options.tolerance;
  if (absl::Status valid = ValidateRegularizer(training.regularizer); !valid.ok()) {
    return Fail(valid);
  }

  absl::StatusOr<Client> client = Client::Connect(options.ledger.client);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<Budget> budget = client->GetBudget(options.ledger.budget);
  if (!budget.ok()) return Fail(budget.status());
  absl::StatusOr<OpenedRun> run = OpenGaussianRun(
      options.ledger,
      {.program = "epsledger-istdp",
       .display_name = absl::StrCat("ISTDP on ", options.data),
       .provenance = {.sampler = Sampler::kFullBatch, .clip_norm = options.row_norm_bound}},
      *budget, *client);
  if (!run.ok()) return Fail(run.status());

  LedgerRelease release(run->session, run->mechanism, options.ledger.lease);
  std::cout << "Session " << run->session.name() << ", "
            << (options.ledger.declared ? "DECLARED" : "ADAPTIVE") << ", noise multiplier "
            << RoundedNumber(run->noise_multiplier, Rounding::kDown)
            << (options.ledger.noise_multiplier.has_value()
                    ? ""
                    : absl::StrCat(", so that ", options.ledger.steps, " steps fit into the cap"))
            << "; at most " << options.ledger.max_steps << " steps." << std::endl;
  const RunReport report{.out = std::cout,
                         .redraw = isatty(STDOUT_FILENO) == 1 && std::getenv("CI") == nullptr,
                         .ledger = {.session = run->session,
                                    .mechanism = release.mechanism(),
                                    .delta = ReportDelta(options.ledger, *budget)},
                         .held_out = held_out,
                         .regularizer = training.regularizer,
                         .max_steps = options.ledger.max_steps};
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
}  // namespace epsledger::trainers::istdp

int main(int argc, char** argv) {
  const epsledger::trainers::istdp::ParsedCommandLine parsed =
      epsledger::trainers::istdp::ParseCommandLine(argc, argv);
  return parsed.options.has_value() ? epsledger::trainers::istdp::Run(*parsed.options)
                                    : parsed.exit_code;
}
