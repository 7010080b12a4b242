#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_OUTBOX_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/alerts/rules/alert.h"
#include "nlohmann/json.hpp"

namespace epsledger::alerts {

// The alerts that destinations have not taken yet, in order. Bounded: while a destination has
// `most` of them, further ones are counted, and told in one alert once all others were taken. A
// value, kept in the state file; no clock, no thread.
class Outbox {
 public:
  // REQUIRES: most >= 1.
  Outbox(const std::vector<std::string>& destinations, size_t most);

  // Adds an alert. Returns false if it was only counted. REQUIRES: a destination of this outbox.
  bool Add(const std::string& destination, const Alert& alert);
  // Removes an alert that was taken or given up. Returns the alert that now tells of those that
  // were counted, which this has added; nullopt if there is none.
  std::optional<Alert> Remove(const std::string& destination, const std::string& id);
  // In order of their events. REQUIRES: a destination of this outbox.
  const std::deque<Alert>& Waiting(const std::string& destination) const;

  nlohmann::ordered_json State() const;
  // What waited for a destination that is no longer there is forgotten. INVALID_ARGUMENT for what
  // State did not write.
  absl::Status Restore(const nlohmann::ordered_json& state);

 private:
  struct Queue {
    std::deque<Alert> waiting;
    int64_t dropped = 0;
    int64_t dropped_since_micros = 0;
    std::string first_dropped_id;
  };

  const size_t most_;
  std::map<std::string, Queue> queues_;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_OUTBOX_H_
