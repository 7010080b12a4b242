#include "client/cli/completion/completion_tree.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace epsledger::cli {
namespace {

// Returns what the server has names for; arguments are named after it, options say it as their
// type.
std::string NamesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "BUDGET" || option.get_name() == "budget") return "budget";
  if (type == "BUDGET/SESSION" || option.get_name() == "session") return "session";
  return "";
}

// CLI11 lists the choices of an option in its type: "FORMAT:{table,json}".
CompletionValues ValuesOf(const CLI::Option& option) {
  CompletionValues values;
  const std::string type = option.get_type_name();
  values.is_file = absl::StartsWith(type, "FILE") || option.get_name() == "file";
  values.names = NamesOf(option);
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (open == type.npos || close == type.npos) return values;
  for (const absl::string_view choice :
       absl::StrSplit(type.substr(open + 1, close - open - 1), ',')) {
    // A map of choices has "viewer->1" for each choice and its value.
    values.choices.emplace_back(choice.substr(0, choice.find("->")));
  }
  return values;
}

// Returns the text on one line, so that it fits beside the name.
std::string Help(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(absl::StrReplaceAll(text, {{"\n", " "}})));
}

CompletionOption ToOption(const CLI::Option& option) {
  CompletionOption found;
  for (const std::string& name : option.get_lnames()) found.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) found.names.push_back("-" + name);
  found.help = Help(option.get_description());
  // An option whose value is optional may be followed by anything.
  found.takes_value = option.get_items_expected_min() > 0;
  found.values = ValuesOf(option);
  return found;
}

void AddCommands(const CLI::App& app, const std::string& path,
                 std::vector<CompletionCommand>* tree) {
  CompletionCommand command{.path = path, .help = Help(app.get_description())};
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_positional()) {
      const CompletionValues values = ValuesOf(*option);
      command.words.is_file = command.words.is_file || values.is_file;
      if (command.words.names.empty()) command.words.names = values.names;
      command.words.choices.insert(command.words.choices.end(), values.choices.begin(),
                                   values.choices.end());
    } else {
      command.options.push_back(ToOption(*option));
    }
  }
  // A command in the group "" is hidden.
  const auto verbs =
      app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
  for (const CLI::App* verb : verbs) command.verbs.push_back(verb->get_name());
  tree->push_back(std::move(command));
  for (const CLI::App* verb : verbs) {
    AddCommands(*verb, path.empty() ? verb->get_name() : absl::StrCat(path, " ", verb->get_name()),
                tree);
  }
}

}  // namespace

std::vector<CompletionCommand> CompletionTree(const CLI::App& app) {
  std::vector<CompletionCommand> tree;
  AddCommands(app, "", &tree);
  return tree;
}

}  // namespace epsledger::cli
