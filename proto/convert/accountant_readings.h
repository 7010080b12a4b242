#ifndef EPSLEDGER_PROTO_CONVERT_ACCOUNTANT_READINGS_H_
#define EPSLEDGER_PROTO_CONVERT_ACCOUNTANT_READINGS_H_

#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "epsledger/v1/session_service.pb.h"

namespace epsledger::convert {

// Epsilon at `delta` of one history under every accountant: BASIC, ADVANCED, OPTIMAL, RENYI,
// MOMENTS, ZCDP, GAUSSIAN, CLT, PLD, TRADE_OFF, then BEST. Each reading holds a guarantee or the
// reason why there is none; an empty history reads 0.
// The two views of the moments accountant of one paper (MOMENTS_HOLDER, MOMENTS_AS_PUBLISHED) are
// left to who asks for them by name.
// Cost: the sum of the accountants', milliseconds for a few distinct events: not on a thread that
// others wait for.
// REQUIRES: events are valid, delta in (0, 1).
std::vector<v1::AccountantReading> ReadEveryAccountant(
    const std::vector<accounting::CountedEvent>& events, accounting::NeighboringRelation relation,
    double delta);

}  // namespace epsledger::convert

#endif  // EPSLEDGER_PROTO_CONVERT_ACCOUNTANT_READINGS_H_
