#ifndef EPSLEDGER_CLIENT_ALERTS_SETTINGS_H_
#define EPSLEDGER_CLIENT_ALERTS_SETTINGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/alerts/delivery/backoff.h"
#include "client/alerts/delivery/destination.h"
#include "client/alerts/rules/rule.h"
#include "epsledger/client.h"

namespace epsledger::alerts {

// What the configuration file says. The README describes the file.
struct Settings {
  ClientOptions server;
  std::string dashboard;  // where links lead: "https://ledger.example.org"; empty: no links
  std::string state_file;
  std::vector<std::string> watch;  // "budgets/{budget}"; empty: every root budget
  absl::Duration poll_interval = absl::Seconds(30);
  absl::Duration reading_interval = absl::Seconds(1);
  size_t queue_limit = 1000;
  RetryPolicy retry;
  std::vector<Destination> destinations;
  std::vector<Rule> rules;
};

// Reads a configuration: strict JSON in which every key is known. Reads the files that it names.
// INVALID_ARGUMENT names the field, what it got and what it wants; an error never repeats a secret.
absl::StatusOr<Settings> ParseSettings(const std::string& text);
// The same for a file. NOT_FOUND if it cannot be read.
absl::StatusOr<Settings> ReadSettings(const std::string& path);

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_SETTINGS_H_
