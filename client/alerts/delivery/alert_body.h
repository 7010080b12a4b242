#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_ALERT_BODY_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_ALERT_BODY_H_

#include <string>

#include "client/alerts/delivery/destination.h"
#include "client/alerts/rules/alert.h"

namespace epsledger::alerts {

// Returns the URL of the alert's page; empty without a dashboard.
std::string LinkOf(const Alert& alert, const std::string& dashboard);

// Returns what a webhook receives: one JSON object. The README has its members; receivers read
// them, so they never change.
std::string WebhookBody(const Alert& alert, const std::string& dashboard);

// Returns a whole message (RFC 5322) with lines that end in CRLF. Nothing in an alert can add a
// header or a recipient: control characters become spaces, and everything but the addresses of the
// configuration is encoded (RFC 2047, base64).
std::string MailMessage(const Alert& alert, const Mail& mail, const std::string& dashboard);

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_ALERT_BODY_H_
