#ifndef EPSLEDGER_SERVER_CORE_DESCRIBE_H_
#define EPSLEDGER_SERVER_CORE_DESCRIBE_H_

#include <cstddef>
#include <string>

#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::core {

// Returns an entry as one line for people: "adult/run-1 attempt 2 charged 100 x gaussian(...) as
// \"block-1\"". `ledger` has applied the entry and supplies the names of its sessions and events;
// unknown ones are shown by number. Text from clients is in quotes, with control characters
// escaped.
std::string Describe(const EntryBody& body, const Ledger& ledger);

// Returns an event as text for people in at most `max_bytes`. If its canonical encoding has more
// than 2,000 bytes, the text is its kind and size.
std::string Describe(const accounting::MechanismEvent& event, size_t encoded_bytes,
                     size_t max_bytes);

// "ACTIVE", "FROZEN", "CLOSED", "SUPERSEDED".
const char* Name(BudgetPhase phase);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_DESCRIBE_H_
