#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"
#include "client/cli/contexts/context_file.h"
#include "client/cli/near_words.h"
#include "client/cli/reach/server_address.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {
namespace {

// Returns the path as it is from any folder.
std::string FromAnywhere(const std::string& path) {
  if (path.empty()) return "";
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

absl::Status NoSuchContext(const ContextFile& file, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, context] : file.contexts) names.push_back(known);
  const std::vector<std::string> near = NearWords(name, names);
  if (names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("context: got \"", name, "\", want one that `epsctl config set` made"));
  }
  return absl::InvalidArgumentError(absl::StrCat("context: got \"", name, "\", want ",
                                                 near.empty()
                                                     ? "one of " + absl::StrJoin(names, ", ")
                                                     : "perhaps " + absl::StrJoin(near, ", ")));
}

void PrintContexts(Invocation& invocation, const ContextFile& file) {
  Table table({"name", "current", "server", "tls", "tenant", "token file", "tls ca", "tls cert",
               "tls key"});
  table.IfRoom({"token file", "tls ca", "tls cert", "tls key"});
  for (const auto& [name, context] : file.contexts) {
    table.AddRow({name, name == file.current ? "yes" : "", context.server,
                  context.tls ? "yes" : "no", context.tenant, context.token_file, context.tls_ca,
                  context.tls_cert, context.tls_key});
  }
  invocation.Print({.is_list = true,
                    .table = std::move(table),
                    .summary = file.contexts.empty()
                                   ? "No contexts yet: epsctl config set NAME --server HOST:PORT"
                                   : ""});
}

// INVALID_ARGUMENT for a text that a table could not show as it is.
absl::Status CheckShown(const std::string& what, const std::string& text) {
  const std::string shown = bridge::Printable(text);
  if (shown == text) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": got \"", shown, "\", want a text without control characters"));
}

// Reads the user's file, lets `change` change it, writes it and prints it.
template <class Change>
void ChangeContexts(Invocation& invocation, const Change& change) {
  // There is no server that could only check this.
  absl::Status status = invocation.CheckNoDryRun();
  if (!status.ok()) return invocation.FailOffline(status);
  const std::string path = ContextPath();
  absl::StatusOr<ContextFile> file = ReadContexts(path);
  if (!file.ok()) return invocation.FailOffline(file.status());
  status = change(*file);
  if (status.ok()) status = WriteContexts(path, *file);
  if (!status.ok()) return invocation.FailOffline(status);
  PrintContexts(invocation, *file);
}

// Makes a context of what the global options say.
absl::StatusOr<Context> ContextOf(const GlobalFlags& flags, const std::string& tenant) {
  if (flags.server.empty()) {
    return absl::InvalidArgumentError("--server: got nothing, want the address of the server");
  }
  if (const auto address = ParseServerAddress(flags.server); !address.ok()) {
    return address.status();
  }
  if (absl::StartsWith(flags.token_file, "epsl_")) {
    // The message does not repeat it: messages end up in logs.
    return absl::InvalidArgumentError(
        "--token-file: got a token itself, want the name of a file with it: no secret is kept "
        "here");
  }
  return Context{.server = flags.server,
                 .tls = flags.tls || !flags.tls_ca.empty() || !flags.tls_cert.empty() ||
                        !flags.tls_key.empty(),
                 .tls_ca = FromAnywhere(flags.tls_ca),
                 .tls_cert = FromAnywhere(flags.tls_cert),
                 .tls_key = FromAnywhere(flags.tls_key),
                 .token_file = FromAnywhere(flags.token_file),
                 .tenant = tenant};
}

void SetContext(Invocation& invocation, const std::string& name, const std::string& tenant) {
  absl::Status status = invocation.CheckNoDryRun();
  if (status.ok() && name.empty()) {
    status = absl::InvalidArgumentError("name: got \"\", want a text that is not empty");
  }
  if (status.ok()) status = CheckShown("name", name);
  if (status.ok()) status = CheckShown("--tenant", tenant);
  if (status.ok()) status = CheckShown("--server", invocation.flags().server);
  if (!status.ok()) return invocation.FailOffline(status);
  const absl::StatusOr<Context> context = ContextOf(invocation.flags(), tenant);
  if (!context.ok()) return invocation.FailOffline(context.status());
  ChangeContexts(invocation, [&](ContextFile& file) {
    if (file.contexts.empty()) file.current = name;
    file.contexts[name] = *context;
    return absl::OkStatus();
  });
}

void AddConfigSet(CLI::App& config, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  auto tenant = std::make_shared<std::string>();
  CLI::App* set = config.add_subcommand(
      "set",
      "Make or replace a context: of --server, --tls, --tls-ca, --tls-cert, --tls-key and "
      "--token-file as they are said here; the first one becomes the current one");
  set->fallthrough();
  set->add_option("name", *name, "any name without control characters")->required();
  set->add_option("--tenant", *tenant,
                  "whose budgets the token is for; `server whoami` fails if it is another's")
      ->type_name("TENANT");
  set->footer(
      "Example:\n"
      "  epsctl config set production --server privacy.example.org:50551 --tls \\\n"
      "      --token-file ~/.config/epsledger/production.token --tenant acme");
  set->callback([&invocation, name, tenant] { SetContext(invocation, *name, *tenant); });
}

void AddConfigUse(CLI::App& config, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  CLI::App* use = config.add_subcommand("use", "Make a context the current one");
  use->fallthrough();
  use->add_option("name", *name, "of a context")->required();
  use->footer("Example:\n  epsctl config use production");
  use->callback([&invocation, name] {
    ChangeContexts(invocation, [&](ContextFile& file) {
      if (!file.contexts.contains(*name)) return NoSuchContext(file, *name);
      file.current = *name;
      return absl::OkStatus();
    });
  });
}

void AddConfigRemove(CLI::App& config, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  CLI::App* remove = config.add_subcommand("remove", "Forget a context");
  remove->fallthrough();
  remove->add_option("name", *name, "of a context")->required();
  remove->footer("Example:\n  epsctl config remove production");
  remove->callback([&invocation, name] {
    ChangeContexts(invocation, [&](ContextFile& file) {
      if (file.contexts.erase(*name) == 0) return NoSuchContext(file, *name);
      if (file.current == *name) file.current.clear();
      return absl::OkStatus();
    });
  });
}

void AddConfigList(CLI::App& config, Invocation& invocation) {
  CLI::App* list = config.add_subcommand("list", "List the contexts");
  list->fallthrough();
  list->footer("Example:\n  epsctl config list");
  list->callback([&invocation] {
    const absl::StatusOr<ContextFile> file = ReadContexts(ContextPath());
    if (!file.ok()) return invocation.FailOffline(file.status());
    PrintContexts(invocation, *file);
  });
}

}  // namespace

void AddConfigCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* config =
      app.add_subcommand("config", "Contexts: servers by name, with how to reach them");
  config->require_subcommand(1);
  config->fallthrough();
  config->footer(
      "They are in EPSLEDGER_CONFIG, or else in epsledger/contexts.json of XDG_CONFIG_HOME or\n"
      "~/.config. A context names the file of a token and never holds the token. It is used if\n"
      "--context says it, or if it is the current one and nobody says a --server.");
  AddConfigSet(*config, invocation);
  AddConfigUse(*config, invocation);
  AddConfigRemove(*config, invocation);
  AddConfigList(*config, invocation);
}

}  // namespace epsledger::cli
