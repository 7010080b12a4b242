#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_SIGNATURE_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace epsledger::alerts {

// Returns "t=UNIX,v1=HEX", where HEX is HMAC-SHA256 (RFC 2104) with key `secret` over the decimal
// UNIX, a dot and the body. The time is a part of what is signed, so that a receiver can refuse an
// old message that is sent again. Receivers verify this: it never changes.
std::string Signature(std::string_view secret, int64_t unix_seconds, std::string_view body);

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_SIGNATURE_H_
