#ifndef EPSLEDGER_PROTO_BRIDGE_HISTORY_CONVERT_H_
#define EPSLEDGER_PROTO_BRIDGE_HISTORY_CONVERT_H_

// The part that all requests of AccountingService share: the events and the neighboring relation.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "accounting/question.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger::bridge {

// A bound on one request, so that none can exhaust the server. Stated in accounting_service.proto.
inline constexpr int64_t kMaxComputeEvents = 10'000;

// The fields of the same names in a request; an absent number is unset.
struct HistoryFields {
  const google::protobuf::RepeatedPtrField<v1::CountedEvent>& events;
  v1::NeighboringRelation::Kind neighboring_relation;
  v1::Adjacency::Kind adjacency;
  v1::SensitivityRelation::Kind sensitivity_relation;
  std::optional<double> relative_width;
  std::optional<int64_t> group_size;
  std::optional<double> advanced_delta_slack;
};

// `Request` is any message with these fields.
template <class Request>
HistoryFields HistoryOf(const Request& request) {
  HistoryFields fields{.events = request.events(),
                       .neighboring_relation = request.neighboring_relation(),
                       .adjacency = request.adjacency(),
                       .sensitivity_relation = request.sensitivity_relation()};
  if (request.has_relative_width()) fields.relative_width = request.relative_width();
  if (request.has_group_size()) fields.group_size = request.group_size();
  if (request.has_advanced_delta_slack()) {
    fields.advanced_delta_slack = request.advanced_delta_slack();
  }
  return fields;
}

// Sets these fields of `question`; an unset field keeps the question's default. INVALID_ARGUMENT
// names the field in proto3 JSON form. Does not check numbers outside the events:
// accounting::Answer does.
absl::Status ReadHistory(const HistoryFields& fields, accounting::Question* question);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_HISTORY_CONVERT_H_
