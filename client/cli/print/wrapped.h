#ifndef EPSLEDGER_CLIENT_CLI_PRINT_WRAPPED_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_WRAPPED_H_

#include <cstddef>
#include <string>

namespace epsledger::cli {

// Returns the number of characters of UTF-8, each of which is taken to be one wide.
size_t WidthOf(const std::string& text);

// Returns the text in lines of at most `width` characters; words are never broken.
std::string Wrapped(const std::string& text, size_t width);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_WRAPPED_H_
