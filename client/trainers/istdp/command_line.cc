#include "client/trainers/istdp/command_line.h"

#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"

namespace epsledger::trainers::istdp {
namespace {

void AddTrainingFlags(CLI::App& app, CommandLine& options) {
  const char* data = "Data";
  app.add_option("--data", options.data,
                 "a known set (a9a, wdbc, digits, german, w8a) or the path of a LIBSVM file")
      ->required()
      ->group(data);
  app.add_option("--test-data", options.test_data,
                 "held-out records, with a path; if not given, every fourth record")
      ->type_name("PATH")
      ->group(data);
  app.add_option("--positive-class", options.positive_class, "the label that counts as 1")
      ->type_name("LABEL")
      ->group(data);
  app.add_option("--record-count", options.record_count,
                 "a PUBLIC number near the number of training records; known sets have one")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(data);
  const char* group = "Training (public: do not choose these by looking at private records)";
  app.add_option("--lambda", options.lambda, "strength of the sparsity penalty (MCP)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--shape", options.shape, "its shape a, > 1")->capture_default_str()->group(group);
  app.add_option("--row-norm", options.row_norm_bound,
                 "records are scaled to this norm at most; also the clip norm of gradients")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--tolerance", options.tolerance,
                 "converged when the mean of the last step residuals is below; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_flag("--fixed-steps", options.fixed_steps,
               "the step size of the convergence proof instead of Barzilai-Borwein's")
      ->group(group);
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, char** argv) {
  CommandLine options;
  CLI::App app(
      "Trains sparse logistic regression (ISTDP, sound variant), asking the ledger for a permit "
      "before every noisy gradient.",
      "epsledger-istdp");
  options.ledger.AddTo(app);
  AddTrainingFlags(app, options);
  app.footer(
      "Exit codes: 0 trained (converged, step limit, or refused after at least one step), 1 "
      "failed,\n"
      "2 usage, 3 refused from the start.\n"
      "Example:\n"
      "  epsctl budget create adult --epsilon 1 --delta 1e-5 \\\n"
      "      --relation add-or-remove-one --privacy-unit person\n"
      "  epsledger-istdp --budget adult --data a9a");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return {.exit_code = app.exit(help)};
  } catch (const CLI::ParseError& error) {
    std::cerr << "epsledger-istdp: " << error.what() << ". Add --help to see what it takes.\n";
    return {.exit_code = 2};
  }
  if (absl::Status completed = options.ledger.Complete("epsledger-istdp"); !completed.ok()) {
    std::cerr << "epsledger-istdp: " << completed.message() << "\n";
    return {.exit_code = 2};
  }
  return {.options = options};
}

}  // namespace epsledger::trainers::istdp
