#ifndef EPSLEDGER_CLIENT_CLI_NEAR_WORDS_H_
#define EPSLEDGER_CLIENT_CLI_NEAR_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace epsledger::cli {

// Returns the candidates that `typed` most probably stands for: those at the least distance, if
// that is small; each once, in alphabetical order, at most five. The distance is the number of
// letters to insert, delete, replace, or swap with their neighbor. A candidate that contains
// `typed`, of three letters or more, is at distance 1. Small is 1 for up to three letters,
// otherwise 2 or a third of the letters. Case does not matter.
std::vector<std::string> NearWords(std::string_view typed,
                                   const std::vector<std::string>& candidates);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_NEAR_WORDS_H_
