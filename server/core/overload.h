#ifndef EPSLEDGER_SERVER_CORE_OVERLOAD_H_
#define EPSLEDGER_SERVER_CORE_OVERLOAD_H_

#include <string_view>

#include "absl/status/status.h"

namespace epsledger::core {

// UNAVAILABLE because there is more to do than the server takes. Nothing was done: the same call
// may be repeated later. Told apart from other UNAVAILABLE by IsOverload, for clients and for
// operators.
absl::Status Overload(std::string_view message);

bool IsOverload(const absl::Status& status);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_OVERLOAD_H_
