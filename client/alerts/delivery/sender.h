#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_SENDER_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_SENDER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/alerts/delivery/destination.h"
#include "client/alerts/rules/alert.h"

namespace epsledger::alerts {

// The outcome of one try.
struct SendOutcome {
  // OK: the receiver has taken the alert. UNAVAILABLE: try again. FAILED_PRECONDITION: the
  // receiver refuses this very alert (HTTP 400, 413, 422), and another try would not help.
  absl::Status status;
  absl::Duration asked_wait;  // how long the receiver asks to wait (Retry-After)
};

// Sends the alert once, over libcurl, within 30 seconds. Verifies the certificate and the name of
// a TLS server. Follows no redirection: the secret signs for the named receiver alone. Ends early
// once `is_stopping` returns true. Thread-safe.
SendOutcome Send(const Alert& alert, const Destination& destination, const std::string& dashboard,
                 const std::function<bool()>& is_stopping);

// Once, before any other thread and any Send.
void PrepareSending();

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_SENDER_H_
