#include "proto/bridge/history_convert.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/mechanism_convert.h"

namespace epsledger::bridge {

absl::Status ReadHistory(const HistoryFields& fields, accounting::Question* question) {
  if (fields.neighboring_relation != v1::NeighboringRelation::KIND_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const accounting::NeighboringRelation relation,
                     FromProto(fields.neighboring_relation, "neighboringRelation"));
    question->relation = relation;
  }
  if (fields.adjacency != v1::Adjacency::KIND_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const accounting::Adjacency adjacency,
                     FromProto(fields.adjacency, "adjacency"));
    question->adjacency = adjacency;
  }
  if (fields.sensitivity_relation != v1::SensitivityRelation::KIND_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const accounting::SensitivityRelation relation,
                     FromProto(fields.sensitivity_relation, "sensitivityRelation"));
    question->sensitivity_relation = relation;
  }
  if (fields.events.size() > kMaxComputeEvents) {
    return accounting::OutOfDomain("events", absl::StrCat(fields.events.size(), " events"),
                                   absl::StrCat("at most ", kMaxComputeEvents));
  }
  ASSIGN_OR_RETURN(std::vector<accounting::CountedEvent> events,
                   FromProto(fields.events, "events"));
  question->events = std::move(events);
  if (fields.relative_width.has_value()) question->relative_width = *fields.relative_width;
  if (fields.group_size.has_value()) question->group_size = *fields.group_size;
  question->advanced_delta_slack = fields.advanced_delta_slack;
  return absl::OkStatus();
}

}  // namespace epsledger::bridge
