// epsledger-fsdp: trains image classifiers and asks the ledger for a permit before every noisy
// gradient. command_line.h says what it takes, README.md why it is private.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/trainers/data/data_source.h"
#include "client/trainers/fsdp/command_line.h"
#include "client/trainers/fsdp/exact_sum.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/fsdp/image_records.h"
#include "client/trainers/fsdp/models.h"
#include "client/trainers/fsdp/run_report.h"
#include "client/trainers/fsdp/state_file.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/open_run.h"
#include "client/trainers/run/poisson_sampler.h"
#include "client/trainers/run/privacy_label.h"
#include "client/trainers/run/training_log.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::fsdp {
namespace {

enum ExitCode { kTrained = 0, kFailed = 1, kRefusedFromTheStart = 3 };

// Standard deviation of the noise on the counts of quantile clipping, as a share of the expected
// batch size: small beside what is counted, and nearly free beside the gradient.
constexpr double kQuantileNoiseShare = 1.0 / 20;
constexpr int kEvaluations = 20;

int Fail(const absl::Status& status) {
  std::cerr << "epsledger-fsdp: " << LedgerStatusText(status) << "\n";
  return RefusalOf(status).has_value() ? kRefusedFromTheStart : kFailed;
}

// q = B / n0 for the public number of records n0.
absl::StatusOr<double> SamplingProbability(const CommandLine& options,
                                           const ImageRecords& records) {
  const std::int64_t count = options.record_count.value_or(records.published_count);
  if (count == 0) {
    return absl::InvalidArgumentError(
        "--record-count: not given; the sampling probability is made from it, and the exact number "
        "of records is private: give a public number near it");
  }
  const double probability = options.training.expected_batch_size / static_cast<double>(count);
  if (!(probability <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("--expected-batch-size: got ",
                                                   options.training.expected_batch_size,
                                                   ", want at most ", count, " records"));
  }
  return probability;
}

std::optional<Claim> ProvenClaim(const LedgerFlags& flags) {
  if (!flags.epsilon.has_value()) return std::nullopt;
  return Claim{.status = Claim::Status::kProven,
               .epsilon = *flags.epsilon,
               .delta = *flags.delta,
               .source = "client/trainers/fsdp/README.md, theorem 1"};
}

int Run(CommandLine options) {
  absl::StatusOr<TrainingLog> log = TrainingLog::Open(options.log_json, options.log_csv);
  if (!log.ok()) return Fail(log.status());
  TrainingOptions& training = options.training;
  absl::StatusOr<ImageRecords> records =
      ReadImages({.name = options.data,
                  .data_directory = DataPlaces::FromEnvironment().data_directory,
                  .scattering = options.features == "scattering",
                  .feature_cache = options.feature_cache,
                  .thread_count = training.threads,
                  .scale = options.input_scale,
                  .public_count = options.public_held_out});
  if (!records.ok()) return Fail(records.status());
  std::cout << records->description << "\n";
  if (records->train.inputs.cols() > kMaxRecords) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("--data: want at most ", kMaxRecords, " records, so that sums are exact")));
  }
  const absl::StatusOr<double> probability = SamplingProbability(options, *records);
  if (!probability.ok()) return Fail(probability.status());
  if (options.epochs.has_value()) {
    options.ledger.steps =
        std::max(1, static_cast<int>(std::lround(*options.epochs / *probability)));
    options.ledger.max_steps = options.ledger.steps;
  }

  const absl::StatusOr<std::vector<network::LayerOptions>> layers =
      ModelLayers(options.model, records->class_count);
  if (!layers.ok()) return Fail(layers.status());
  absl::StatusOr<network::Network<float>> network =
      network::Network<float>::Create(records->shape, *layers);
  if (!network.ok()) return Fail(network.status());
  network->Initialize(options.seed);
  training.public_records = std::move(records->public_records);
  training.max_steps = options.ledger.max_steps;
  if (training.quantile.has_value() && training.quantile->indicator_noise == 0) {
    training.quantile->indicator_noise = training.expected_batch_size * kQuantileNoiseShare;
  }
  TrainingState state = InitialState(*network, training);
  if (options.resume) {
    absl::StatusOr<TrainingState> kept = ReadStateFile(options.checkpoint, *network);
    if (!kept.ok()) return Fail(kept.status());
    state = *std::move(kept);
    std::cout << "Resuming after step " << state.step << ".\n";
  }

  absl::StatusOr<Client> client = Client::Connect(options.ledger.client);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<Budget> budget = client->GetBudget(options.ledger.budget);
  if (!budget.ok()) return Fail(budget.status());
  absl::StatusOr<OpenedRun> run =
      OpenGaussianRun(options.ledger,
                      {.program = "epsledger-fsdp",
                       .display_name = absl::StrCat("FSDP on ", options.data),
                       .provenance = {.sampler = Sampler::kPoisson, .clip_norm = 1},
                       .claim = ProvenClaim(options.ledger),
                       .sampling_probability = *probability},
                      *budget, *client);
  if (!run.ok()) return Fail(run.status());
  training.noise_multiplier = run->noise_multiplier;
  absl::StatusOr<PoissonSampler> sampler =
      PoissonSampler::Create(*probability, records->train.inputs.cols());
  if (!sampler.ok()) return Fail(sampler.status());

  LedgerRelease release(run->session, run->mechanism, options.ledger.lease);
  std::cout << network->description() << ", " << network->parameter_count() << " parameters\n"
            << "Session " << run->session.name() << ", "
            << (options.ledger.declared ? "DECLARED" : "ADAPTIVE") << ", noise multiplier "
            << RoundedNumber(run->noise_multiplier, Rounding::kDown) << ", sampling probability "
            << ExactNumber(*probability) << "; at most " << options.ledger.max_steps
            << " steps. Privacy label: " << kProvenLabel << std::endl;
  log->Run({{"program", "epsledger-fsdp"},
            {"label", std::string(kProvenLabel)},
            {"session", run->session.name()},
            {"data", options.data},
            {"features", options.features},
            {"model", options.model},
            {"network", network->description()},
            {"parameters", std::int64_t{network->parameter_count()}},
            {"mechanism", run->mechanism.ToJson()},
            {"noise_multiplier", run->noise_multiplier},
            {"sampling_probability", *probability},
            {"max_steps", std::int64_t{options.ledger.max_steps}},
            {"learning_rate", training.learning_rate},
            {"momentum", training.momentum},
            {"average_decay", training.average_decay},
            {"residual_clip", training.residual_clip},
            {"embedding_clip", training.embedding_clip},
            {"subspace", std::int64_t{static_cast<int>(training.subspace)}},
            {"rank", std::int64_t{training.rank}},
            {"resumed_after", std::int64_t{state.step}}});
  const RunReport report{
      .out = std::cout,
      .log = *log,
      .ledger = {.session = run->session,
                 .mechanism = release.mechanism(),
                 .delta = ReportDelta(options.ledger, *budget)},
      .held_out = records->held_out,
      .max_steps = options.ledger.max_steps,
      .evaluate_every = options.log_every > 0
                            ? options.log_every
                            : std::max(1, options.ledger.max_steps / kEvaluations),
      .feature_seconds = records->feature_seconds};
  Progress progress(report, *network);
  absl::Status checkpointed;
  const absl::StatusOr<TrainingResult> result = TrainSound(
      *network, records->train, training, std::move(state), [&] { return sampler->Draw(); },
      release,
      [&](const StepReport& step) {
        progress.Show(step);
        if (!options.checkpoint.empty() && step.state.step % options.checkpoint_every == 0) {
          checkpointed.Update(WriteStateFile(options.checkpoint, *network, step.state));
        }
      });
  if (!result.ok()) return Fail(result.status());
  if (!options.checkpoint.empty()) {
    checkpointed.Update(WriteStateFile(options.checkpoint, *network, result->state));
  }
  absl::Status finished = progress.Finish(*result, release);
  if (!finished.ok()) return Fail(finished);
  if (!checkpointed.ok()) return Fail(checkpointed);
  switch (result->stop_reason) {
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
}  // namespace epsledger::trainers::fsdp

int main(int argc, char** argv) {
  epsledger::trainers::fsdp::ParsedCommandLine parsed =
      epsledger::trainers::fsdp::ParseCommandLine(argc, argv);
  return parsed.options.has_value() ? epsledger::trainers::fsdp::Run(*std::move(parsed.options))
                                    : parsed.exit_code;
}
