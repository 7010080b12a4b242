// epsledger-fsdp: trains image classifiers and asks the ledger for a permit before every noisy
// gradient. command_line.h has its options, README.md its privacy proof.

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
#include "accounting/event/status_macros.h"
#include "client/trainers/data/data_source.h"
#include "client/trainers/fsdp/canaries.h"
#include "client/trainers/fsdp/command_line.h"
#include "client/trainers/fsdp/exact_sum.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/fsdp/image_records.h"
#include "client/trainers/fsdp/model_file.h"
#include "client/trainers/fsdp/models.h"
#include "client/trainers/fsdp/run_report.h"
#include "client/trainers/fsdp/state_file.h"
#include "client/trainers/run/canary_scores.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/ledger_report.h"
#include "client/trainers/run/open_run.h"
#include "client/trainers/run/poisson_sampler.h"
#include "client/trainers/run/privacy_label.h"
#include "client/trainers/run/proven_claim.h"
#include "client/trainers/run/result_file.h"
#include "client/trainers/run/training_log.h"
#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::fsdp {
namespace {

enum ExitCode { kTrained = 0, kFailed = 1, kRefusedFromTheStart = 3 };

// Standard deviation of the noise on the counts of quantile clipping, as a share of the expected
// batch size: small compared with the counts, and at almost no cost for the gradient's noise.
constexpr double kQuantileNoiseShare = 1.0 / 20;
constexpr int kEvaluations = 20;

int Fail(const absl::Status& status) {
  std::cerr << "epsledger-fsdp: " << LedgerStatusText(status) << "\n";
  return RefusalOf(status).has_value() ? kRefusedFromTheStart : kFailed;
}

// Returns q = B / n0 for the public number of records n0.
absl::StatusOr<double> SamplingProbability(const CommandLine& options,
                                           const ImageRecords& records) {
  const int64_t count = options.record_count.value_or(records.published_count);
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

// A run that continues is charged to the same budget and session, with the same noise.
absl::Status TakeIdentity(const RunIdentity& identity, const std::string& settings,
                          LedgerFlags& flags) {
  if (identity.budget != flags.budget || identity.session != flags.session) {
    return absl::InvalidArgumentError(
        absl::StrCat("--resume: the checkpoint is of --budget ", identity.budget, " --session ",
                     identity.session, ", got --budget ", flags.budget, " --session ",
                     flags.session, ": what it has released is charged there alone"));
  }
  if (identity.settings != settings) {
    return absl::InvalidArgumentError(absl::StrCat("--resume: the checkpoint was made with \"",
                                                   identity.settings, "\", got \"", settings,
                                                   "\""));
  }
  if (flags.noise_multiplier.value_or(identity.noise_multiplier) != identity.noise_multiplier) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--noise-multiplier: got ", *flags.noise_multiplier, ", want the checkpoint's ",
        ExactNumber(identity.noise_multiplier), " with --resume"));
  }
  flags.noise_multiplier = identity.noise_multiplier;
  return absl::OkStatus();
}

// Draws canaries in the range of the records: black and white for pixels, the norm of the records
// for features. Both ranges are constants that do not depend on the records.
absl::StatusOr<Canaries> CanariesLike(const ImageRecords& records, const CommandLine& options) {
  const Eigen::Index input_size = records.train.inputs.rows();
  const bool scattering = options.features == "scattering";
  const double unit = scattering ? 1 / std::sqrt(static_cast<double>(input_size)) : 0.5;
  return DrawCanaries({.count = options.canaries.count,
                       .input_size = input_size,
                       .class_count = records.class_count,
                       .magnitude = static_cast<float>(unit * options.input_scale)});
}

// Returns the model for evaluation: the averaged one, if there is one.
const network::Vector<float>& ModelOf(const TrainingState& state) {
  return state.average.size() > 0 ? state.average : state.parameters;
}

// Writes the model with the information that others need to use and to judge it.
absl::Status WriteModel(const CommandLine& options, const network::Network<float>& network,
                        const TrainingState& released, const RunIdentity& identity) {
  ASSIGN_OR_RETURN(
      const std::string encoded,
      EncodeModel(
          network, ModelOf(released),
          {{"program", "epsledger-fsdp"},
           {"data", options.data},
           {"deskewed", options.deskew ? "true" : "false"},
           {"features", options.features},
           {"input_scale", ExactNumber(options.input_scale)},
           {"steps", absl::StrCat(released.step)},
           {"session", absl::StrCat("budgets/", identity.budget, "/sessions/", identity.session)},
           {"noise_multiplier", ExactNumber(identity.noise_multiplier)},
           {"label", std::string(kProvenLabel)}}));
  RETURN_IF_ERROR(KeepPrevious(options.model_file));
  return WriteDurably(options.model_file, encoded);
}

// Scores the canaries under the model.
absl::Status WriteScores(const Canaries& canaries, const TrainingState& released,
                         network::Network<float>& network, const std::string& file) {
  network.parameters() = ModelOf(released);
  ASSIGN_OR_RETURN(const std::vector<double> scores, ScoreCanaries(network, canaries));
  RETURN_IF_ERROR(KeepPrevious(file));
  return WriteDurably(file, CanaryScoreLines(canaries.is_member, scores));
}

absl::StatusOr<int> Run(CommandLine options) {
  ASSIGN_OR_RETURN(TrainingLog log, TrainingLog::Open(options.log_json, options.log_csv));
  TrainingOptions& training = options.training;
  ASSIGN_OR_RETURN(ImageRecords records,
                   ReadImages({.name = options.data,
                               .data_directory = DataPlaces::FromEnvironment().data_directory,
                               .deskew = options.deskew,
                               .scattering = options.features == "scattering",
                               .feature_cache = options.feature_cache,
                               .thread_count = training.threads,
                               .scale = options.input_scale,
                               .public_count = options.public_held_out}));
  std::cout << records.description << "\n";
  if (records.train.inputs.cols() > kMaxRecords - std::min(options.canaries.count, kMaxRecords)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data: want at most ", kMaxRecords,
                     " records, all canaries included, so that sums are exact"));
  }
  ASSIGN_OR_RETURN(const double probability, SamplingProbability(options, records));
  if (options.epochs.has_value()) {
    options.ledger.steps =
        std::max(1, static_cast<int>(std::lround(*options.epochs / probability)));
    options.ledger.max_steps = options.ledger.steps;
  }

  // A canary is one more record: the public count and everything computed from it do not change.
  std::optional<Canaries> canaries;
  if (options.canaries.count > 0) {
    ASSIGN_OR_RETURN(Canaries drawn, CanariesLike(records, options));
    canaries = std::move(drawn);
    // Checked before anything is charged: a run without its scores audits nothing.
    RETURN_IF_ERROR(CheckCanWrite(options.canaries.scores_file));
    AddMembers(*canaries, records.train);
    std::cout << "Audit: " << canaries->member_count() << " of " << options.canaries.count
              << " canaries, chosen by fair coins, are trained on with the records. The model of "
                 "this run is for an audit, not for use.\n";
  }

  ASSIGN_OR_RETURN(const std::vector<network::LayerOptions> layers,
                   ModelLayers(options.model, records.class_count));
  ASSIGN_OR_RETURN(network::Network<float> network,
                   network::Network<float>::Create(records.shape, layers));
  network.Initialize(options.seed);
  training.public_records = std::move(records.public_records);
  training.max_steps = options.ledger.max_steps;
  if (training.quantile.has_value() && training.quantile->indicator_noise == 0) {
    training.quantile->indicator_noise = training.expected_batch_size * kQuantileNoiseShare;
  }
  TrainingState state = InitialState(network, training);
  for (const std::string& file : {options.checkpoint, options.model_file}) {
    if (file.empty()) continue;
    RETURN_IF_ERROR(CheckCanWrite(file));
  }
  if (!options.checkpoint.empty() && !options.resume && !options.new_attempt) {
    const absl::StatusOr<RunIdentity> found = ReadIdentity(options.checkpoint);
    if (found.ok() && found->budget == options.ledger.budget &&
        found->session == options.ledger.session) {
      return WouldStartOver(options.checkpoint, found->session);
    }
  }
  if (options.resume) {
    ASSIGN_OR_RETURN(SavedRun kept, ReadStateFile(options.checkpoint, network));
    RETURN_IF_ERROR(TakeIdentity(kept.identity, SettingsText(options), options.ledger));
    state = std::move(kept.state);
    std::cout << "Resuming after step " << state.step << ".\n";
  }

  ASSIGN_OR_RETURN(Client client, Client::Connect(options.ledger.client));
  ASSIGN_OR_RETURN(const Budget budget, client.GetBudget(options.ledger.budget));
  ASSIGN_OR_RETURN(
      OpenedRun run,
      OpenGaussianRun(options.ledger,
                      {.program = "epsledger-fsdp",
                       .display_name = absl::StrCat("FSDP on ", options.data),
                       .provenance = {.sampler = Sampler::kPoisson, .clip_norm = 1},
                       .claim = ProvenClaim(options.ledger, budget,
                                            "client/trainers/fsdp/README.md, theorem 1"),
                       .sampling_probability = probability,
                       .resumes = options.resume},
                      budget, client));
  training.noise_multiplier = run.noise_multiplier;
  const RunIdentity identity{.budget = options.ledger.budget,
                             .session = options.ledger.session,
                             .settings = SettingsText(options),
                             .noise_multiplier = run.noise_multiplier};
  ASSIGN_OR_RETURN(PoissonSampler sampler,
                   PoissonSampler::Create(probability, records.train.inputs.cols()));

  LedgerRelease release(run.session, run.mechanism, options.ledger.lease);
  std::cout << network.description() << ", " << network.parameter_count() << " parameters\n"
            << "Session " << run.session.name() << ", "
            << (options.ledger.declared ? "DECLARED" : "ADAPTIVE") << ", noise multiplier "
            << RoundedNumber(run.noise_multiplier, Rounding::kDown) << ", sampling probability "
            << ExactNumber(probability)
            << StepsThatFitText({.session = run.session, .mechanism = run.mechanism},
                                options.ledger, 1)
            << "; at most " << options.ledger.max_steps << " steps. Privacy label: " << kProvenLabel
            << std::endl;
  LogFields told = {{"program", "epsledger-fsdp"},
                    {"label", std::string(kProvenLabel)},
                    {"session", run.session.name()},
                    {"data", options.data},
                    {"deskewed", options.deskew},
                    {"features", options.features},
                    {"model", options.model},
                    {"network", network.description()},
                    {"parameters", int64_t{network.parameter_count()}},
                    {"mechanism", run.mechanism.ToJson()},
                    {"noise_multiplier", run.noise_multiplier},
                    {"sampling_probability", probability},
                    {"max_steps", int64_t{options.ledger.max_steps}},
                    {"learning_rate", training.learning_rate},
                    {"momentum", training.momentum},
                    {"average_decay", training.average_decay},
                    {"residual_clip", training.residual_clip},
                    {"embedding_clip", training.embedding_clip},
                    {"subspace", int64_t{static_cast<int>(training.subspace)}},
                    {"rank", int64_t{training.rank}},
                    {"resumed_after", int64_t{state.step}}};
  if (canaries.has_value()) {
    told.emplace_back("canaries", options.canaries.count);
    told.emplace_back("canary_members", canaries->member_count());
  }
  log.Run(told);
  const RunReport report{
      .out = std::cout,
      .log = log,
      .ledger = {.session = run.session,
                 .mechanism = release.mechanism(),
                 .delta = ReportDelta(options.ledger, budget)},
      .held_out = records.held_out,
      .max_steps = options.ledger.max_steps,
      .evaluate_every = options.log_every > 0
                            ? options.log_every
                            : std::max(1, options.ledger.max_steps / kEvaluations),
      .feature_seconds = records.feature_seconds};
  Progress progress(report, network);
  absl::Status files_written;
  PreviousKeeper previous(options.resume);
  const auto write_checkpoint = [&](const TrainingState& reached) {
    absl::Status written = previous.Keep(options.checkpoint);
    if (written.ok()) written = WriteStateFile(options.checkpoint, network, identity, reached);
    files_written.Update(written);
  };
  ASSIGN_OR_RETURN(
      const TrainingResult result,
      TrainSound(
          network, records.train, training, std::move(state), [&] { return sampler.Draw(); },
          release,
          [&](const StepReport& step) {
            progress.Show(step);
            if (!options.checkpoint.empty() && step.state.step % options.checkpoint_every == 0) {
              write_checkpoint(step.state);
            }
          }));
  // Files of an earlier run stay unless this run has a replacement.
  if (!options.checkpoint.empty() && result.releases > 0) write_checkpoint(result.state);
  if (!options.model_file.empty() && result.releases > 0) {
    files_written.Update(WriteModel(options, network, result.state, identity));
  }
  absl::Status finished = progress.Finish(result, release);
  if (canaries.has_value() && result.releases == 0) {
    std::cout << "Audit: nothing was released, so the canaries have no scores.\n";
  } else if (canaries.has_value()) {
    RETURN_IF_ERROR(WriteScores(*canaries, result.state, network, options.canaries.scores_file));
    std::cout << "Audit: " << canaries->member_count() << " of " << options.canaries.count
              << " canaries were trained on; the scores of all are in "
              << options.canaries.scores_file
              << ". Next:\n  epsctl audit --method one-run --scores "
              << options.canaries.scores_file << " --delta " << ExactNumber(report.ledger.delta)
              << "\nThe model is for this audit, not for use.\n";
  }
  if (!finished.ok()) return finished;
  if (!files_written.ok()) return files_written;
  switch (result.stop_reason) {
    case StopReason::kStepLimit:
      return kTrained;
    case StopReason::kRefused:
      return result.releases > 0 ? kTrained : kRefusedFromTheStart;
    case StopReason::kReleaseFailed:
      break;
  }
  return kFailed;
}

}  // namespace
}  // namespace epsledger::trainers::fsdp

int main(int argc, char** argv) {
  namespace trainer = epsledger::trainers::fsdp;
  trainer::ParsedCommandLine parsed = trainer::ParseCommandLine(argc, argv);
  if (!parsed.options.has_value()) return parsed.exit_code;
  const absl::StatusOr<int> exit_code = trainer::Run(*std::move(parsed.options));
  return exit_code.ok() ? *exit_code : trainer::Fail(exit_code.status());
}
