#ifndef EPSLEDGER_CLIENT_CLI_GLOSSARY_GLOSSARY_H_
#define EPSLEDGER_CLIENT_CLI_GLOSSARY_GLOSSARY_H_

#include <string>
#include <string_view>
#include <vector>

namespace epsledger::cli {

// What `epsctl explain` knows: one entry for each word that the API, the messages and the exit
// codes use, and for each work that they cite.
struct GlossaryEntry {
  enum class Kind { kRefusal, kAccountant, kEvent, kTerm, kExitCode, kWork };
  Kind kind;
  std::string_view name;  // lower case, words joined by "-"; of a work its key: "CKS20"
  std::string_view text;
  std::string_view remedy;  // what to do about it; may be empty
  std::string_view source;  // the theorem or definition behind it; may be empty
};

// All entries; several may share a name: zcdp is an accountant, an event and a term.
const std::vector<GlossaryEntry>& Glossary();

// "refusal", "accountant", "event", "term", "exit code" or "cited work".
std::string_view KindName(GlossaryEntry::Kind kind);

// Returns the entries of a name as people write it: case, "_", spaces and camelCase do not matter,
// an exit code may be "3", "exit 3" or "exit-code-3", and a work "[CKS20]". Empty if the name is
// unknown.
std::vector<const GlossaryEntry*> Explain(std::string_view word);

// Returns the names that `word` most probably stands for (NearWords).
std::vector<std::string> NearMatches(std::string_view word);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_GLOSSARY_GLOSSARY_H_
