#include "client/cli/epsctl.h"

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/command_words.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/seconds.h"
#include "client/cli/print/sentence.h"

namespace epsledger::cli {
namespace {

void AddGlobalFlags(CLI::App& app, GlobalFlags& flags) {
  const char* group = "Global options (each also as an environment variable)";
  app.add_option(
         "--server", flags.server,
         absl::StrCat("host:port or unix:path; default: that of the context, or ", kUsualServer))
      ->envname("EPSLEDGER_SERVER")
      ->take_last()
      ->group(group);
  app.add_option("--context", flags.context,
                 "a server by its name (`epsctl config`); default: the current one")
      ->envname("EPSLEDGER_CONTEXT")
      ->type_name("NAME")
      ->take_last()
      ->group(group);
  app.add_option("-o,--output", flags.output,
                 "table, wide (with every column), json, jsonl or csv; text is a table; default: "
                 "table on a terminal, json elsewhere")
      ->envname("EPSLEDGER_OUTPUT")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "wide", "text", "json", "jsonl", "csv"}))
      ->take_last()
      ->group(group);
  app.add_option("--timeout", flags.timeout_seconds,
                 "for one command, retries included: 3, 3s, 500ms, 2m")
      ->envname("EPSLEDGER_TIMEOUT")
      ->type_name("SECONDS")
      ->transform(SecondsOrDuration())
      ->capture_default_str()
      ->take_last()
      ->group(group);
  app.add_flag("--tls", flags.tls, "use TLS; each of the next three options implies it")
      ->envname("EPSLEDGER_TLS")
      ->group(group);
  app.add_option("--tls-ca", flags.tls_ca, "authorities to trust (PEM); default: the system's")
      ->envname("EPSLEDGER_TLS_CA")
      ->type_name("FILE")
      ->take_last()
      ->group(group);
  app.add_option("--tls-cert", flags.tls_cert, "this client's certificate (PEM)")
      ->envname("EPSLEDGER_TLS_CERT")
      ->type_name("FILE")
      ->take_last()
      ->group(group);
  app.add_option("--tls-key", flags.tls_key, "the key of that certificate (PEM)")
      ->envname("EPSLEDGER_TLS_KEY")
      ->type_name("FILE")
      ->take_last()
      ->group(group);
  app.add_option("--token-file", flags.token_file,
                 "a file with the caller's token; default: the token in EPSLEDGER_TOKEN")
      ->envname("EPSLEDGER_TOKEN_FILE")
      ->type_name("FILE")
      ->take_last()
      ->group(group);
  if (const char* token = std::getenv("EPSLEDGER_TOKEN")) flags.token = token;
  app.add_flag("--allow-insecure", flags.allow_insecure,
               "connect without TLS to an address that is not loopback")
      ->envname("EPSLEDGER_ALLOW_INSECURE")
      ->group(group);
}

}  // namespace

ExitCode RunEpsctl(const std::vector<std::string>& arguments, Terminal& terminal) {
  Invocation invocation(terminal);
  CLI::App app("epsctl: budgets, sessions and charges of an epsledger server, and its mathematics",
               "epsctl");
  app.require_subcommand(1);
  app.set_version_flag("--version", "epsctl " EPSLEDGER_VERSION " (API epsledger.v1)",
                       "Print the version and exit");
  app.add_flag("--dry-run", invocation.flags().dry_run,
               "Let the server check a command that changes something, and change nothing");
  AddGlobalFlags(app, invocation.flags());
  AddBudgetCommands(app, invocation);
  AddApplyCommand(app, invocation);
  AddSessionCommands(app, invocation);
  AddChargeCommands(app, invocation);
  AddLedgerCommands(app, invocation);
  AddStatementCommands(app, invocation);
  AddLeaseCommands(app, invocation);
  AddWatchCommands(app, invocation);
  AddComputeCommand(app, invocation);
  AddCompareCommand(app, invocation);
  AddCalibrateCommand(app, invocation);
  AddCurveCommand(app, invocation);
  AddAttackCommand(app, invocation);
  AddAuditCommand(app, invocation);
  AddTokenCommands(app, invocation);
  AddProposalCommands(app, invocation);
  AddPolicyCommands(app, invocation);
  AddAnnotationCommands(app, invocation);
  AddServerCommands(app, invocation);
  AddConfigCommands(app, invocation);
  AddExplainCommand(app, invocation);
  AddCompletionCommand(app, invocation);
  AddVersionCommand(app, invocation);
  app.footer(
      absl::StrCat(std::string(kExitCodeHelp),
                   "\n\nA first tour:\n"
                   "  epsctl budget create adult --epsilon 1 --delta 1e-5 \\\n"
                   "      --relation add-or-remove-one --privacy-unit person\n"
                   "  epsctl session create adult/run-1 --relation add-or-remove-one --no-own-cap\n"
                   "  epsctl charge preview adult/run-1 --gaussian 40\n"
                   "  epsctl charge create adult/run-1 --open-attempt --gaussian 40 --count 10\n"
                   "  epsctl session guarantees adult/run-1 --delta 1e-5\n"
                   "Without a server:\n"
                   "  epsctl compare --gaussian 40 --count 100 --delta 1e-5\n"
                   "`epsctl help NOUN VERB` is `epsctl NOUN VERB --help`."));
  const absl::StatusOr<CommandWords> words = ReadCommandWords(app, arguments);
  if (!words.ok()) {
    PrintSentence(terminal.err, std::string(words.status().message()));
    return ExitCode::kUsage;
  }
  if (words->bare != nullptr) {
    const CLI::App* above = words->bare->get_parent();
    terminal.err << words->bare->help(above == nullptr ? "" : CommandPath(*above))
                 << "\nepsctl: got `" << CommandPath(*words->bare)
                 << "` alone, want one of its subcommands, which are listed above.\n";
    return ExitCode::kUsage;
  }
  try {
    std::vector<std::string> reversed(words->arguments.rbegin(), words->arguments.rend());
    app.parse(reversed);
  } catch (const CLI::Success& asked) {  // help or the version
    app.exit(asked, terminal.out, terminal.err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    PrintSentence(terminal.err, absl::StrCat(error.what(), ". Add --help to see the options."));
    return ExitCode::kUsage;
  }
  return invocation.exit_code();
}

}  // namespace epsledger::cli
