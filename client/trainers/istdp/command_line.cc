#include "client/trainers/istdp/command_line.h"

#include <iostream>
#include <limits>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::istdp {
namespace {

// The values of flags before Complete combines them.
struct RawFlags {
  std::string mode = "sound";
  std::string loss = "logistic";
  double huber_knee = 1;
  std::string penalty = "mcp";
  double lambda = 5e-4;
  double shape = 2000;
  double cap = 1;
  std::optional<double> clip_norm;
};

void AddDataFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Data";
  app.add_option("--data", options.data,
                 "a known set (a9a, wdbc, digits, german, w8a), synthetic:SEED, or the path of a "
                 "LIBSVM file")
      ->required()
      ->group(group);
  app.add_option("--test-data", options.test_data,
                 "with a path: records to evaluate on, exactly and so without any guarantee; none "
                 "of them may be private")
      ->type_name("PATH")
      ->group(group);
  app.add_option("--feature-count", options.feature_count,
                 "with a path: a PUBLIC number of features; those above it are left out")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--positive-class", options.positive_class, "the label that counts as 1")
      ->type_name("LABEL")
      ->group(group);
  app.add_option("--record-count", options.record_count,
                 "a PUBLIC number near the number of training records; known sets have one")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--scale", options.scale,
                 "PUBLIC bounds that features are divided by: one number, or a file with \"INDEX "
                 "BOUND\" a line")
      ->type_name("BOUND|FILE")
      ->group(group);
  app.add_option("--feature-names", options.feature_names, "a file with one name a line")
      ->type_name("FILE")
      ->group(group);
}

std::string ModeHelp() {
  std::string text = "what to run:";
  for (const ModeDescription& mode : AllModes()) {
    absl::StrAppend(&text, "\n", std::string(mode.name), ": ", std::string(mode.summary));
  }
  return text;
}

void AddProblemFlags(CLI::App& app, CommandLine& options, RawFlags& raw) {
  const char* group = "Problem (public: do not choose these by looking at private records)";
  std::vector<std::string> modes;
  for (const ModeDescription& mode : AllModes()) modes.emplace_back(mode.name);
  app.add_option("--mode", raw.mode, ModeHelp())
      ->check(CLI::IsMember(modes))
      ->type_name("MODE")
      ->capture_default_str()
      ->group(group);
  app.add_option("--loss", raw.loss, "logistic, squared or huber")
      ->check(CLI::IsMember({"logistic", "squared", "huber"}))
      ->type_name("LOSS")
      ->capture_default_str()
      ->group(group);
  app.add_option("--huber-knee", raw.huber_knee, "where the Huber loss becomes a line")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--penalty", raw.penalty,
                 "mcp, scad or capped-l1, which do not shrink large coefficients, l1 or l2")
      ->check(CLI::IsMember({"mcp", "scad", "capped-l1", "l1", "l2"}))
      ->type_name("PENALTY")
      ->capture_default_str()
      ->group(group);
  app.add_option("--l2", options.l2, "strength of the L2 penalty of the perturbation baselines")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  CLI::Option* lambda = app.add_option("--lambda", raw.lambda, "its strength")
                            ->check(CLI::NonNegativeNumber)
                            ->capture_default_str()
                            ->group(group);
  app.add_option("--shape", raw.shape,
                 "the shape a of MCP, > 1, or of SCAD, > 2: coefficients beyond a lambda are not "
                 "shrunk")
      ->capture_default_str()
      ->group(group);
  app.add_option("--cap", raw.cap, "of capped-l1: coefficients beyond it are not shrunk")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_flag("--universal-threshold", options.universal_threshold,
               "MCP with the lambda below which noise alone seldom makes a coefficient: to find "
               "the support")
      ->excludes(lambda)
      ->group(group);
  app.add_option("--row-norm", options.row_norm_bound, "records are scaled to this norm at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--clip-norm", raw.clip_norm,
                 "bound on the gradient of one record; --row-norm if not given")
      ->check(CLI::PositiveNumber)
      ->group(group);
  app.add_option("--sampling-probability", options.sampling_probability,
                 "Poisson batches: each record is in each of them with this probability")
      ->check(CLI::Range(std::numeric_limits<double>::min(), 1.0))
      ->type_name("P")
      ->capture_default_str()
      ->group(group);
  app.add_option("--tolerance", options.tolerance,
                 "converged when the mean of the last step residuals is below; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--average-last", options.average_last,
         "average the iterates of the last so many of --max-steps steps; a polynomial decay "
         "over all of them if not given")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_flag("--fixed-steps", options.fixed_steps,
               "the step size of the convergence proof instead of Barzilai-Borwein's")
      ->group(group);
  app.add_option("--step-size", options.step_size, "a fixed step size instead")
      ->check(CLI::PositiveNumber)
      ->group(group);
}

void AddModeFlags(CLI::App& app, CommandLine& options) {
  const char* search = "With --mode sound-line-search";
  app.add_option("--candidates", options.line_search.candidates, "steps that are compared")
      ->check(CLI::Range(2, 64))
      ->capture_default_str()
      ->group(search);
  app.add_option("--comparison-share", options.comparison_share,
                 "of a step's mu squared that the comparisons cost")
      ->check(CLI::Range(1e-6, 1 - 1e-6))
      ->capture_default_str()
      ->group(search);
  const char* backtracking = "With --mode sound-backtracking";
  app.add_option("--backtrack-shrink", options.backtracking.shrink,
                 "what a step is multiplied by until it is short enough")
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str()
      ->group(backtracking);
  app.add_option("--sufficient-decrease", options.backtracking.sufficient_decrease,
                 "beta of 1/step - beta step >= L, the condition that it stops at; L from --loss "
                 "and --row-norm")
      ->check(CLI::Range(1e-12, 1 - 1e-12))
      ->capture_default_str()
      ->group(backtracking);
  const char* phases = "With --mode sound-two-phase";
  app.add_option("--first-steps", options.two_phase.first_steps,
                 "of --steps: those that look for the support")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(phases);
  app.add_option("--first-share", options.two_phase.first_share,
                 "of the run's mu squared that they cost")
      ->check(CLI::Range(1e-6, 1 - 1e-6))
      ->capture_default_str()
      ->group(phases);
  app.add_option("--second-clip-norm", options.two_phase.contribution,
                 "bound on the gradient of one record on the support")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(phases);
  const char* objective = "With --mode objective-perturbation";
  app.add_option("--target-epsilon", options.target_epsilon, "the guarantee of its one release")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(objective);
  app.add_option("--target-delta", options.target_delta, "and its delta")
      ->check(CLI::Range(1e-12, 1 - 1e-16))
      ->capture_default_str()
      ->group(objective);
  const char* published = "With --mode published-noise and as-published";
  app.add_option("--claimed-epsilon", options.claimed_epsilon,
                 "what the paper's theorem 3.3 claims of --steps steps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(published);
  app.add_option("--claimed-delta", options.claimed_delta, "and its delta")
      ->check(CLI::Range(std::numeric_limits<double>::min(), 1 - 1e-16))
      ->capture_default_str()
      ->group(published);
  app.add_flag("--accept-unproven", options.accept_unproven,
               "run as-published although what it claims is not proven; the ledger will say that "
               "epsilon is infinite")
      ->group(published);
}

void AddOutputFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Output";
  CLI::Option* checkpoint =
      app.add_option("--checkpoint", options.checkpoint,
                     "where training stands, written every --checkpoint-every steps; public")
          ->type_name("FILE")
          ->group(group);
  app.add_option("--checkpoint-every", options.checkpoint_every, "steps between two of them")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  CLI::Option* resume =
      app.add_flag("--resume", options.resume,
                   "continue from --checkpoint: a new attempt of its session, fresh noise, charged "
                   "again from there")
          ->needs(checkpoint)
          ->group(group);
  app.add_flag("--new-attempt", options.new_attempt,
               "start from zero although --checkpoint holds steps of the session: they are charged "
               "again; the old file is kept as FILE.previous")
      ->needs(checkpoint)
      ->excludes(resume)
      ->group(group);
  app.add_option("--log-json", options.log_json, "a log in JSON lines: run, steps, result")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--log-csv", options.log_csv, "a log of the steps as CSV")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--log-every", options.log_every, "steps between two lines of the logs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--model", options.model, "the released coefficients, as JSON")
      ->type_name("FILE")
      ->group(group);
}

// Returns an error for a run that canaries cannot audit.
absl::Status CheckAudit(const CommandLine& options) {
  const bool perturbs =
      options.mode == Mode::kOutputPerturbation || options.mode == Mode::kObjectivePerturbation;
  if (options.canaries.count > 0 && perturbs) {
    return absl::InvalidArgumentError("--canaries: want a mode that releases gradients");
  }
  return options.canaries.Check(options.resume, options.ledger.relation);
}

// Checks what the baselines need and sets the options that they change.
absl::Status CompleteBaseline(CommandLine& options) {
  const bool perturbs =
      options.mode == Mode::kOutputPerturbation || options.mode == Mode::kObjectivePerturbation;
  if (perturbs && (options.resume || options.sampling_probability < 1)) {
    return absl::InvalidArgumentError(
        "--mode: a baseline of one release has neither --resume nor Poisson batches");
  }
  if (perturbs) {
    options.ledger.steps = 1;
    options.ledger.max_steps = 1;
  }
  if (options.mode == Mode::kObjectivePerturbation) {
    if (options.ledger.epsilon.has_value() || options.ledger.noise_multiplier.has_value() ||
        options.ledger.declared ||
        options.ledger.relation != NeighboringRelation::kAddOrRemoveOne) {
      return absl::InvalidArgumentError(
          "--mode objective-perturbation: takes --target-epsilon and --target-delta instead of "
          "--epsilon, --noise-multiplier and --declared, and is proven under add-or-remove-one "
          "alone");
    }
    // Its noise comes from the target, so no noise is chosen for the budget.
    options.ledger.noise_multiplier = 1;
    // Nothing may be clipped.
    options.clip_norm = 1.000002 * options.row_norm_bound;
  }
  if (options.mode == Mode::kDpSgd) {
    if (options.sampling_probability == 1 || !options.step_size.has_value()) {
      return absl::InvalidArgumentError(
          "--mode dp-sgd: needs --sampling-probability below 1 and --step-size");
    }
    options.regularizer = L2Penalty{.lambda = 0};
  }
  return absl::OkStatus();
}

// Checks and sets the options of a run of two phases.
absl::Status CompleteTwoPhase(const RawFlags& raw, CommandLine& options) {
  if (options.mode != Mode::kTwoPhase) return absl::OkStatus();
  if (raw.penalty != "mcp") {
    return absl::InvalidArgumentError(
        "--mode sound-two-phase: wants --penalty mcp, whose flat part says what the support is");
  }
  if (options.sampling_probability < 1 || options.ledger.declared || !options.checkpoint.empty()) {
    return absl::InvalidArgumentError(
        "--mode sound-two-phase: has no Poisson batches, no --declared (its steps are of two "
        "events) and no --checkpoint (its phases are one run)");
  }
  // The noise of each phase is chosen for a fixed number of steps.
  options.ledger.max_steps = options.ledger.steps;
  absl::Status valid = CheckTwoPhase(options.two_phase, options.ledger.steps);
  if (valid.ok()) return valid;
  return absl::InvalidArgumentError(absl::StrCat("--mode sound-two-phase: ", valid.message()));
}

// REQUIRES: a penalty that the parser knows.
Regularizer RegularizerOf(const RawFlags& raw) {
  if (raw.penalty == "scad") return ScadPenalty{.lambda = raw.lambda, .shape = raw.shape};
  if (raw.penalty == "capped-l1") return CappedL1Penalty{.lambda = raw.lambda, .cap = raw.cap};
  if (raw.penalty == "l1") return L1Penalty{.lambda = raw.lambda};
  if (raw.penalty == "l2") return L2Penalty{.lambda = raw.lambda};
  return McpPenalty{.lambda = raw.lambda, .shape = raw.shape};
}

// Checks and sets the options of a run with data-free back-tracking.
absl::Status CompleteBacktracking(CommandLine& options) {
  if (options.mode != Mode::kBacktracking) return absl::OkStatus();
  if (options.fixed_steps || options.step_size.has_value()) {
    return absl::InvalidArgumentError(
        "--mode sound-backtracking: takes neither --fixed-steps nor --step-size: it shortens "
        "Barzilai-Borwein steps");
  }
  const double lipschitz_constant = LipschitzConstant(options.loss, options.row_norm_bound);
  options.backtracking.lipschitz_constant = lipschitz_constant;
  absl::Status valid =
      ValidateBacktracking(options.backtracking, DefaultStepBounds(lipschitz_constant).largest);
  if (valid.ok()) return valid;
  return absl::InvalidArgumentError(absl::StrCat("--mode sound-backtracking: ", valid.message()));
}

// Combines the flags; returns the error in them, or OK.
absl::Status Complete(const RawFlags& raw, CommandLine& options) {
  for (const ModeDescription& mode : AllModes()) {
    if (mode.name == raw.mode) options.mode = mode.mode;
  }
  if (raw.loss == "squared") options.loss = SquaredMargin{};
  if (raw.loss == "huber") options.loss = HuberMargin{.knee = raw.huber_knee};
  RETURN_IF_ERROR(ValidateMarginLoss(options.loss));
  options.regularizer = RegularizerOf(raw);
  RETURN_IF_ERROR(ValidateRegularizer(options.regularizer));
  if (options.universal_threshold && raw.penalty != "mcp") {
    return absl::InvalidArgumentError("--universal-threshold: is for --penalty mcp");
  }
  options.clip_norm = raw.clip_norm.value_or(options.row_norm_bound);
  const bool published =
      options.mode == Mode::kPublishedNoise || options.mode == Mode::kAsPublished;
  if (options.mode == Mode::kAsPublished && !options.accept_unproven) {
    return absl::InvalidArgumentError(
        "--mode as-published: what it claims is not proven, and there is a counterexample "
        "(client/trainers/istdp/README.md); give --accept-unproven to run it all the same");
  }
  if (options.mode == Mode::kAsPublished && (options.resume || options.sampling_probability < 1)) {
    return absl::InvalidArgumentError(
        "--mode as-published: has neither --resume (its state holds exact gradients) nor Poisson "
        "batches");
  }
  if (options.mode == Mode::kAsPublished &&
      (options.ledger.declared || options.ledger.epsilon.has_value())) {
    return absl::InvalidArgumentError(
        "--mode as-published: takes no cap and no plan of its own: nothing is promised of it");
  }
  if (published && options.ledger.noise_multiplier.has_value()) {
    return absl::InvalidArgumentError(
        "--noise-multiplier: comes from --claimed-epsilon in this mode");
  }
  if (options.ledger.declared && options.mode == Mode::kSoundLineSearch) {
    return absl::InvalidArgumentError(
        "--declared: is for steps of one event, and a line search has two");
  }
  RETURN_IF_ERROR(CheckAudit(options));
  RETURN_IF_ERROR(CompleteBaseline(options));
  RETURN_IF_ERROR(CompleteTwoPhase(raw, options));
  RETURN_IF_ERROR(CompleteBacktracking(options));
  if (options.resume && options.ledger.session.empty()) {
    // The checkpoint holds the session.
    options.ledger.session = "from-checkpoint";
  }
  RETURN_IF_ERROR(options.ledger.Complete("epsledger-istdp"));
  // Theorem 3.3 is about a fixed number of steps.
  if (published) options.ledger.max_steps = options.ledger.steps;
  return absl::OkStatus();
}

constexpr const char* kFooter =
    "Exit codes: 0 trained (converged, step limit, or refused after at least one step), 1 failed,\n"
    "2 usage, 3 refused from the start.\n"
    "Examples:\n"
    "  epsctl budget create adult --epsilon 1 --delta 1e-5 \\\n"
    "      --relation add-or-remove-one --privacy-unit person\n"
    "  epsledger-istdp --budget adult --data a9a --log-json run.jsonl --checkpoint run.state\n"
    "and after a crash, under the same budget:\n"
    "  epsledger-istdp --budget adult --data a9a --log-json run-2.jsonl --checkpoint run.state "
    "--resume\n"
    "An audit of a run that is made for it:\n"
    "  epsledger-istdp --budget adult --data a9a --clip-norm 0.5 --canaries 1000 \\\n"
    "      --canary-scores scores.csv\n"
    "  epsctl audit --method one-run-f-dp --scores scores.csv --delta 1e-5 --claimed-epsilon 1\n"
    "What training prints and logs is released by charged noise, or of held-out records; times and "
    "the\n"
    "errors of a file that does not parse are not, and are for who holds the records.";

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, char** argv) {
  CommandLine options;
  RawFlags raw;
  CLI::App app(
      "Trains a sparse linear model (ISTDP), asking the ledger for a permit before every noisy "
      "gradient.",
      "epsledger-istdp");
  options.ledger.AddTo(app);
  AddDataFlags(app, options);
  AddProblemFlags(app, options, raw);
  AddModeFlags(app, options);
  AddOutputFlags(app, options);
  options.canaries.AddTo(app);
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return {.exit_code = app.exit(help)};
  } catch (const CLI::ParseError& error) {
    std::cerr << "epsledger-istdp: " << error.what() << ". Add --help to see what it takes.\n";
    return {.exit_code = 2};
  }
  if (absl::Status completed = Complete(raw, options); !completed.ok()) {
    std::cerr << "epsledger-istdp: " << completed.message() << "\n";
    return {.exit_code = 2};
  }
  return {.options = options};
}

std::string SettingsText(const CommandLine& options) {
  struct PenaltyText {
    std::string operator()(const McpPenalty& penalty) const {
      return absl::StrCat("mcp ", ExactNumber(penalty.lambda), " ", ExactNumber(penalty.shape));
    }
    std::string operator()(const L1Penalty& penalty) const {
      return absl::StrCat("l1 ", ExactNumber(penalty.lambda));
    }
    std::string operator()(const L2Penalty& penalty) const {
      return absl::StrCat("l2 ", ExactNumber(penalty.lambda));
    }
    std::string operator()(const ScadPenalty& penalty) const {
      return absl::StrCat("scad ", ExactNumber(penalty.lambda), " ", ExactNumber(penalty.shape));
    }
    std::string operator()(const CappedL1Penalty& penalty) const {
      return absl::StrCat("capped-l1 ", ExactNumber(penalty.lambda), " ", ExactNumber(penalty.cap));
    }
  };
  return absl::StrCat(
      "mode ", std::string(Describe(options.mode).name), ", data ", options.data, " ",
      options.test_data, ", scale ", options.scale, ", loss ",
      std::string(MarginLossName(options.loss)), " ", ExactNumber(LargestResidual(options.loss)),
      ", penalty ",
      options.universal_threshold ? "universal" : std::visit(PenaltyText{}, options.regularizer),
      ", row norm ", ExactNumber(options.row_norm_bound), ", clip norm ",
      ExactNumber(options.clip_norm), ", sampling ", ExactNumber(options.sampling_probability),
      ", ",
      options.step_size.has_value() ? "step size " + ExactNumber(*options.step_size)
      : options.fixed_steps         ? "fixed steps"
                                    : "Barzilai-Borwein steps",
      options.mode == Mode::kBacktracking
          ? absl::StrCat(", shrunk by ", ExactNumber(options.backtracking.shrink), " to decrease ",
                         ExactNumber(options.backtracking.sufficient_decrease))
          : "",
      options.average_last.has_value() ? absl::StrCat(", average of ", *options.average_last) : "",
      options.canaries.count > 0 ? absl::StrCat(", canaries ", options.canaries.count) : "");
}

}  // namespace epsledger::trainers::istdp
