#ifndef EPSLEDGER_SERVER_ACCESS_SECRET_H_
#define EPSLEDGER_SERVER_ACCESS_SECRET_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace epsledger::access {

// "epsl_" and 43 characters: 256 bits of OpenSSL's RAND_bytes in base64url. UNAVAILABLE if the
// system gives no randomness.
absl::StatusOr<std::string> MakeSecret();

// A new token's id: 16 hexadecimal digits, random, so that it tells nothing of other tenants.
absl::StatusOr<std::string> MakeTokenId();

// True if `text` could be a secret of ours.
bool IsSecret(std::string_view text);

// SHA-256, 32 bytes: all that is kept. A plain hash is enough for 256 random bits: nobody can try
// them all, and finding a token by its hash takes no time that depends on a secret's bytes.
std::string HashOfSecret(std::string_view secret);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_SECRET_H_
