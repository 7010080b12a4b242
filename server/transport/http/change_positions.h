#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_POSITIONS_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_POSITIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace epsledger::transport {

// How far a client has seen the changes of each watched resource, by the name of the resource:
// "budgets/adult" or "budgets/adult/sessions/first". The numbers are sequence numbers of the root's
// ledger.
using ChangePositions = std::map<std::string, int64_t>;

// Returns the id of an event, "budgets/adult:12,budgets/survey:7". A client that reconnects sends
// it as "Last-Event-ID".
std::string ToEventId(const ChangePositions& positions);
// Reads an id of ToEventId. INVALID_ARGUMENT if it is not one.
absl::StatusOr<ChangePositions> ReadEventId(std::string_view id);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_POSITIONS_H_
