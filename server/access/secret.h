#ifndef EPSLEDGER_SERVER_ACCESS_SECRET_H_
#define EPSLEDGER_SERVER_ACCESS_SECRET_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace epsledger::access {

// Returns "epsl_" and 43 characters: 256 bits of OpenSSL's RAND_bytes in base64url. UNAVAILABLE if
// the system gives no randomness.
absl::StatusOr<std::string> MakeSecret();

// Returns the id of a new token: 16 random hexadecimal digits, so that it reveals nothing about
// other tenants.
absl::StatusOr<std::string> MakeTokenId();

// Returns true if `text` has the form of a secret of this server.
bool IsSecret(std::string_view text);

// Returns the SHA-256, 32 bytes: the server keeps nothing else. A plain hash is enough for 256
// random bits: nobody can try them all, and the time to find a token by its hash does not depend on
// a secret's bytes.
std::string HashOfSecret(std::string_view secret);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_SECRET_H_
