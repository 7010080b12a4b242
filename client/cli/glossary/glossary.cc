#include "client/cli/glossary/glossary.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

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

// Returns the fewest insertions, deletions and replacements that turn one into the other
// (Levenshtein).
size_t EditDistance(std::string_view one, std::string_view other) {
  std::vector<size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < one.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < other.size(); ++j) {
      const size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
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
  }
  return "";
}

std::vector<const GlossaryEntry*> Explain(std::string_view word) {
  const std::string name = Normalized(word);
  std::vector<const GlossaryEntry*> found;
  for (const GlossaryEntry& entry : Glossary()) {
    if (entry.name == name) found.push_back(&entry);
  }
  return found;
}

std::vector<std::string> NearMatches(std::string_view word) {
  const std::string name = Normalized(word);
  const size_t most = name.size() <= 3 ? 1 : std::max<size_t>(2, name.size() / 3);
  std::map<std::string_view, size_t> distances;
  for (const GlossaryEntry& entry : Glossary()) {
    const bool is_part = name.size() >= 3 && absl::StrContains(std::string(entry.name), name);
    const size_t distance = is_part ? 1 : EditDistance(name, entry.name);
    if (distance <= most) distances[entry.name] = distance;
  }
  std::vector<std::pair<size_t, std::string>> near;
  near.reserve(distances.size());
  for (const auto& [entry, distance] : distances) near.emplace_back(distance, entry);
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [distance, entry] : near) {
    if (names.size() < 5) names.push_back(entry);
  }
  return names;
}

}  // namespace epsledger::cli
