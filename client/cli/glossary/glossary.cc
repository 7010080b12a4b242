#include "client/cli/glossary/glossary.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli/near_words.h"

namespace epsledger::cli {
namespace {

// Returns "poisson-sampled" for "poissonSampled", "POISSON_SAMPLED" and "Poisson sampled".
std::string Normalized(std::string_view word) {
  std::string name;
  bool after_lower = false;
  for (const char c : word) {
    const auto character = static_cast<unsigned char>(c);
    if (c == '_' || c == ' ' || c == '-') {
      if (!name.empty() && name.back() != '-') name += '-';
    } else {
      if (after_lower && absl::ascii_isupper(character)) name += '-';
      name += absl::ascii_tolower(character);
    }
    after_lower = absl::ascii_islower(character);
  }
  absl::string_view code = name;
  absl::ConsumePrefix(&code, "exit-");
  absl::ConsumePrefix(&code, "code-");
  const bool is_code = code.size() == 1 && absl::ascii_isdigit(static_cast<unsigned char>(code[0]));
  return is_code ? std::string(code) : name;
}

}  // namespace

std::string_view KindName(GlossaryEntry::Kind kind) {
  switch (kind) {
    case GlossaryEntry::Kind::kRefusal:
      return "refusal";
    case GlossaryEntry::Kind::kAccountant:
      return "accountant";
    case GlossaryEntry::Kind::kEvent:
      return "event";
    case GlossaryEntry::Kind::kTerm:
      return "term";
    case GlossaryEntry::Kind::kExitCode:
      return "exit code";
    case GlossaryEntry::Kind::kWork:
      return "cited work";
  }
  return "";
}

std::vector<const GlossaryEntry*> Explain(std::string_view word) {
  const std::string name = Normalized(word);
  std::string_view key = word;
  if (key.starts_with("[") && key.ends_with("]")) key = key.substr(1, key.size() - 2);
  std::vector<const GlossaryEntry*> found;
  for (const GlossaryEntry& entry : Glossary()) {
    const bool is_meant = entry.kind == GlossaryEntry::Kind::kWork
                              ? absl::EqualsIgnoreCase(std::string(entry.name), std::string(key))
                              : entry.name == name;
    if (is_meant) found.push_back(&entry);
  }
  return found;
}

std::vector<std::string> NearMatches(std::string_view word) {
  std::vector<std::string> names;
  for (const GlossaryEntry& entry : Glossary()) names.emplace_back(entry.name);
  return NearWords(Normalized(word), names);
}

}  // namespace epsledger::cli
