#ifndef EPSLEDGER_CLIENT_CLI_NEAR_WORDS_H_
#define EPSLEDGER_CLIENT_CLI_NEAR_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace epsledger::cli {

// Returns the candidates that `typed` may stand for, the nearest first, each once; at most five.
// A candidate is near if `typed` has three letters or more and is a part of it, or if few
// insertions, deletions and replacements turn one into the other: one for up to three letters,
// otherwise two or a third of the letters.
std::vector<std::string> NearWords(std::string_view typed,
                                   const std::vector<std::string>& candidates);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_NEAR_WORDS_H_
