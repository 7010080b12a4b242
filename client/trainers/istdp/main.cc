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
#include "client/trainers/run/ledger_report.h"
#include "client/trainers/run/open_run.h"
#include "client/trainers/run/poisson_sampler.h"
#include "client/trainers/run/proven_claim.h"
#include "client/trainers/run/result_file.h"
#include "client/trainers/run/training_log.h"
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

int ExitCodeOf(const TrainingResult& result) {
  switch (result.stop_reason) {
    case StopReason::kConverged:
    case StopReason::kStepLimit:
      return kTrained;
    case StopReason::kRefused:
      return result.releases > 0 ? kTrained : kRefusedFromTheStart;
    case StopReason::kReleaseFailed:
      break;
  }
  return kFailed;
}

absl::Status WriteScores(const CommandLine& options, const Canaries& canaries) {
  const std::string& file = options.canaries.scores_file;
  RETURN_IF_ERROR(KeepPrevious(file));
  RETURN_IF_ERROR(WriteDurably(file, CanaryScoreLines(canaries.is_member(), canaries.scores())));
  std::cout << "Scores of " << options.canaries.count << " canaries are in " << file
            << ", for `epsctl audit`. The model is for the audit alone.\n";
  return absl::OkStatus();
}

absl::StatusOr<int> Run(CommandLine options) {
  const auto started = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(Problem problem, PrepareProblem(options));
  std::cout << problem.description << "\n";
  ASSIGN_OR_RETURN(std::optional<Canaries> canaries, PlantCanaries(options, problem));
  // Checked before anything is charged.
  for (const std::string& file :
       {options.canaries.scores_file, options.model, options.checkpoint}) {
    if (file.empty()) continue;
    RETURN_IF_ERROR(CheckCanWrite(file));
  }
  ASSIGN_OR_RETURN(TrainingState resumed, Resume(options));
  ASSIGN_OR_RETURN(const LinearLoss loss,
                   LinearLoss::Create(options.loss, std::move(problem.train), options.clip_norm));
  ASSIGN_OR_RETURN(TrainingLog log, TrainingLog::Open(options.log_json, options.log_csv));
  const std::optional<PublishedClaim> claim = ClaimOf(options);
  if (claim.has_value()) {
    ASSIGN_OR_RETURN(const PublishedCalibration calibration, CalibrateAsPublished(*claim));
    options.ledger.noise_multiplier = calibration.noise_multiplier;
  }

  ASSIGN_OR_RETURN(Client client, Client::Connect(options.ledger.client));
  ASSIGN_OR_RETURN(const Budget budget, client.GetBudget(options.ledger.budget));
  ASSIGN_OR_RETURN(
      OpenedRun run,
      OpenGaussianRun(
          options.ledger,
          {.program = "epsledger-istdp",
           .display_name = absl::StrCat("ISTDP (", std::string(Describe(options.mode).name),
                                        ") on ", options.data),
           .provenance = {.sampler = options.sampling_probability < 1 ? Sampler::kPoisson
                                                                      : Sampler::kFullBatch,
                          .clip_norm = options.clip_norm},
           .claim = LedgerClaim(options, budget, claim),
           .sampling_probability = options.sampling_probability,
           .resumes = options.resume},
          budget, client));
  SayWhatStarts(options, run);

  const TrainingState resumed_state = resumed;
  ASSIGN_OR_RETURN(
      const TrainingOptions training,
      MakeTrainingOptions(options, problem, loss, run.noise_multiplier, std::move(resumed)));
  const std::vector<Mechanism> events = EventsOf(options, run.noise_multiplier);
  std::optional<RunReport::SecondPhase> second_phase;
  if (options.mode == Mode::kTwoPhase) {
    second_phase = RunReport::SecondPhase{.after_steps = options.two_phase.first_steps,
                                          .event = events.back()};
  }
  const RunReport report{.out = std::cout,
                         .redraw = isatty(STDOUT_FILENO) == 1 && std::getenv("CI") == nullptr,
                         .ledger = {.session = run.session,
                                    .mechanism = events.front(),
                                    .delta = ReportDelta(options.ledger, budget)},
                         .mode = Describe(options.mode),
                         .claim = claim,
                         .held_out = problem.held_out,
                         .loss = options.loss,
                         .regularizer = training.regularizer,
                         .feature_names = problem.feature_names,
                         .max_steps = options.ledger.max_steps,
                         .releases_of_a_step = second_phase ? 1 : static_cast<int>(events.size()),
                         .second_phase = second_phase};
  LogRun(options, report, run.noise_multiplier, resumed_state, log);
  Observer observer(options, report, run.noise_multiplier, log);
  const auto training_started = std::chrono::steady_clock::now();
  const absl::StatusOr<ModeOutcome> outcome = RunMode({.options = options,
                                                       .loss = loss,
                                                       .training = training,
                                                       .session = run.session,
                                                       .noise_multiplier = run.noise_multiplier,
                                                       .observer = [&](const StepReport& step) {
                                                         observer.Observe(step);
                                                         if (canaries.has_value())
                                                           canaries->Observe(step);
                                                       }});
  const auto ended = std::chrono::steady_clock::now();
  observer.Finish();
  if (!outcome.ok()) return outcome.status();
  PrintResult(report, outcome->result);
  const RunTimes times{.wall = ended - started,
                       .training = ended - training_started - observer.time(),
                       .charges = outcome->charge_time};
  std::cout << absl::StrCat("Accounting took ",
                            RoundedNumber(100 * std::chrono::duration<double>(times.charges) /
                                              std::chrono::duration<double>(times.training),
                                          Rounding::kUp, 3),
                            "% of the time of training.\n");
  if (outcome->result.releases == 0) {
    std::cout
        << "Nothing was released, so no file was written: those of an earlier run are as they "
           "were.\n";
    return ExitCodeOf(outcome->result);
  }
  RETURN_IF_ERROR(LogResult(report, outcome->result, times, log));
  if (!options.model.empty()) {
    RETURN_IF_ERROR(WriteModel(report, outcome->result, options.model));
  }
  if (canaries.has_value()) RETURN_IF_ERROR(WriteScores(options, *canaries));
  return ExitCodeOf(outcome->result);
}

}  // namespace
}  // namespace epsledger::trainers::istdp

int main(int argc, char** argv) {
  namespace trainer = epsledger::trainers::istdp;
  trainer::ParsedCommandLine parsed = trainer::ParseCommandLine(argc, argv);
  if (!parsed.options.has_value()) return parsed.exit_code;
  const absl::StatusOr<int> exit_code = trainer::Run(*std::move(parsed.options));
  return exit_code.ok() ? *exit_code : trainer::Fail(exit_code.status());
}
