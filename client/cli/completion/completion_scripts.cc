#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/completion/completion_tree.h"

namespace epsledger::cli {
namespace {

// Quotes the text as one word of bash and zsh.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// Quotes the text as one word of fish, which knows \' and \\ between quotes.
std::string FishQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

const CompletionCommand& CommandAt(const std::vector<CompletionCommand>& tree,
                                   const std::string& path) {
  for (const CompletionCommand& command : tree) {
    if (command.path == path) return command;
  }
  return tree.front();
}

std::string PathOf(const CompletionCommand& command, const std::string& verb) {
  return command.path.empty() ? verb : absl::StrCat(command.path, " ", verb);
}

// "@file" stands for file names, "@budget" and "@session" for names that the server knows.
std::string Words(const CompletionValues& values) {
  if (values.is_file) return "@file";
  if (!values.names.empty()) return absl::StrCat("@", values.names);
  return absl::StrJoin(values.choices, " ");
}

// `_epsctl_names WORDS` for bash and zsh alike: puts the names that the server knows in place of
// @budget and @session. A server that does not answer within a second has none.
constexpr char kNames[] =
    "_epsctl_names() {\n"
    "  case $1 in\n"
    "    *@budget*) printf '%s %s' \"${1//@budget/}\" \"$(epsctl completion names budget "
    "2>/dev/null)\" ;;\n"
    "    *@session*) printf '%s %s' \"${1//@session/}\" \"$(epsctl completion names session "
    "2>/dev/null)\" ;;\n"
    "    *) printf '%s' \"$1\" ;;\n"
    "  esac\n"
    "}\n"
    "\n";

// Returns the options of a command: those of every command, and its own that are not among them.
std::vector<CompletionOption> OptionsOf(const std::vector<CompletionCommand>& tree,
                                        const CompletionCommand& command) {
  std::vector<CompletionOption> options = command.options;
  if (&command == &tree.front()) return options;
  for (const CompletionOption& option : tree.front().options) {
    if (option.names.front() != "--help") options.push_back(option);
  }
  return options;
}

// `_epsctl_is_command COMMAND` and `_epsctl_values COMMAND OPTION`, for bash and zsh alike.
std::string Questions(const std::vector<CompletionCommand>& tree) {
  std::string commands;
  std::string values;
  for (const CompletionCommand& command : tree) {
    if (!command.path.empty()) {
      absl::StrAppend(&commands, "    ", Quoted(command.path), ") return 0 ;;\n");
    }
    for (const CompletionOption& option : OptionsOf(tree, command)) {
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(Quoted(absl::StrCat(command.path, " ", name)));
      }
      absl::StrAppend(&values, "    ", absl::StrJoin(patterns, "|"), ") echo ",
                      Quoted(Words(option.values)), " ;;\n");
    }
  }
  return absl::StrCat("_epsctl_is_command() {\n  case $1 in\n", commands,
                      "  esac\n  return 1\n}\n\n",
                      "# What the value of an option may be; fails if it has none.\n"
                      "_epsctl_values() {\n  case \"$1 $2\" in\n",
                      values, "    *) return 1 ;;\n  esac\n}\n\n", kNames);
}

}  // namespace

std::string BashCompletion(const std::vector<CompletionCommand>& tree) {
  std::string words;
  for (const CompletionCommand& command : tree) {
    std::vector<std::string> names = command.verbs;
    for (const CompletionOption& option : OptionsOf(tree, command)) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    const std::string own = Words(command.words);
    if (!own.empty()) names.push_back(own);
    absl::StrAppend(&words, "    ", Quoted(command.path), ") echo ",
                    Quoted(absl::StrJoin(names, " ")), " ;;\n");
  }
  return absl::StrCat("# bash completion of epsctl: source <(epsctl completion bash)\n\n",
                      Questions(tree), "# What may come next.\n_epsctl_words() {\n  case $1 in\n",
                      words, "  esac\n}\n\n",
                      R"(_epsctl() {
  local current=${COMP_WORDS[COMP_CWORD]} command='' is_value='' words='' without_options='' word i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -* ]] && words=$(_epsctl_values "$command" "$word"); then
      # bash splits --option=value at the sign.
      if [[ ${COMP_WORDS[i + 1]} == = ]]; then ((i += 2)); else ((i += 1)); fi
      ((i < COMP_CWORD)) && continue
      is_value=yes
      break
    fi
    _epsctl_is_command "${command:+$command }$word" && command=${command:+$command }$word
  done
  [[ $current == = ]] && current=''
  if [[ -z $is_value ]]; then
    words=$(_epsctl_words "$command")
    for word in $words; do [[ $word == -* ]] || without_options+=" $word"; done
    [[ $current != -* && -n $without_options ]] && words=$without_options
  fi
  [[ $is_value || $current != -* ]] && words=$(_epsctl_names "$words")
  COMPREPLY=()
  if [[ " $words " == *' @file '* && ($is_value || $current != -*) ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}

complete -F _epsctl epsctl
)");
}

std::string ZshCompletion(const std::vector<CompletionCommand>& tree) {
  std::string words;
  for (const CompletionCommand& command : tree) {
    std::vector<std::string> verbs;
    for (const std::string& verb : command.verbs) {
      verbs.push_back(Quoted(absl::StrCat(verb, ":", CommandAt(tree, PathOf(command, verb)).help)));
    }
    std::vector<std::string> options;
    for (const CompletionOption& option : OptionsOf(tree, command)) {
      for (const std::string& name : option.names) {
        options.push_back(Quoted(absl::StrCat(name, ":", option.help)));
      }
    }
    absl::StrAppend(&words, "    ", Quoted(command.path), ")\n      verbs=(",
                    absl::StrJoin(verbs, " "), ")\n      options=(", absl::StrJoin(options, " "),
                    ")\n      values=", Quoted(Words(command.words)), "\n      ;;\n");
  }
  return absl::StrCat(
      "#compdef epsctl\n# zsh completion of epsctl: epsctl completion zsh "
      ">\"${fpath[1]}/_epsctl\", "
      "or source <(epsctl completion zsh)\n\n",
      Questions(tree),
      R"(_epsctl_offer() {  # VALUES
  local offered
  if [[ $1 == @file ]]; then _files; return; fi
  offered=$(_epsctl_names "$1")
  if [[ -n $offered ]]; then compadd -- ${=offered}; fi
}

_epsctl() {
  local command='' word values
  local -a verbs options
  integer i
  for ((i = 2; i < CURRENT; ++i)); do
    word=$words[i]
    if [[ $word == -* ]] && values=$(_epsctl_values "$command" "$word"); then
      ((++i))
      ((i < CURRENT)) && continue
      _epsctl_offer "$values"
      return
    fi
    _epsctl_is_command "${command:+$command }$word" && command=${command:+$command }$word
  done
  if [[ $words[CURRENT] == -*=* ]]; then
    values=$(_epsctl_values "$command" "${words[CURRENT]%%=*}") || return 1
    compset -P '*='
    _epsctl_offer "$values"
    return
  fi
  case $command in
)",
      words,
      R"(  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options
    return
  fi
  ((${#verbs})) && _describe command verbs
  _epsctl_offer "$values"
}

if [[ $funcstack[1] == _epsctl ]]; then _epsctl "$@"; else compdef _epsctl epsctl; fi
)");
}

std::string FishCompletion(const std::vector<CompletionCommand>& tree) {
  std::vector<std::string> commands;
  std::set<std::string> valued;
  std::string rules;
  for (const CompletionCommand& command : tree) {
    if (!command.path.empty()) commands.push_back(FishQuoted(command.path));
    const std::string here =
        command.path.empty() ? ""
                             : absl::StrCat(" -n \"__epsctl_at ", FishQuoted(command.path), "\"");
    const std::string at_root = command.path.empty() ? " -n \"__epsctl_at ''\"" : here;
    for (const std::string& verb : command.verbs) {
      absl::StrAppend(&rules, "complete -c epsctl", at_root, " -a ", FishQuoted(verb), " -d ",
                      FishQuoted(CommandAt(tree, PathOf(command, verb)).help), "\n");
    }
    const auto values_of = [](const CompletionValues& values) {
      if (values.is_file) return std::string(" -F");
      if (!values.names.empty()) {
        return absl::StrCat(" -a '(command -q epsctl; and epsctl completion names ", values.names,
                            " 2>/dev/null)'");
      }
      if (values.choices.empty()) return std::string();
      return absl::StrCat(" -a ", FishQuoted(absl::StrJoin(values.choices, " ")));
    };
    if (const std::string own = values_of(command.words); !own.empty()) {
      absl::StrAppend(&rules, "complete -c epsctl", at_root, own, "\n");
    }
    for (const CompletionOption& option : command.options) {
      if (!command.path.empty() && option.names.front() == "--help") continue;
      absl::StrAppend(&rules, "complete -c epsctl", here);
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        absl::StrAppend(&rules, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
        if (option.takes_value) {
          valued.insert(
              FishQuoted(absl::StrCat(command.path.empty() ? "*" : command.path, " ", name)));
        }
      }
      if (option.takes_value) {
        absl::StrAppend(&rules, option.values.is_file ? " -r" : " -x", values_of(option.values));
      }
      absl::StrAppend(&rules, " -d ", FishQuoted(option.help), "\n");
    }
  }
  return absl::StrCat(
      "# fish completion of epsctl: epsctl completion fish | source\n\n"
      "set -g __epsctl_commands ",
      absl::StrJoin(commands, " "),
      "\n# Options that take a value: of one command, or, after *, of all.\n"
      "set -g __epsctl_valued ",
      absl::StrJoin(valued, " "),
      R"(

# Succeeds where the command typed so far is this one.
function __epsctl_at
    set -l command ''
    set -l is_value 0
    set -l tokens (commandline -opc)
    set -e tokens[1]
    for token in $tokens
        if test $is_value = 1
            set is_value 0
        else if string match -q -- '-*' $token
            if contains -- "$command $token" $__epsctl_valued
                or contains -- "* $token" $__epsctl_valued
                set is_value 1
            end
        else
            set -l longer (string trim -- "$command $token")
            contains -- $longer $__epsctl_commands
            and set command $longer
        end
    end
    test "$command" = "$argv[1]"
end

complete -c epsctl -e
complete -c epsctl -f
)",
      rules);
}

}  // namespace epsledger::cli
