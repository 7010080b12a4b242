#ifndef EPSLEDGER_CLIENT_CLI_PRINT_SENTENCE_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_SENTENCE_H_

#include <iosfwd>
#include <string_view>

namespace epsledger::cli {

// Writes "epsctl: ", the text and the end of the line. What epsctl tells quotes arguments, names of
// files and contexts, and answers of servers: each control character in them, which a terminal
// would obey, is written as '?' (bridge::Printable). The text is one line.
void PrintSentence(std::ostream& err, std::string_view text);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_SENTENCE_H_
