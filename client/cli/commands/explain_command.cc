#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/commands/commands.h"
#include "client/cli/glossary/glossary.h"
#include "client/cli/print/wrapped.h"

namespace epsledger::cli {
namespace {

std::string Text(std::string_view text) { return std::string(text); }

void PrintForPeople(std::ostream& out, const std::vector<const GlossaryEntry*>& entries) {
  const char* separator = "";
  for (const GlossaryEntry* entry : entries) {
    out << separator << entry->name << " (" << KindName(entry->kind) << ")\n"
        << Wrapped(Text(entry->text), 79) << "\n";
    if (!entry->remedy.empty()) {
      out << Wrapped(absl::StrCat("What to do: ", Text(entry->remedy)), 79) << "\n";
    }
    if (!entry->source.empty()) {
      out << Wrapped(absl::StrCat("Source: ", Text(entry->source)), 79) << "\n";
    }
    separator = "\n";
  }
}

void PrintEntries(Invocation& invocation, const std::vector<const GlossaryEntry*>& entries) {
  if (invocation.IsForPeople()) return PrintForPeople(invocation.terminal().out, entries);
  Table table({"name", "kind", "text", "remedy", "source"});
  for (const GlossaryEntry* entry : entries) {
    table.AddRow({Text(entry->name), Text(KindName(entry->kind)), Text(entry->text),
                  Text(entry->remedy), Text(entry->source)});
  }
  invocation.Print({.is_list = true, .table = table});
}

// Prints the names of all entries, by kind.
void PrintNames(std::ostream& out) {
  std::string_view kind;
  std::vector<std::string> names;
  const auto print = [&] {
    if (names.empty()) return;
    out << kind << ":\n  "
        << absl::StrReplaceAll(Wrapped(absl::StrJoin(names, " "), 77), {{"\n", "\n  "}}) << "\n";
    names.clear();
  };
  for (const GlossaryEntry& entry : Glossary()) {
    if (KindName(entry.kind) != kind) print();
    kind = KindName(entry.kind);
    names.push_back(Text(entry.name));
  }
  print();
}

void Run(Invocation& invocation, const std::vector<std::string>& words) {
  if (words.empty() && invocation.IsForPeople()) return PrintNames(invocation.terminal().out);
  std::vector<const GlossaryEntry*> entries;
  if (words.empty()) {
    for (const GlossaryEntry& entry : Glossary()) entries.push_back(&entry);
    return PrintEntries(invocation, entries);
  }
  const std::string word = absl::StrJoin(words, " ");
  entries = Explain(word);
  if (!entries.empty()) return PrintEntries(invocation, entries);
  const std::vector<std::string> near = NearMatches(word);
  invocation.FailOffline(absl::InvalidArgumentError(
      absl::StrCat("explain: got \"", word, "\", want ",
                   near.empty() ? "a word that `epsctl explain` lists"
                                : absl::StrCat("perhaps ", absl::StrJoin(near, ", ")))));
}

}  // namespace

void AddExplainCommand(CLI::App& app, Invocation& invocation) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* explain = app.add_subcommand("explain",
                                         "A refusal, an accountant, an event, a term, an exit code "
                                         "or a cited work in plain words; needs "
                                         "no server");
  explain->fallthrough();
  std::vector<std::string> names;
  for (const GlossaryEntry& entry : Glossary()) names.push_back(Text(entry.name));
  explain->add_option("word", *words, "what to explain; default: list what can be explained")
      ->type_name(absl::StrCat("{", absl::StrJoin(names, ","), "}"))
      ->option_text("WORD ...");
  explain->footer(
      "Examples:\n"
      "  epsctl explain BUDGET_EXHAUSTED\n"
      "  epsctl explain zcdp\n"
      "  epsctl explain CKS20\n"
      "  epsctl explain exit code 3");
  explain->callback([&invocation, words] { Run(invocation, *words); });
}

}  // namespace epsledger::cli
