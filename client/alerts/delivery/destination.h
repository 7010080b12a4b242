#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_DESTINATION_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_DESTINATION_H_

#include <string>
#include <variant>
#include <vector>

namespace epsledger::alerts {

// An HTTP server that takes each alert as a signed POST.
struct Webhook {
  std::string url;      // https; or http, to a loopback address unless allow_plaintext
  std::string secret;   // the key of the signature
  std::string ca_file;  // PEM; empty: the system's authorities
};

// A mail server that takes each alert as one message.
struct Mail {
  std::string url;              // "smtps://host:465", or "smtp://host:587" with STARTTLS
  std::string from;             // "alerts@example.org"
  std::vector<std::string> to;  // at least one
  std::string user;             // empty: no login
  std::string password;
  std::string ca_file;
  bool with_tls = true;  // only to a loopback address, or with allow_plaintext: false
};

struct Destination {
  std::string name;  // unique
  std::variant<Webhook, Mail> to;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_DESTINATION_H_
