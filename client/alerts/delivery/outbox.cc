#include "client/alerts/delivery/outbox.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::alerts {

Outbox::Outbox(const std::vector<std::string>& destinations, size_t most) : most_(most) {
  for (const std::string& name : destinations) queues_[name];
}

bool Outbox::Add(const std::string& destination, const Alert& alert) {
  Queue& queue = queues_.at(destination);
  if (queue.waiting.size() < most_) {
    queue.waiting.push_back(alert);
    return true;
  }
  if (queue.dropped++ == 0) {
    queue.dropped_since_micros = alert.time_micros;
    queue.first_dropped_id = alert.id;
  }
  return false;
}

std::optional<Alert> Outbox::Remove(const std::string& destination, const std::string& id) {
  Queue& queue = queues_.at(destination);
  const auto place = std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                  [&](const Alert& alert) { return alert.id == id; });
  if (place != queue.waiting.end()) queue.waiting.erase(place);
  if (!queue.waiting.empty() || queue.dropped == 0) return std::nullopt;
  Alert alert{
      .id = AlertId({"dropped", destination, queue.first_dropped_id}),
      .kind = AlertKind::kDropped,
      .time_micros = queue.dropped_since_micros,
      .title = absl::StrCat(queue.dropped, " alerts were not sent"),
      .text = absl::StrCat("Since ", TimeText(queue.dropped_since_micros), ", ", queue.dropped,
                           " alerts were not sent to this destination, "
                           "because ",
                           most_,
                           " others waited. The ledger and the log "
                           "of this program have them.")};
  alert.facts = {{"count", absl::StrCat(queue.dropped)}};
  queue.dropped = 0;
  queue.waiting.push_back(alert);
  return alert;
}

const std::deque<Alert>& Outbox::Waiting(const std::string& destination) const {
  return queues_.at(destination).waiting;
}

nlohmann::ordered_json Outbox::State() const {
  nlohmann::ordered_json state = nlohmann::ordered_json::object();
  for (const auto& [name, queue] : queues_) {
    nlohmann::ordered_json& one = state[name];
    one["dropped"] = queue.dropped;
    one["droppedSinceMicros"] = queue.dropped_since_micros;
    one["firstDroppedId"] = queue.first_dropped_id;
    one["waiting"] = nlohmann::ordered_json::array();
    for (const Alert& alert : queue.waiting) one["waiting"].push_back(ToState(alert));
  }
  return state;
}

absl::Status Outbox::Restore(const nlohmann::ordered_json& state) {
  const absl::Status wrong = absl::InvalidArgumentError("outbox: not what this program wrote");
  if (!state.is_object()) return wrong;
  for (const auto& [name, one] : state.items()) {
    const auto found = queues_.find(name);
    if (found == queues_.end()) continue;
    if (!one.is_object() || !one.contains("waiting") || !one["waiting"].is_array() ||
        !one.contains("dropped") || !one["dropped"].is_number_integer() ||
        !one.contains("droppedSinceMicros") || !one["droppedSinceMicros"].is_number_integer() ||
        !one.contains("firstDroppedId") || !one["firstDroppedId"].is_string()) {
      return wrong;
    }
    Queue& queue = found->second;
    queue.dropped = one["dropped"].get<int64_t>();
    queue.dropped_since_micros = one["droppedSinceMicros"].get<int64_t>();
    queue.first_dropped_id = one["firstDroppedId"].get<std::string>();
    for (const auto& alert : one["waiting"]) {
      ASSIGN_OR_RETURN(Alert restored, AlertFromState(alert));
      queue.waiting.push_back(std::move(restored));
    }
  }
  return absl::OkStatus();
}

}  // namespace epsledger::alerts
