#include "client/cli/near_words.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"

namespace epsledger::cli {
namespace {

constexpr size_t kMostWords = 5;

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

std::vector<std::string> NearWords(std::string_view typed,
                                   const std::vector<std::string>& candidates) {
  const std::string word = absl::AsciiStrToLower(std::string(typed));
  const size_t most = word.size() <= 3 ? 1 : std::max<size_t>(2, word.size() / 3);
  std::map<std::string, size_t> distances;
  for (const std::string& candidate : candidates) {
    const std::string lower = absl::AsciiStrToLower(candidate);
    const bool is_part = word.size() >= 3 && lower.find(word) != lower.npos;
    const size_t distance = is_part ? 1 : EditDistance(word, lower);
    if (distance <= most) distances[candidate] = distance;
  }
  std::vector<std::pair<size_t, std::string>> near;
  near.reserve(distances.size());
  for (const auto& [candidate, distance] : distances) near.emplace_back(distance, candidate);
  std::sort(near.begin(), near.end());
  std::vector<std::string> words;
  for (const auto& [distance, candidate] : near) {
    if (words.size() < kMostWords) words.push_back(candidate);
  }
  return words;
}

}  // namespace epsledger::cli
