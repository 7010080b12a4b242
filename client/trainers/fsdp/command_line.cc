#include "client/trainers/fsdp/command_line.h"

#include <initializer_list>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::fsdp {
namespace {

// One fewer than the public digits.
constexpr int kMostPublicDirections = 1796;

// Adds a flag that takes one of these words.
template <class Enum>
CLI::Option* AddChoice(CLI::App& app, const std::string& flag, Enum& value,
                       const std::map<std::string, Enum>& words, const std::string& description) {
  return app
      .add_option_function<std::string>(
          flag, [&value, words](const std::string& word) { value = words.at(word); }, description)
      ->check(CLI::IsMember(words))
      ->type_name("WORD");
}

// Returns the error in the value of --public-basis, or an empty text.
std::string CheckPublicBasis(const std::string& text) {
  int count = 0;
  if (absl::StartsWith(text, "digits:") && absl::SimpleAtoi(text.substr(7), &count) && count >= 1 &&
      count <= kMostPublicDirections) {
    return "";
  }
  return absl::StrCat("got \"", text, "\", want digits:N with N in [1, ", kMostPublicDirections,
                      "]");
}

void AddDataFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Data and model";
  app.add_option("--data", options.data,
                 "mnist, cifar10-jpeg75 or digits, from the folder in EPSLEDGER_DATA_DIR")
      ->required()
      ->group(group);
  app.add_flag(
         "--deskew", options.deskew,
         "set every image upright in the middle first, by itself: for digits and the like; it "
         "costs no privacy")
      ->group(group);
  app.add_option("--features", options.features,
                 "pixels, or scattering: fixed wavelet features of each image alone")
      ->check(CLI::IsMember({"pixels", "scattering"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--feature-cache", options.feature_cache,
                 "a folder for scattering features; keep it as you keep the records")
      ->envname("EPSLEDGER_FEATURE_CACHE")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--input-scale", options.input_scale,
                 "a public constant that inputs are multiplied by")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--center-noise", options.center_noise,
         "subtract a private mean of the scattering features from them: one more charge, of "
         "a Gaussian event with this noise multiplier, before the first step (30 is little "
         "beside epsilon 2)")
      ->check(CLI::PositiveNumber)
      ->type_name("Z")
      ->group(group);
  app.add_option_function<std::string>(
         "--public-basis",
         [&options](const std::string& text) {
           // CheckPublicBasis has found a number behind the colon.
           options.public_directions = std::stoi(text.substr(text.find(':') + 1));
         },
         "keep of the scattering features their coordinates along N directions of the public UCI "
         "digits: costs no privacy, and steps are 10 to 40 times cheaper with 200")
      ->check(CheckPublicBasis)
      ->type_name("digits:N")
      ->group(group);
  app.add_option("--augmentation-multiplicity", options.view_count,
                 "train on K views of every image: itself, and K - 1 that are turned, scaled and "
                 "shifted a little. Their mean gradient is clipped as one, so it costs no privacy")
      ->check(CLI::Range(1, 16))
      ->capture_default_str()
      ->type_name("K")
      ->group(group);
  app.add_option("--record-count", options.record_count,
                 "a PUBLIC number near the number of training records; known sets have one")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--public-held-out", options.public_held_out,
                 "take the first N held-out records as public, for --subspace public")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--model", options.model,
                 "linear, mlp:64 (or mlp:256,64), cnn, paper, or layers before the logits: "
                 "\"convolution(16,5) relu max_pool(2) fully_connected(32) tanh\"")
      ->capture_default_str()
      ->group(group);
  app.add_option("--seed", options.seed,
                 "of the first parameters; public. Batches and noise have no seed")
      ->capture_default_str()
      ->group(group);
}

void AddTrainingFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Training (public: do not choose these by looking at private records)";
  TrainingOptions& training = options.training;
  app.add_option("--expected-batch-size", training.expected_batch_size,
                 "records are in a batch independently, so many on average")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--epochs", options.epochs,
                 "instead of --steps: as many as expect to see each record so often")
      ->check(CLI::PositiveNumber)
      ->excludes("--steps")
      ->group(group);
  app.add_option("--learning-rate", training.learning_rate,
                 "times the released sum of clipped gradients / expected batch size")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--momentum", training.momentum, "in [0, 1)")->capture_default_str()->group(group);
  app.add_option("--average", training.average_decay,
                 "evaluate an exponential average of the parameters with this decay, in [0, 1)")
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", training.threads, "results do not depend on it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
}

void AddMechanismFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Clipping and subspaces (public as well)";
  TrainingOptions& training = options.training;
  app.add_option("--clip-residual", training.residual_clip,
                 "clip norm of what is outside the subspace; without one, of the gradient")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--clip-embedding", training.embedding_clip,
                 "clip norm of what is in the subspace")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  AddChoice<ClipGeometry>(app, "--geometry", training.geometry,
                          {{"separate", ClipGeometry::kSeparate}, {"joint", ClipGeometry::kJoint}},
                          "separate: each part has its own clip norm and share of the noise; "
                          "joint: one clip for both")
      ->group(group);
  AddChoice<SubspaceKind>(app, "--subspace", training.subspace,
                          {{"off", SubspaceKind::kOff},
                           {"history", SubspaceKind::kHistory},
                           {"next-layer-weights", SubspaceKind::kNextLayerWeights},
                           {"public", SubspaceKind::kPublic}},
                          "off: DP-SGD; history: of released gradients; next-layer-weights: their "
                          "row space; public: of the gradients of --public-held-out records")
      ->group(group);
  app.add_option("--rank", training.rank, "dimensions of the subspace")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("K")
      ->group(group);
  app.add_option("--split", training.embedding_fraction,
                 "share of the noise budget for the embedding, in (0, 1)")
      ->capture_default_str()
      ->group(group);
  app.add_option("--bias-scale", training.bias_scale,
                 "noise of biases beside that of weights; 0: biases are not trained, which leaves "
                 "the clip norm to the weights")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str()
      ->group(group);
  app.add_option("--history-decay", training.history_decay, "of the mean of released gradients")
      ->capture_default_str()
      ->group(group);
  app.add_option("--refresh-every", training.refresh_every, "steps between new subspaces")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  AddChoice<RelevanceKind>(app, "--relevance", training.relevance,
                           {{"off", RelevanceKind::kOff},
                            {"weights", RelevanceKind::kWeights},
                            {"history", RelevanceKind::kHistory}},
                           "shape the noise over input features by layer-wise relevance of the "
                           "public weights, or by released gradients")
      ->group(group);
  app.add_option_function<double>(
         "--quantile",
         [&training](double quantile) {
           if (!training.quantile.has_value()) training.quantile.emplace();
           training.quantile->quantile = quantile;
         },
         "adapt both clip norms to this quantile of the norms, in (0, 1), by noisy counts that "
         "are charged in the same event")
      ->group(group);
  app.add_option_function<double>(
         "--quantile-noise",
         [&training](double noise) {
           if (!training.quantile.has_value()) training.quantile.emplace();
           training.quantile->indicator_noise = noise;
         },
         "noise of these counts; a twentieth of the expected batch size if not given")
      ->check(CLI::PositiveNumber)
      ->group(group);
}

void AddOutputFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Output";
  app.add_option("--log-every", options.log_every,
                 "steps between evaluations on held-out records; about twenty in all if not given")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--log-json", options.log_json, "the run as JSON lines")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--log-csv", options.log_csv, "its steps as CSV")->type_name("FILE")->group(group);
  app.add_option("--model-file", options.model_file,
                 "the trained model for others to use, as safetensors: the averaged parameters if "
                 "there is an average")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--checkpoint", options.checkpoint, "keep the state of training here")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--checkpoint-every", options.checkpoint_every, "steps between checkpoints")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
  app.add_flag("--resume", options.resume,
               "continue from --checkpoint, in the same --session: a new attempt, fresh noise, and "
               "steps that are repeated are charged again")
      ->needs("--checkpoint")
      ->needs("--session")
      ->group(group);
  app.add_flag("--new-attempt", options.new_attempt,
               "start from zero although --checkpoint holds steps of the session: they are charged "
               "again; the old file is kept as FILE.previous")
      ->needs("--checkpoint")
      ->excludes("--resume")
      ->group(group);
}

// Returns an error for flags that need scattering features or other records.
absl::Status CheckPreprocessing(const CommandLine& options) {
  const bool scattering = options.features == "scattering";
  if (options.center_noise.has_value() && !scattering) {
    return absl::InvalidArgumentError(
        "--center-noise: wants --features scattering, whose norm is at most 1");
  }
  if (options.center_noise.has_value() &&
      !(options.input_scale >= 1e-15 && options.input_scale <= 1e15)) {
    return absl::InvalidArgumentError(absl::StrCat("--input-scale: got ", options.input_scale,
                                                   ", want in [1e-15, 1e15] with --center-noise"));
  }
  if (options.public_directions == 0) return absl::OkStatus();
  if (!scattering) {
    return absl::InvalidArgumentError("--public-basis: wants --features scattering");
  }
  if (options.data == "digits") {
    return absl::InvalidArgumentError(
        "--public-basis: got digits for --data digits, want other records: these would be public "
        "and private at once");
  }
  return absl::OkStatus();
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine options;
  options.ledger.declared = true;
  options.training.expected_batch_size = 1024;
  CLI::App app(
      "Trains image classifiers (FSDP, sound variant), asking the ledger for a permit before every "
      "noisy gradient. Each step is one Poisson-sampled Gaussian event; its noise is calibrated so "
      "that all --steps of them meet --epsilon at --delta.",
      "epsledger-fsdp");
  options.ledger.AddTo(app);
  AddDataFlags(app, options);
  AddTrainingFlags(app, options);
  AddMechanismFlags(app, options);
  AddOutputFlags(app, options);
  options.canaries.AddTo(app);
  app.footer(
      "Exit codes: 0 trained (step limit, or refused after at least one step), 1 failed,\n"
      "2 usage, 3 refused from the start.\n"
      "Examples:\n"
      "  epsctl budget create digits-team --epsilon 10 --delta 1e-4 --filter basic \\\n"
      "      --relation add-or-remove-one --privacy-unit image\n"
      "  epsledger-fsdp --budget digits-team --data mnist --deskew --features scattering --model "
      "linear \\\n"
      "      --epsilon 2 --delta 1e-5 --expected-batch-size 4096 --epochs 20 \\\n"
      "      --clip-residual 0.1 --learning-rate 200 --bias-scale 0\n"
      "  epsledger-fsdp --budget digits-team --data mnist --deskew --features scattering --model "
      "mlp:64 \\\n"
      "      --input-scale 16 --epsilon 2 --delta 1e-5 --expected-batch-size 2048 --epochs 10 \\\n"
      "      --subspace history --clip-embedding 1 --clip-residual 0.5 --learning-rate 1 \\\n"
      "      --bias-scale 0 --average 0.97\n"
      "The first one with two views of each image and a public basis, or with a private mean:\n"
      "  ... --augmentation-multiplicity 2 --public-basis digits:500\n"
      "  ... --center-noise 30\n"
      "To go on after a crash: the same command, with --session and --checkpoint from the start, "
      "and\n"
      "  --resume\n"
      "An audit of a run that is made for it:\n"
      "  epsledger-fsdp --budget digits-team --data digits --epsilon 8 --delta 1e-5 \\\n"
      "      --expected-batch-size 256 --epochs 20 --canaries 1000 --canary-scores scores.csv\n"
      "  epsctl audit --method one-run --scores scores.csv --delta 1e-5 --claimed-epsilon 8");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return {.exit_code = app.exit(help)};
  } catch (const CLI::ParseError& error) {
    std::cerr << "epsledger-fsdp: " << error.what() << ". Add --help to see what it takes.\n";
    return {.exit_code = 2};
  }
  if (absl::Status fits = CheckPreprocessing(options); !fits.ok()) {
    std::cerr << "epsledger-fsdp: " << fits.message() << "\n";
    return {.exit_code = 2};
  }
  if (absl::Status audited = options.canaries.Check(options.resume, options.ledger.relation);
      !audited.ok()) {
    std::cerr << "epsledger-fsdp: " << audited.message() << "\n";
    return {.exit_code = 2};
  }
  if (absl::Status completed = options.ledger.Complete("epsledger-fsdp"); !completed.ok()) {
    std::cerr << "epsledger-fsdp: " << completed.message() << "\n";
    return {.exit_code = 2};
  }
  return {.options = options};
}

namespace {

// Empty without the flags, so that checkpoints of releases that did not have them can continue.
std::string PreprocessingText(const CommandLine& options) {
  std::string text;
  if (options.view_count > 1) absl::StrAppend(&text, ", views ", options.view_count);
  if (options.public_directions > 0) {
    absl::StrAppend(&text, ", public basis digits:", options.public_directions);
  }
  if (options.center_noise.has_value()) {
    absl::StrAppend(&text, ", center noise ", ExactNumber(*options.center_noise));
  }
  return text;
}

}  // namespace

std::string SettingsText(const CommandLine& options) {
  const TrainingOptions& training = options.training;
  const auto numbers = [](std::initializer_list<double> values) {
    return absl::StrJoin(values, " ", [](std::string* text, double value) {
      absl::StrAppend(text, ExactNumber(value));
    });
  };
  return absl::StrCat(
      "data ", options.data, " ", options.record_count.value_or(0), " ", options.public_held_out,
      options.deskew ? ", deskewed" : "", PreprocessingText(options), ", features ",
      options.features, " ", ExactNumber(options.input_scale), ", model ", options.model,
      ", relation ", static_cast<int>(options.ledger.relation), ", batch ",
      numbers({training.expected_batch_size}), ", steps ",
      numbers(
          {training.learning_rate, training.momentum, training.average_decay, training.bias_scale}),
      ", clip ", static_cast<int>(training.geometry), " ",
      numbers({training.embedding_clip, training.residual_clip, training.embedding_fraction}),
      ", quantile ",
      training.quantile.has_value() ? numbers({training.quantile->quantile, training.quantile->rate,
                                               training.quantile->indicator_noise})
                                    : "none",
      ", subspace ", static_cast<int>(training.subspace), " ", training.rank, " ",
      numbers({training.history_decay}), " ", training.refresh_every, ", relevance ",
      static_cast<int>(training.relevance));
}

}  // namespace epsledger::trainers::fsdp
