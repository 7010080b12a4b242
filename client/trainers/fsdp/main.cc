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
#include "client/trainers/fsdp/input_center.h"
#include "client/trainers/fsdp/models.h"
#include "client/trainers/fsdp/resume.h"
#include "client/trainers/fsdp/run_files.h"
#include "client/trainers/fsdp/run_report.h"
#include "client/trainers/fsdp/state_file.h"
#include "client/trainers/run/canary_scores.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/open_run.h"
#include "client/trainers/run/poisson_sampler.h"
#include "client/trainers/run/privacy_label.h"
#include "client/trainers/run/program.h"
#include "client/trainers/run/proven_claim.h"
#include "client/trainers/run/result_file.h"
#include "client/trainers/run/session_report.h"
#include "client/trainers/run/training_log.h"
#include "epsledger/budget.h"
#include "epsledger/mechanism.h"
#include "epsledger/rounded_number.h"
#include "epsledger/session.h"

namespace epsledger::trainers::fsdp {
namespace {

// Standard deviation of the noise on the counts of quantile clipping, as a share of the expected
// batch size: small compared with the counts, and at almost no cost for the gradient's noise.
constexpr double kQuantileNoiseShare = 1.0 / 20;
constexpr int kEvaluations = 20;

// Returns the public number of records n0.
absl::StatusOr<int64_t> PublicCount(const CommandLine& options, const ImageRecords& records) {
  const int64_t count = options.record_count.value_or(records.published_count);
  if (count == 0) {
    return absl::InvalidArgumentError(
        "--record-count: not given; the sampling probability is made from it, and the exact number "
        "of records is private: give a public number near it");
  }
  return count;
}

// Returns q = B / n0.
absl::StatusOr<double> SamplingProbability(double expected_batch_size, int64_t public_count) {
  const double probability = expected_batch_size / static_cast<double>(public_count);
  if (!(probability <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("--expected-batch-size: got ",
                                                   expected_batch_size, ", want at most ",
                                                   public_count, " records"));
  }
  return probability;
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

// The program, in the order of a run.
class FsdpProgram : public TrainerProgram {
 public:
  explicit FsdpProgram(CommandLine options) : options_(std::move(options)) {}

  absl::Status Prepare() override;
  const LedgerFlags& ledger() const override { return options_.ledger; }
  RunDescription Description(const Budget& budget) const override;
  absl::StatusOr<RunEnd> Train(OpenedRun& run, const Budget& budget) override;

 private:
  // The parts of Prepare.
  absl::Status ReadRecords();
  absl::Status PlantCanaries();
  absl::Status MakeNetwork();

  // The parts of Train.
  void SayWhatStarts(const OpenedRun& run) const;
  void LogRun(const OpenedRun& run);
  absl::Status CenterInputs(Session& session);
  absl::Status ScoreRun(const TrainingResult& result, double delta);

  CommandLine options_;
  std::optional<TrainingLog> log_;
  ImageRecords records_;
  int64_t public_count_ = 0;
  double probability_ = 0;
  std::optional<Canaries> canaries_;
  std::optional<network::Network<float>> network_;
  TrainingState state_;
  std::string charged_before_;  // the steps, as RunReport
};

absl::Status FsdpProgram::Prepare() {
  ASSIGN_OR_RETURN(TrainingLog log, TrainingLog::Open(options_.log_json, options_.log_csv));
  log_ = std::move(log);
  RETURN_IF_ERROR(ReadRecords());
  RETURN_IF_ERROR(PlantCanaries());
  RETURN_IF_ERROR(MakeNetwork());
  for (const std::string& file : {options_.checkpoint, options_.model_file}) {
    if (file.empty()) continue;
    RETURN_IF_ERROR(CheckCanWrite(file));
  }
  ASSIGN_OR_RETURN(std::optional<TrainingState> kept, StateToContinueFrom(options_, *network_));
  if (!kept.has_value()) return absl::OkStatus();
  state_ = *std::move(kept);
  std::cout << "Resuming after step " << state_.step << ".\n";
  return absl::OkStatus();
}

absl::Status FsdpProgram::ReadRecords() {
  ASSIGN_OR_RETURN(records_,
                   ReadImages({.name = options_.data,
                               .data_directory = DataPlaces::FromEnvironment().data_directory,
                               .deskew = options_.deskew,
                               .scattering = options_.features == "scattering",
                               .feature_cache = options_.feature_cache,
                               .thread_count = options_.training.threads,
                               .view_count = options_.view_count,
                               .public_directions = options_.public_directions,
                               .scale = options_.input_scale,
                               .public_count = options_.public_held_out}));
  std::cout << records_.description << "\n";
  const int64_t most = MaxRecords(options_.view_count);
  if (records_.train.inputs.cols() > most - std::min(options_.canaries.count, most)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--data: want at most ", most, " records, all canaries included, so that sums are exact"));
  }
  ASSIGN_OR_RETURN(public_count_, PublicCount(options_, records_));
  ASSIGN_OR_RETURN(probability_,
                   SamplingProbability(options_.training.expected_batch_size, public_count_));
  if (options_.epochs.has_value()) {
    options_.ledger.steps =
        std::max(1, static_cast<int>(std::lround(*options_.epochs / probability_)));
    options_.ledger.max_steps = options_.ledger.steps;
  }
  return absl::OkStatus();
}

// A canary is one more record: the public count and everything computed from it do not change.
absl::Status FsdpProgram::PlantCanaries() {
  if (options_.canaries.count == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(canaries_, CanariesLike(records_, options_));
  // Checked before anything is charged: a run without its scores audits nothing.
  RETURN_IF_ERROR(CheckCanWrite(options_.canaries.scores_file));
  AddMembers(*canaries_, records_.train);
  std::cout << "Audit: " << canaries_->member_count() << " of " << options_.canaries.count
            << " canaries, chosen by fair coins, are trained on with the records. The model of "
               "this run is for an audit, not for use.\n";
  return absl::OkStatus();
}

absl::Status FsdpProgram::MakeNetwork() {
  TrainingOptions& training = options_.training;
  ASSIGN_OR_RETURN(const std::vector<network::LayerOptions> layers,
                   ModelLayers(options_.model, records_.class_count));
  ASSIGN_OR_RETURN(network_, network::Network<float>::Create(records_.shape, layers));
  network_->Initialize(options_.seed);
  training.public_records = std::move(records_.public_records);
  training.max_steps = options_.ledger.max_steps;
  if (training.quantile.has_value() && training.quantile->indicator_noise == 0) {
    training.quantile->indicator_noise = training.expected_batch_size * kQuantileNoiseShare;
  }
  state_ = InitialState(*network_, training);
  return absl::OkStatus();
}

RunDescription FsdpProgram::Description(const Budget& budget) const {
  std::vector<CountedMechanism> besides_steps;
  if (options_.center_noise.has_value()) {
    besides_steps.push_back({Mechanism::Gaussian(*options_.center_noise), 1});
  }
  return {
      .program = "epsledger-fsdp",
      .display_name = absl::StrCat("FSDP on ", options_.data),
      // --expected-batch-size, which nothing of the data changes.
      .provenance = {.sampler = Sampler::kPoisson,
                     .clip_norm = 1,
                     .normalizer = Normalizer::kPublicConstant},
      .claim = ProvenClaim(options_.ledger, budget, "client/trainers/fsdp/README.md, theorem 1"),
      .sampling_probability = probability_,
      .besides_steps = std::move(besides_steps),
      .resumes = options_.resume};
}

void FsdpProgram::SayWhatStarts(const OpenedRun& run) const {
  std::cout << network_->description() << ", " << network_->parameter_count() << " parameters\n"
            << "Session " << run.session.name() << ", "
            << (options_.ledger.declared ? "DECLARED" : "ADAPTIVE") << ", noise multiplier "
            << RoundedNumber(run.noise_multiplier, Rounding::kDown) << ", sampling probability "
            << ExactNumber(probability_)
            << StepsThatFitText({.session = run.session, .mechanism = run.mechanism},
                                options_.ledger, 1)
            << "; at most " << options_.ledger.max_steps
            << " steps. Privacy label: " << kProvenLabel << std::endl;
}

void FsdpProgram::LogRun(const OpenedRun& run) {
  const TrainingOptions& training = options_.training;
  LogFields told = {{"program", "epsledger-fsdp"},
                    {"label", std::string(kProvenLabel)},
                    {"session", run.session.name()},
                    {"data", options_.data},
                    {"deskewed", options_.deskew},
                    {"views", int64_t{options_.view_count}},
                    {"public_directions", int64_t{options_.public_directions}},
                    {"center_noise", options_.center_noise.value_or(0)},
                    {"features", options_.features},
                    {"model", options_.model},
                    {"network", network_->description()},
                    {"parameters", int64_t{network_->parameter_count()}},
                    {"mechanism", run.mechanism.ToJson()},
                    {"noise_multiplier", run.noise_multiplier},
                    {"sampling_probability", probability_},
                    {"max_steps", int64_t{options_.ledger.max_steps}},
                    {"learning_rate", training.learning_rate},
                    {"momentum", training.momentum},
                    {"average_decay", training.average_decay},
                    {"residual_clip", training.residual_clip},
                    {"embedding_clip", training.embedding_clip},
                    {"subspace", int64_t{static_cast<int>(training.subspace)}},
                    {"rank", int64_t{training.rank}},
                    {"resumed_after", int64_t{state_.step}}};
  if (canaries_.has_value()) {
    told.emplace_back("canaries", options_.canaries.count);
    told.emplace_back("canary_members", canaries_->member_count());
  }
  log_->Run(std::move(told));
}

// Releases the mean of the inputs, unless the checkpoint has it, and subtracts it everywhere.
absl::Status FsdpProgram::CenterInputs(Session& session) {
  if (!options_.center_noise.has_value()) return absl::OkStatus();
  if (state_.center.size() == 0) {
    LedgerRelease release(session, Mechanism::Gaussian(*options_.center_noise));
    ASSIGN_OR_RETURN(state_.center,
                     ReleaseInputCenter(records_.train,
                                        {.bound = options_.input_scale,
                                         .public_count = static_cast<double>(public_count_)},
                                        release));
    charged_before_ = absl::StrCat(ChargedText(1, release.mechanism()), ", ");
    std::cout << "Charged " << ChargedText(1, release.mechanism())
              << " for a mean of the features, which is subtracted from them.\n";
  }
  SubtractCenter(state_.center, records_.train);
  SubtractCenter(state_.center, records_.held_out.records);
  SubtractCenter(state_.center, options_.training.public_records);
  if (canaries_.has_value()) SubtractCenter(state_.center, canaries_->records);
  return absl::OkStatus();
}

absl::Status FsdpProgram::ScoreRun(const TrainingResult& result, double delta) {
  if (!canaries_.has_value()) return absl::OkStatus();
  if (result.releases == 0) {
    std::cout << "Audit: nothing was released, so the canaries have no scores.\n";
    return absl::OkStatus();
  }
  const std::string& file = options_.canaries.scores_file;
  network_->parameters() = ReleasedModel(result.state);
  ASSIGN_OR_RETURN(const std::vector<double> scores, ScoreCanaries(*network_, *canaries_));
  RETURN_IF_ERROR(WriteCanaryScores(file, canaries_->is_member, scores));
  std::cout << "Audit: " << canaries_->member_count() << " of " << options_.canaries.count
            << " canaries were trained on; the scores of all are in " << file
            << ". Next:\n  epsctl audit --method one-run --scores " << file << " --delta "
            << ExactNumber(delta) << "\nThe model is for this audit, not for use.\n";
  return absl::OkStatus();
}

RunEnd EndOf(const TrainingResult& result) {
  switch (result.stop_reason) {
    case StopReason::kStepLimit:
      return {RunEnd::Reason::kComplete, result.releases};
    case StopReason::kRefused:
      return {RunEnd::Reason::kRefused, result.releases};
    case StopReason::kReleaseFailed:
      break;
  }
  return {RunEnd::Reason::kFailed, result.releases};
}

absl::StatusOr<RunEnd> FsdpProgram::Train(OpenedRun& run, const Budget& budget) {
  options_.training.noise_multiplier = run.noise_multiplier;
  const RunIdentity identity{.budget = options_.ledger.budget,
                             .session = options_.ledger.session,
                             .settings = SettingsText(options_),
                             .noise_multiplier = run.noise_multiplier};
  ASSIGN_OR_RETURN(PoissonSampler sampler,
                   PoissonSampler::Create(probability_, records_.train.inputs.cols()));
  LedgerRelease release(run.session, run.mechanism, options_.ledger.lease);
  SayWhatStarts(run);
  RunFiles files(options_, *network_, records_.basis, identity);
  RETURN_IF_ERROR(CenterInputs(run.session));
  // What is paid for must be there for a run that continues.
  if (!charged_before_.empty()) files.WriteFirstCheckpoint(state_);
  LogRun(run);
  const int max_steps = options_.ledger.max_steps;
  const RunReport report{.out = std::cout,
                         .log = *log_,
                         .ledger = {.session = run.session,
                                    .mechanism = release.mechanism(),
                                    .delta = ReportDelta(options_.ledger, budget)},
                         .held_out = records_.held_out,
                         .charged_before = charged_before_,
                         .max_steps = max_steps,
                         .evaluate_every = options_.log_every > 0
                                               ? options_.log_every
                                               : std::max(1, max_steps / kEvaluations),
                         .feature_seconds = records_.feature_seconds};
  Progress progress(report, *network_);
  ASSIGN_OR_RETURN(const TrainingResult result,
                   TrainSound(
                       *network_, records_.train, options_.training, std::move(state_),
                       [&] { return sampler.Draw(); }, release,
                       [&](const StepReport& step) {
                         progress.Show(step);
                         files.WriteCheckpointIfDue(step.state);
                       }));
  files.WriteResult(result);
  const absl::Status finished = progress.Finish(result, release);
  RETURN_IF_ERROR(ScoreRun(result, report.ledger.delta));
  RETURN_IF_ERROR(finished);
  RETURN_IF_ERROR(files.status());
  return EndOf(result);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp

int main(int argc, char** argv) {
  namespace trainer = epsledger::trainers::fsdp;
  trainer::ParsedCommandLine parsed = trainer::ParseCommandLine(argc, argv);
  if (!parsed.options.has_value()) return parsed.exit_code;
  trainer::FsdpProgram program(*std::move(parsed.options));
  return epsledger::trainers::RunTrainer("epsledger-fsdp", program);
}
