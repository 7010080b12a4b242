#ifndef EPSLEDGER_CLIENT_CPP_ADDRESS_H_
#define EPSLEDGER_CLIENT_CPP_ADDRESS_H_

#include <string_view>

namespace epsledger {

// Returns true if nobody between here and the server can read or change what is sent without TLS.
// That is a unix socket ("unix:path", "unix-abstract:name"), or a literal loopback address or
// "localhost" with an optional port ("127.0.0.1:50551", "[::1]:50551"). Returns false for every
// form that is not known to be local, other URI schemes included.
bool IsLocalAddress(std::string_view address);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_ADDRESS_H_
