#ifndef EPSLEDGER_SERVER_CORE_UNAVAILABLE_H_
#define EPSLEDGER_SERVER_CORE_UNAVAILABLE_H_

#include <string_view>

#include "absl/status/status.h"

namespace epsledger::core {

// Two kinds of UNAVAILABLE that clients and operators can distinguish from others. Nothing was
// done: the same call may be repeated later.

// The server has more work than it accepts.
absl::Status Overload(std::string_view message);
bool IsOverload(const absl::Status& status);

// The ledger can be read, but takes no commands now.
absl::Status ReadOnly(std::string_view message);
bool IsReadOnly(const absl::Status& status);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_UNAVAILABLE_H_
