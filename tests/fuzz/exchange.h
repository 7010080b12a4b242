#ifndef EPSLEDGER_TESTS_FUZZ_EXCHANGE_H_
#define EPSLEDGER_TESTS_FUZZ_EXCHANGE_H_

#include <string>
#include <string_view>

namespace epsledger::fuzz {

// Connects to "127.0.0.1:port", sends the bytes, signals that no more follow, and returns what the
// server sends until it closes the connection. Ends the process if that takes more than a minute.
std::string Exchange(const std::string& address, std::string_view bytes);

}  // namespace epsledger::fuzz

#endif  // EPSLEDGER_TESTS_FUZZ_EXCHANGE_H_
