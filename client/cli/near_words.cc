#include "client/cli/near_words.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/strings/ascii.h"

namespace epsledger::cli {
namespace {

constexpr size_t kMostWords = 5;

// Returns the fewest insertions, deletions, replacements and swaps of neighbors that turn one into
// the other, no letter being changed twice (optimal string alignment).
size_t EditDistance(std::string_view one, std::string_view other) {
  // The distances between the first i letters of one and the first j letters of the other.
  std::vector<std::vector<size_t>> distance(one.size() + 1, std::vector<size_t>(other.size() + 1));
  for (size_t i = 0; i <= one.size(); ++i) {
    for (size_t j = 0; j <= other.size(); ++j) {
      size_t& least = distance[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      least = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                        distance[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        least = std::min(least, distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[one.size()][other.size()];
}

}  // namespace

std::vector<std::string> NearWords(std::string_view typed,
                                   const std::vector<std::string>& candidates) {
  const std::string word = absl::AsciiStrToLower(std::string(typed));
  size_t least = word.size() <= 3 ? 1 : std::max<size_t>(2, word.size() / 3);
  std::set<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const std::string lower = absl::AsciiStrToLower(candidate);
    const bool is_part = word.size() >= 3 && lower.find(word) != lower.npos;
    const size_t distance = is_part ? 1 : EditDistance(word, lower);
    if (distance > least) continue;
    if (distance < least) nearest.clear();
    least = distance;
    nearest.insert(candidate);
  }
  std::vector<std::string> words(nearest.begin(), nearest.end());
  if (words.size() > kMostWords) words.resize(kMostWords);
  return words;
}

}  // namespace epsledger::cli
