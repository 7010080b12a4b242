#include "client/trainers/fsdp_published/command_line.h"

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/fsdp_published/layer_gradients.h"

namespace epsledger::trainers::fsdp_published {
namespace {

constexpr char kProgram[] = "epsledger-fsdp-published";

ParsedCommandLine Usage(const std::string& message) {
  std::cerr << kProgram << ": " << message << "\n";
  return {.exit_code = 2};
}

void AddFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Algorithm, as the paper has it";
  app.add_option("--data", options.data, "mnist, cifar10-jpeg75 or digits")
      ->capture_default_str()
      ->group(group);
  app.add_option("--claimed-epsilon", options.training.release.budget.epsilon,
                 "the epsilon that its formulas are given, and that it claims")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--claimed-delta", options.training.release.budget.delta, "and the delta")
      ->check(CLI::Range(1e-300, 0.5))
      ->capture_default_str()
      ->group(group);
  app.add_option("--layers", options.layers,
                 "before the logits, of fully_connected(N), tanh and relu: \"fully_connected(32) "
                 "tanh\"; one softmax layer if not given")
      ->group(group);
  app.add_option("--seed", options.training.seed,
                 "of the first parameters; public. Batches and noise have no seed")
      ->capture_default_str()
      ->group(group);
  app.add_option("--rank", options.training.release.factorization.rank, "k")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--factorization-steps", options.training.release.factorization.steps,
                 "of gradient descent, for every record and step")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--sampling-probability", options.training.sampling_probability, "L / N")
      ->check(CLI::Range(1e-6, 1.0))
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--learning-rate", options.training.learning_rate,
         "eta of Table 2: times the mean of the gradients, which were noised and then clipped")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--stop-above", options.training.printed_epsilon_limit,
         "epsilon_0 of step (14): stop after the step with which the epsilon of the paper's "
         "formulas, which proves nothing, is above it")
      ->check(CLI::PositiveNumber)
      ->type_name("EPSILON")
      ->group(group);
  app.add_flag("--accept-unproven", options.accept_unproven,
               "run it although its guarantee is disproved, and let the ledger say so for ever")
      ->group(group);
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine options;
  options.ledger.steps = 10;
  options.training.release.factorization.rank = 5;
  CLI::App app(
      "Trains a softmax layer, or a small network of fully connected layers, by FSDP exactly as it "
      "was published. Its privacy proof is wrong "
      "and "
      "attacks on it are known: this program is for looking at it. The ledger is charged a "
      "nonPrivate "
      "event before the first record is read, after which no epsilon of the budget is finite; only "
      "a "
      "budget whose caps allow that can pay. For a private run take epsledger-fsdp.",
      kProgram);
  options.ledger.AddTo(app);
  AddFlags(app, options);
  app.footer(
      "Exit codes: 0 trained, 1 failed, 2 usage, 3 refused by the ledger (nothing was read).");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return {.exit_code = app.exit(help)};
  } catch (const CLI::ParseError& error) {
    return Usage(std::string(error.what()) + ". Add --help to see what it takes.");
  }
  if (!options.accept_unproven) {
    return Usage(
        "FSDP as published is not private: attacks B1 and B2 contradict its claim "
        "(client/trainers/fsdp_published/README.md); give --accept-unproven to run it all the "
        "same");
  }
  const LedgerFlags& ledger = options.ledger;
  if (ledger.noise_multiplier.has_value() || ledger.epsilon.has_value() || ledger.declared ||
      ledger.lease != 0) {
    return Usage(
        "--noise-multiplier, --epsilon, --delta, --declared, --lease: mean nothing here; the noise "
        "is "
        "the paper's, and one nonPrivate event is all that is charged");
  }
  if (absl::Status completed = options.ledger.Complete(kProgram); !completed.ok()) {
    return Usage(std::string(completed.message()));
  }
  if (!options.layers.empty()) {
    absl::StatusOr<std::vector<network::LayerOptions>> layers =
        network::ParseLayers(options.layers);
    absl::Status usable = layers.ok() ? CheckLayers(*layers) : layers.status();
    if (!usable.ok()) return Usage("--layers: " + std::string(usable.message()));
    options.training.hidden_layers = *std::move(layers);
  }
  options.training.steps = options.ledger.steps;
  return {.options = options};
}

}  // namespace epsledger::trainers::fsdp_published
