#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_HISTORY_KEY_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_HISTORY_KEY_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/question.h"

namespace epsledger::transport {

// Two questions with equal keys have equal answers: the key of a question holds all that its answer
// depends on, numbers by their bits. The caches of readings find an answer by it.
//
// Returns the beginning of a key: the relation and the numbers that the question asks about.
std::string BeginHistoryKey(accounting::NeighboringRelation relation,
                            std::initializer_list<double> asked);

// Adds `count` uses of an event. `event` is its encoding by core::EncodeEvent.
void AddToHistoryKey(std::string_view event, int64_t count, std::string* key);

// Returns the key of a whole history.
std::string HistoryKey(accounting::NeighboringRelation relation,
                       const std::vector<accounting::CountedEvent>& history,
                       std::initializer_list<double> asked);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_HISTORY_KEY_H_
