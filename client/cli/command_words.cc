#include "client/cli/command_words.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/near_words.h"

namespace epsledger::cli {
namespace {

std::vector<const CLI::App*> VerbsOf(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* VerbNamed(const CLI::App& command, const std::string& word) {
  for (const CLI::App* verb : VerbsOf(command)) {
    if (verb->get_name() == word) return verb;
  }
  return nullptr;
}

// Looks in the command and in those above it, whose options it takes too.
const CLI::Option* OptionNamed(const CLI::App& command, const std::string& name) {
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    if (const CLI::Option* option = at->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

std::vector<std::string> LongOptionsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options([](const CLI::Option*) { return true; })) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

absl::Status WrongWord(const CLI::App& command, const std::string& word) {
  const bool is_root = command.get_parent() == nullptr;
  std::vector<std::string> names;
  std::vector<std::string> nouns;  // that have a verb of this name
  for (const CLI::App* verb : VerbsOf(command)) {
    if (!verb->get_group().empty()) names.push_back(verb->get_name());  // else it is hidden
    if (VerbNamed(*verb, word) != nullptr) nouns.push_back(verb->get_name());
  }
  const std::vector<std::string> near = NearWords(word, names);
  std::string want = absl::StrCat("want one of ", absl::StrJoin(names, ", "));
  if (!nouns.empty()) {
    want = absl::StrCat("want a noun before it: ", absl::StrJoin(nouns, ", "));
  } else if (!near.empty()) {
    want = absl::StrCat("want perhaps ", absl::StrJoin(near, ", "));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(is_root ? "command" : command.get_name(), ": got \"", word, "\", ", want, ". `",
                   CommandPath(command), " --help` shows what there is."));
}

absl::Status WrongOption(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> near = NearWords(name, LongOptionsOf(command));
  return absl::InvalidArgumentError(absl::StrCat(
      command.get_parent() == nullptr ? "options" : command.get_name(), ": got ", name, ", ",
      near.empty() ? "which is not one of its options"
                   : absl::StrCat("want perhaps ", absl::StrJoin(near, ", ")),
      ". `", CommandPath(command), " --help` shows what there is."));
}

}  // namespace

std::string CommandPath(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : absl::StrCat(CommandPath(*parent), " ", command.get_name());
}

absl::StatusOr<CommandWords> ReadCommandWords(const CLI::App& app,
                                              const std::vector<std::string>& arguments) {
  CommandWords words;
  const CLI::App* command = &app;
  bool asks_for_help = false;  // by the word
  bool is_answered = false;    // by the option, before any command runs
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool takes_verb = !VerbsOf(*command).empty();
    if (word == "--") {
      words.arguments.insert(words.arguments.end(), arguments.begin() + static_cast<ptrdiff_t>(i),
                             arguments.end());
      break;
    }
    if (takes_verb && word == "help") {
      asks_for_help = true;
      continue;
    }
    words.arguments.push_back(word);
    if (word.size() > 1 && word[0] == '-') {
      const bool is_long = word.starts_with("--");
      const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
      const CLI::Option* option = OptionNamed(*command, name);
      if (option == nullptr && is_long) return WrongOption(*command, name);
      if (option == nullptr) continue;  // CLI11 tells what it does not know
      is_answered |= name == "--help" || name == "-h" || name == "--version";
      const bool has_value = word.size() > name.size();
      if (!has_value && option->get_items_expected_min() > 0 && i + 1 < arguments.size()) {
        words.arguments.push_back(arguments[++i]);
      }
    } else if (takes_verb) {
      const CLI::App* verb = VerbNamed(*command, word);
      if (verb == nullptr) return WrongWord(*command, word);
      command = verb;
    }
  }
  if (asks_for_help) {
    words.arguments.push_back("--help");
  } else if (!is_answered && !VerbsOf(*command).empty()) {
    words.bare = command;
  }
  return words;
}

}  // namespace epsledger::cli
