#ifndef EPSLEDGER_PROTO_BRIDGE_PRINTABLE_H_
#define EPSLEDGER_PROTO_BRIDGE_PRINTABLE_H_

#include <string>
#include <string_view>

#include "accounting/event/printable.h"

namespace epsledger::bridge {

// accounting::Printable for the texts of messages: replaces each control character by '?'.
inline std::string Printable(std::string_view text) { return accounting::Printable(text); }

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_PRINTABLE_H_
