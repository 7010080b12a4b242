#include "client/trainers/istdp/command_line.h"

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/random/random.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace epsledger::istdp {
namespace {

std::string MakeSessionId() {
  absl::BitGen random;
  return absl::StrFormat("istdp-%s-%04x",
                         absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::UTCTimeZone()),
                         absl::Uniform<std::uint16_t>(random));
}

void AddLedgerFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Ledger";
  app.add_option("--server", options.client.address, "host:port or unix:path")
      ->envname("EPSLEDGER_SERVER")
      ->capture_default_str()
      ->group(group);
  app.add_option("--tls-ca", options.client.tls.ca_file, "use TLS, with these authorities (PEM)")
      ->envname("EPSLEDGER_TLS_CA")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--tls-cert", options.client.tls.certificate_file, "own certificate (PEM)")
      ->envname("EPSLEDGER_TLS_CERT")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--tls-key", options.client.tls.key_file, "and its key (PEM)")
      ->envname("EPSLEDGER_TLS_KEY")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--token-file", options.token_file,
                 "a file with the token that says who calls; else the variable EPSLEDGER_TOKEN")
      ->envname("EPSLEDGER_TOKEN_FILE")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--allow-insecure", options.client.allow_insecure,
               "speak without TLS to an address that is not loopback")
      ->envname("EPSLEDGER_ALLOW_INSECURE")
      ->group(group);
  app.add_option("--budget", options.budget, "the budget that pays")->required()->group(group);
  app.add_option("--session", options.session, "the session's id; made up if not given")
      ->group(group);
}

void AddPrivacyFlags(CLI::App& app, CommandLine& options) {
  const char* group = "Privacy";
  const CLI::Range open_unit(std::numeric_limits<double>::min(), 1 - 1e-16);
  app.add_option("--steps", options.steps, "how many steps the noise is chosen for")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-steps", options.max_steps,
                 "stop after so many; twice --steps if not given, so that the ledger decides")
      ->check(CLI::PositiveNumber)
      ->group(group);
  CLI::Option* multiplier =
      app.add_option("--noise-multiplier", options.noise_multiplier,
                     "noise / largest contribution of one record; if not given, the smallest "
                     "with which --steps steps fit into the cap")
          ->check(CLI::PositiveNumber)
          ->group(group);
  CLI::Option* epsilon = app.add_option("--epsilon", options.epsilon, "a cap of the run's own")
                             ->check(CLI::PositiveNumber)
                             ->group(group);
  CLI::Option* delta = app.add_option("--delta", options.delta, "and its delta, in (0, 1)")
                           ->check(open_unit)
                           ->group(group);
  epsilon->needs(delta);
  delta->needs(epsilon);
  multiplier->excludes(epsilon);
  app.add_flag("--declared", options.declared,
               "commit to --steps steps before the first one, paid in full at the start")
      ->group(group);
  app.add_option("--lease", options.lease,
                 "take steps from leases of so many: one question to the ledger for all of them; "
                 "what is not used at the end is wasted")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  const std::map<std::string, NeighboringRelation> relations = {
      {"add-or-remove-one", NeighboringRelation::kAddOrRemoveOne},
      {"replace-one", NeighboringRelation::kReplaceOne},
      {"replace-special", NeighboringRelation::kReplaceSpecial}};
  app.add_option_function<std::string>(
         "--relation",
         [&options, relations](const std::string& name) { options.relation = relations.at(name); },
         "must be the budget's; add-or-remove-one if not given")
      ->type_name("RELATION")
      ->check(CLI::IsMember(relations))
      ->group(group);
}

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
      "istdp");
  AddLedgerFlags(app, options);
  AddPrivacyFlags(app, options);
  AddTrainingFlags(app, options);
  app.footer(
      "Exit codes: 0 trained (converged, step limit, or refused after at least one step), 1 "
      "failed,\n"
      "2 usage, 3 refused from the start.\n"
      "Example:\n"
      "  epsctl budget create adult --epsilon 1 --delta 1e-5 \\\n"
      "      --relation add-or-remove-one --privacy-unit person\n"
      "  istdp --budget adult --data a9a");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return {.exit_code = app.exit(help)};
  } catch (const CLI::ParseError& error) {
    std::cerr << "istdp: " << error.what() << ". Add --help to see what it takes.\n";
    return {.exit_code = 2};
  }
  options.client.tls.enabled = !options.client.tls.ca_file.empty() ||
                               !options.client.tls.certificate_file.empty() ||
                               !options.client.tls.key_file.empty();
  if (const char* token = std::getenv("EPSLEDGER_TOKEN")) options.client.token = token;
  if (!options.token_file.empty()) {
    absl::StatusOr<std::string> token = ReadTokenFile(options.token_file);
    if (!token.ok()) {
      std::cerr << "istdp: " << std::string(token.status().message()) << "\n";
      return {.exit_code = 2};
    }
    options.client.token = *std::move(token);
  }
  if (options.session.empty()) options.session = MakeSessionId();
  if (options.declared || options.max_steps == 0) {
    options.max_steps = options.declared ? options.steps : 2 * options.steps;
  }
  return {.options = options};
}

}  // namespace epsledger::istdp
