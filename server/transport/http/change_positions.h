#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_POSITIONS_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_POSITIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace epsledger::transport {

// Up to where a client has seen the changes of each resource that it watches, by its name:
// "budgets/adult" or "budgets/adult/sessions/first". The numbers are those of the root's ledger.
using ChangePositions = std::map<std::string, int64_t>;

// The id of an event, "budgets/adult:12,budgets/survey:7": what a client that reconnects sends as
// "Last-Event-ID".
std::string ToEventId(const ChangePositions& positions);
// INVALID_ARGUMENT if it is not such an id.
absl::StatusOr<ChangePositions> ReadEventId(std::string_view id);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_POSITIONS_H_
