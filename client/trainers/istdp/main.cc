// epsledger-istdp: trains a sparse linear model and asks the ledger for a permit before every noisy
// gradient. command_line.h has its options, README.md its privacy proof.

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/canaries.h"
#include "client/trainers/istdp/checkpoint.h"
#include "client/trainers/istdp/command_line.h"
#include "client/trainers/istdp/mode_run.h"
#include "client/trainers/istdp/problem.h"
#include "client/trainers/istdp/run_log.h"
#include "client/trainers/istdp/run_report.h"
#include "client/trainers/run/canary_scores.h"
#include "client/trainers/run/open_run.h"
#include "client/trainers/run/poisson_sampler.h"
#include "client/trainers/run/program.h"
#include "client/trainers/run/proven_claim.h"
#include "client/trainers/run/result_file.h"
#include "client/trainers/run/session_report.h"
#include "client/trainers/run/training_log.h"
#include "epsledger/budget.h"
#include "epsledger/mechanism.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::istdp {
namespace {

// Reads the checkpoint to continue from, and sets the options to those of its run. Without --resume
// returns the state before the first step, or an error if the session has a checkpoint.
absl::StatusOr<TrainingState> Resume(CommandLine& options) {
  if (options.checkpoint.empty() || options.new_attempt) return TrainingState();
  absl::StatusOr<Checkpoint> checkpoint = ReadCheckpoint(options.checkpoint);
  // Release 0.1 stored the name as the user gave it.
  if (checkpoint.ok()) checkpoint->budget = BudgetId(checkpoint->budget);
  if (!options.resume) {
    if (checkpoint.ok() && checkpoint->budget == options.ledger.budget &&
        checkpoint->session == options.ledger.session) {
      return WouldStartOver(options.checkpoint, checkpoint->session);
    }
    return TrainingState();
  }
  if (!checkpoint.ok()) return checkpoint.status();
  if (checkpoint->settings != SettingsText(options)) {
    return absl::InvalidArgumentError(absl::StrCat("--resume: the checkpoint was made with \"",
                                                   checkpoint->settings, "\", got \"",
                                                   SettingsText(options), "\""));
  }
  if (checkpoint->budget != options.ledger.budget) {
    return absl::InvalidArgumentError(absl::StrCat("--resume: the checkpoint's budget is \"",
                                                   checkpoint->budget, "\", got \"",
                                                   options.ledger.budget, "\""));
  }
  options.ledger.session = checkpoint->session;
  options.ledger.noise_multiplier = checkpoint->noise_multiplier;
  return std::move(checkpoint->state);
}

// Adds canaries for an audit of the run, if requested.
absl::StatusOr<std::optional<Canaries>> PlantCanaries(const CommandLine& options,
                                                      Problem& problem) {
  if (options.canaries.count == 0) return std::optional<Canaries>();
  ASSIGN_OR_RETURN(Canaries canaries,
                   Canaries::Plant(static_cast<int>(options.canaries.count), options.row_norm_bound,
                                   &problem.train, &problem.held_out.rows));
  for (int canary = 1; canary <= options.canaries.count; ++canary) {
    problem.feature_names.push_back(absl::StrCat("canary ", canary));
  }
  return std::optional<Canaries>(std::move(canaries));
}

std::optional<PublishedClaim> ClaimOf(const CommandLine& options) {
  if (options.mode != Mode::kPublishedNoise && options.mode != Mode::kAsPublished) {
    return std::nullopt;
  }
  return PublishedClaim{.epsilon = options.claimed_epsilon,
                        .delta = options.claimed_delta,
                        .iterations = options.ledger.max_steps + 1};
}

// Returns the claim about the run's guarantee for the ledger.
std::optional<Claim> LedgerClaim(const CommandLine& options, const Budget& budget,
                                 const std::optional<PublishedClaim>& published) {
  const bool proven = Describe(options.mode).proven;
  if (published.has_value()) {
    return Claim{.status = proven ? Claim::Status::kProven : Claim::Status::kCounterexampleKnown,
                 .epsilon = published->epsilon,
                 .delta = published->delta,
                 .source = absl::StrCat("Yuan and Peng 2023, theorem 3.3; label: ",
                                        LabelText(Describe(options.mode)))};
  }
  return ProvenClaim(options.ledger, budget,
                     "client/trainers/istdp/README.md, theorem 1; label: proven");
}

absl::StatusOr<TrainingOptions> MakeTrainingOptions(const CommandLine& options,
                                                    const Problem& problem, const LinearLoss& loss,
                                                    double noise_multiplier,
                                                    TrainingState resumed) {
  TrainingOptions training;
  training.max_steps = options.ledger.max_steps;
  training.public_record_count = problem.public_record_count;
  const double lipschitz_constant = LipschitzConstant(options.loss, options.row_norm_bound);
  const bool fixed = options.fixed_steps || options.mode == Mode::kPublishedNoise;
  training.steps =
      fixed ? FixedSteps(lipschitz_constant) : BarzilaiBorweinSteps(lipschitz_constant);
  if (options.step_size.has_value()) {
    training.steps = {.rule = StepRule::kFixed, .first = *options.step_size, .bounds = {}};
  }
  training.regularizer = options.regularizer;
  if (options.universal_threshold) {
    const double noise =
        noise_multiplier * loss.contribution() /
        (options.sampling_probability * static_cast<double>(problem.public_record_count));
    training.regularizer = UniversalThresholdMcp(noise, static_cast<int>(loss.feature_count()));
  }
  training.tolerance = options.tolerance;
  training.average_last = options.average_last;
  training.resumed = std::move(resumed);
  if (options.sampling_probability < 1) {
    const absl::StatusOr<PoissonSampler> sampler =
        PoissonSampler::Create(options.sampling_probability, loss.record_count());
    if (!sampler.ok()) return sampler.status();
    training.batches = {.sampling_probability = options.sampling_probability,
                        .draw = [sampler = *sampler]() mutable { return sampler.Draw(); }};
  }
  return training;
}

void SayWhatStarts(const CommandLine& options, const OpenedRun& run) {
  const std::vector<Mechanism> events = EventsOf(options, run.noise_multiplier);
  // The steps of two phases together cost the same as that many steps with the run's own event.
  const bool in_phases = options.mode == Mode::kTwoPhase;
  const int events_of_a_step = in_phases ? 1 : static_cast<int>(events.size());
  std::cout << "Session " << run.session.name() << ", "
            << (options.ledger.declared ? "DECLARED" : "ADAPTIVE") << ", mode "
            << Describe(options.mode).name << " (" << LabelText(Describe(options.mode))
            << "), event " << events.front().ToJson()
            << StepsThatFitText({.session = run.session,
                                 .mechanism = in_phases ? run.mechanism : events.front()},
                                options.ledger, events_of_a_step)
            << "; at most " << options.ledger.max_steps << " steps." << std::endl;
}

// Shows, logs and checkpoints steps, and measures the time for that.
class Observer {
 public:
  Observer(const CommandLine& options, const RunReport& report, double noise_multiplier,
           TrainingLog& log)
      : options_(options),
        report_(report),
        noise_multiplier_(noise_multiplier),
        log_(log),
        progress_(report),
        previous_(options.resume) {}

  void Observe(const StepReport& step) {
    const auto start = std::chrono::steady_clock::now();
    if (!options_.checkpoint.empty() && step.step % options_.checkpoint_every == 0) {
      absl::Status written = previous_.Keep(options_.checkpoint);
      if (written.ok()) {
        written = WriteCheckpoint(options_.checkpoint, {.budget = options_.ledger.budget,
                                                        .session = options_.ledger.session,
                                                        .settings = SettingsText(options_),
                                                        .noise_multiplier = noise_multiplier_,
                                                        .state = step.state});
      }
      // Training continues: a run without a checkpoint is better than no run.
      if (!written.ok()) std::cerr << "epsledger-istdp: " << written.message() << "\n";
    }
    const bool logs = !options_.log_json.empty() || !options_.log_csv.empty();
    if (logs && step.step % options_.log_every == 0) LogStep(report_, step, log_);
    progress_.Show(step);
    time_ += std::chrono::steady_clock::now() - start;
  }

  void Finish() { progress_.Finish(); }
  std::chrono::nanoseconds time() const { return time_; }

 private:
  const CommandLine& options_;
  const RunReport& report_;
  const double noise_multiplier_;
  TrainingLog& log_;
  Progress progress_;
  PreviousKeeper previous_;
  std::chrono::nanoseconds time_{0};
};

RunEnd EndOf(const TrainingResult& result) {
  switch (result.stop_reason) {
    case StopReason::kConverged:
    case StopReason::kStepLimit:
      return {RunEnd::Reason::kComplete, result.releases};
    case StopReason::kRefused:
      return {RunEnd::Reason::kRefused, result.releases};
    case StopReason::kReleaseFailed:
      break;
  }
  return {RunEnd::Reason::kFailed, result.releases};
}

// The program, in the order of a run.
class IstdpProgram : public TrainerProgram {
 public:
  explicit IstdpProgram(CommandLine options) : options_(std::move(options)) {}

  absl::Status Prepare() override;
  const LedgerFlags& ledger() const override { return options_.ledger; }
  RunDescription Description(const Budget& budget) const override;
  absl::StatusOr<RunEnd> Train(OpenedRun& run, const Budget& budget) override;

 private:
  // The report refers to all that is passed.
  RunReport ReportOf(const OpenedRun& run, const Budget& budget,
                     const std::vector<Mechanism>& events, const TrainingOptions& training) const;
  // Prints, logs and writes what the run released.
  absl::Status Finish(const RunReport& report, const TrainingResult& result, const RunTimes& times);

  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  CommandLine options_;
  Problem problem_;  // `train` is moved into loss_
  std::optional<Canaries> canaries_;
  TrainingState resumed_;
  std::optional<LinearLoss> loss_;
  std::optional<TrainingLog> log_;
  std::optional<PublishedClaim> claim_;
};

absl::Status IstdpProgram::Prepare() {
  ASSIGN_OR_RETURN(problem_, PrepareProblem(options_));
  std::cout << problem_.description << "\n";
  ASSIGN_OR_RETURN(canaries_, PlantCanaries(options_, problem_));
  // Checked before anything is charged.
  for (const std::string& file :
       {options_.canaries.scores_file, options_.model, options_.checkpoint}) {
    if (file.empty()) continue;
    RETURN_IF_ERROR(CheckCanWrite(file));
  }
  ASSIGN_OR_RETURN(resumed_, Resume(options_));
  ASSIGN_OR_RETURN(
      loss_, LinearLoss::Create(options_.loss, std::move(problem_.train), options_.clip_norm));
  ASSIGN_OR_RETURN(log_, TrainingLog::Open(options_.log_json, options_.log_csv));
  claim_ = ClaimOf(options_);
  if (claim_.has_value()) {
    ASSIGN_OR_RETURN(const PublishedCalibration calibration, CalibrateAsPublished(*claim_));
    options_.ledger.noise_multiplier = calibration.noise_multiplier;
  }
  return absl::OkStatus();
}

RunDescription IstdpProgram::Description(const Budget& budget) const {
  return {.program = "epsledger-istdp",
          .display_name = absl::StrCat("ISTDP (", std::string(Describe(options_.mode).name),
                                       ") on ", options_.data),
          .provenance = {.sampler = options_.sampling_probability < 1 ? Sampler::kPoisson
                                                                      : Sampler::kFullBatch,
                         .clip_norm = options_.clip_norm},
          .claim = LedgerClaim(options_, budget, claim_),
          .sampling_probability = options_.sampling_probability,
          .resumes = options_.resume};
}

RunReport IstdpProgram::ReportOf(const OpenedRun& run, const Budget& budget,
                                 const std::vector<Mechanism>& events,
                                 const TrainingOptions& training) const {
  std::optional<RunReport::SecondPhase> second_phase;
  if (options_.mode == Mode::kTwoPhase) {
    second_phase = RunReport::SecondPhase{.after_steps = options_.two_phase.first_steps,
                                          .event = events.back()};
  }
  return {.out = std::cout,
          .redraw = isatty(STDOUT_FILENO) == 1 && std::getenv("CI") == nullptr,
          .ledger = {.session = run.session,
                     .mechanism = events.front(),
                     .delta = ReportDelta(options_.ledger, budget)},
          .mode = Describe(options_.mode),
          .claim = claim_,
          .held_out = problem_.held_out,
          .loss = options_.loss,
          .regularizer = training.regularizer,
          .feature_names = problem_.feature_names,
          .max_steps = options_.ledger.max_steps,
          .releases_of_a_step = second_phase ? 1 : static_cast<int>(events.size()),
          .second_phase = second_phase};
}

absl::Status IstdpProgram::Finish(const RunReport& report, const TrainingResult& result,
                                  const RunTimes& times) {
  PrintResult(report, result);
  std::cout << absl::StrCat("Accounting took ",
                            RoundedNumber(100 * std::chrono::duration<double>(times.charges) /
                                              std::chrono::duration<double>(times.training),
                                          Rounding::kUp, 3),
                            "% of the time of training.\n");
  if (result.releases == 0) {
    std::cout
        << "Nothing was released, so no file was written: those of an earlier run are as they "
           "were.\n";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(LogResult(report, result, times, *log_));
  if (!options_.model.empty()) RETURN_IF_ERROR(WriteModel(report, result, options_.model));
  if (!canaries_.has_value()) return absl::OkStatus();
  const std::string& file = options_.canaries.scores_file;
  RETURN_IF_ERROR(WriteCanaryScores(file, canaries_->is_member(), canaries_->scores()));
  std::cout << "Scores of " << options_.canaries.count << " canaries are in " << file
            << ", for `epsctl audit`. The model is for the audit alone.\n";
  return absl::OkStatus();
}

absl::StatusOr<RunEnd> IstdpProgram::Train(OpenedRun& run, const Budget& budget) {
  SayWhatStarts(options_, run);
  ASSIGN_OR_RETURN(const TrainingOptions training,
                   MakeTrainingOptions(options_, problem_, *loss_, run.noise_multiplier, resumed_));
  const std::vector<Mechanism> events = EventsOf(options_, run.noise_multiplier);
  const RunReport report = ReportOf(run, budget, events, training);
  LogRun(options_, report, run.noise_multiplier, resumed_, *log_);
  Observer observer(options_, report, run.noise_multiplier, *log_);
  const auto training_started = std::chrono::steady_clock::now();
  const absl::StatusOr<ModeOutcome> outcome = RunMode({.options = options_,
                                                       .loss = *loss_,
                                                       .training = training,
                                                       .session = run.session,
                                                       .noise_multiplier = run.noise_multiplier,
                                                       .observer = [&](const StepReport& step) {
                                                         observer.Observe(step);
                                                         if (canaries_.has_value())
                                                           canaries_->Observe(step);
                                                       }});
  const auto ended = std::chrono::steady_clock::now();
  observer.Finish();
  if (!outcome.ok()) return outcome.status();
  RETURN_IF_ERROR(Finish(report, outcome->result,
                         {.wall = ended - started_,
                          .training = ended - training_started - observer.time(),
                          .charges = outcome->charge_time}));
  return EndOf(outcome->result);
}

}  // namespace
}  // namespace epsledger::trainers::istdp

int main(int argc, char** argv) {
  namespace trainer = epsledger::trainers::istdp;
  trainer::ParsedCommandLine parsed = trainer::ParseCommandLine(argc, argv);
  if (!parsed.options.has_value()) return parsed.exit_code;
  trainer::IstdpProgram program(*std::move(parsed.options));
  return epsledger::trainers::RunTrainer("epsledger-istdp", program);
}
