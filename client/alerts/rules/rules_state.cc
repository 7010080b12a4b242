// What the rules remember, as JSON.

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/alerts/rules/alert_rules.h"

namespace epsledger::alerts {
namespace {

using StateJson = nlohmann::ordered_json;

absl::Status WrongState(const char* part) {
  return absl::InvalidArgumentError(absl::StrCat("rules.", part, ": not what this program wrote"));
}

const StateJson* ObjectIn(const StateJson& state, const char* key) {
  const auto found = state.find(key);
  return found != state.end() && found->is_object() ? &*found : nullptr;
}

bool IsInteger(const StateJson& value) { return value.is_number_integer(); }

bool IsRefusals(const StateJson& one) {
  return one.is_object() && one.contains("budget") && one["budget"].is_string() &&
         one.contains("reason") && one["reason"].is_string() && one.contains("lastName") &&
         one["lastName"].is_string() && one.contains("toldMicros") &&
         IsInteger(one["toldMicros"]) && one.contains("counted") && IsInteger(one["counted"]) &&
         one.contains("lastSequence") && IsInteger(one["lastSequence"]);
}

}  // namespace

StateJson AlertRules::State() const {
  StateJson state;
  state["rules"] = StateJson::array();
  for (const Rule& rule : rules_) state["rules"].push_back(rule.name);
  state["positions"] = StateJson::object();
  for (const auto& [tree, sequence] : positions_) state["positions"][tree] = sequence;
  StateJson thresholds = StateJson::object();
  StateJson refusals = StateJson::object();
  StateJson proposals = StateJson::object();
  // Rules that are not in the configuration any more are forgotten.
  for (const Rule& rule : rules_) {
    if (const auto found = alerted_.find(rule.name); found != alerted_.end()) {
      thresholds[rule.name] = found->second;
    }
    if (const auto found = refusals_.find(rule.name); found != refusals_.end()) {
      StateJson list = StateJson::array();
      for (const auto& [key, told] : found->second) {
        list.push_back({{"budget", key.first},
                        {"reason", key.second},
                        {"toldMicros", told.told_micros},
                        {"counted", told.counted},
                        {"lastSequence", told.last_sequence},
                        {"lastName", told.last_name}});
      }
      refusals[rule.name] = std::move(list);
    }
    if (const auto found = told_proposals_.find(rule.name); found != told_proposals_.end()) {
      proposals[rule.name] = found->second;
    }
  }
  state["thresholds"] = std::move(thresholds);
  state["refusals"] = std::move(refusals);
  state["proposals"] = std::move(proposals);
  state["quarantined"] = StateJson::object();
  for (const auto& [root, since] : quarantined_) state["quarantined"][root] = since;
  return state;
}

absl::Status AlertRules::Restore(const StateJson& state) {
  if (!state.is_object()) return WrongState("state");
  const auto rules = state.find("rules");
  if (rules == state.end() || !rules->is_array()) return WrongState("rules");
  for (const StateJson& name : *rules) {
    if (!name.is_string()) return WrongState("rules");
    restored_rules_.insert(name.get<std::string>());
  }
  for (const auto& [key, numbers] :
       {std::pair("positions", &positions_), std::pair("quarantined", &quarantined_)}) {
    const StateJson* const object = ObjectIn(state, key);
    if (object == nullptr) return WrongState(key);
    for (const auto& [name, number] : object->items()) {
      if (!IsInteger(number)) return WrongState(key);
      (*numbers)[name] = number.get<int64_t>();
    }
  }
  const StateJson* const thresholds = ObjectIn(state, "thresholds");
  if (thresholds == nullptr) return WrongState("thresholds");
  for (const auto& [rule, budgets] : thresholds->items()) {
    if (!budgets.is_object()) return WrongState("thresholds");
    for (const auto& [budget, alerted] : budgets.items()) {
      if (!alerted.is_number()) return WrongState("thresholds");
      alerted_[rule][budget] = alerted.get<double>();
    }
  }
  const StateJson* const refusals = ObjectIn(state, "refusals");
  if (refusals == nullptr) return WrongState("refusals");
  for (const auto& [rule, list] : refusals->items()) {
    for (const StateJson& one : list) {
      if (!IsRefusals(one)) return WrongState("refusals");
      refusals_[rule][{one["budget"].get<std::string>(), one["reason"].get<std::string>()}] = {
          .told_micros = one["toldMicros"].get<int64_t>(),
          .counted = one["counted"].get<int64_t>(),
          .last_sequence = one["lastSequence"].get<int64_t>(),
          .last_name = one["lastName"].get<std::string>()};
    }
  }
  const StateJson* const proposals = ObjectIn(state, "proposals");
  if (proposals == nullptr) return WrongState("proposals");
  for (const auto& [rule, trees] : proposals->items()) {
    if (!trees.is_object()) return WrongState("proposals");
    for (const auto& [tree, names] : trees.items()) {
      for (const StateJson& name : names) {
        if (!name.is_string()) return WrongState("proposals");
        told_proposals_[rule][tree].insert(name.get<std::string>());
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace epsledger::alerts
