#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_RECEIVER_URL_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_RECEIVER_URL_H_

#include <string>

#include "absl/status/statusor.h"

namespace epsledger::alerts {

struct ReceiverUrl {
  std::string scheme;     // in lower case
  bool is_local = false;  // a loopback address or "localhost"
};

// Reads the URL of a receiver. INVALID_ARGUMENT, without the URL, if it is none, or if it holds a
// user or a password: those belong into files.
absl::StatusOr<ReceiverUrl> ReadReceiverUrl(const std::string& url);

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_RECEIVER_URL_H_
