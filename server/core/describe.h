#ifndef EPSLEDGER_SERVER_CORE_DESCRIBE_H_
#define EPSLEDGER_SERVER_CORE_DESCRIBE_H_

#include <cstddef>
#include <string>

#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::core {

// An entry for people, one line: "adult/run-1 attempt 2 charged 100 x gaussian(...) as
// \"block-1\"". `ledger` names the sessions and events of the entry: a ledger that has applied it.
// What it does not know is shown by its number. Text of clients is in quotes, control characters
// escaped.
std::string Describe(const EntryBody& body, const Ledger& ledger);

// An event for people in at most `max_bytes`; of one whose canonical encoding has more than 2,000
// bytes, its kind and size.
std::string Describe(const accounting::MechanismEvent& event, size_t encoded_bytes,
                     size_t max_bytes);

// "ACTIVE", "FROZEN", "CLOSED", "SUPERSEDED".
const char* Name(BudgetPhase phase);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_DESCRIBE_H_
